/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "loss.h"

#include "clock.h"

#include <sstream>

using namespace ns3;

namespace sojourn
{

NS_OBJECT_ENSURE_REGISTERED(WireLoss);

TypeId
WireLoss::GetTypeId()
{
    static TypeId tid =
        TypeId("sojourn::WireLoss").SetParent<ErrorModel>().AddConstructor<WireLoss>();
    return tid;
}

void
WireLoss::Set(const LossWanted& wanted, uint64_t warmupNs)
{
    m_wanted = wanted;
    m_warmupNs = warmupNs;
}

void
WireLoss::Enters(Ptr<const Packet>)
{
    m_seen++;
}

bool
WireLoss::DoCorrupt(Ptr<Packet>)
{
    if (m_uniform->GetValue() < (m_isBad ? m_wanted.leave : m_wanted.enter))
    {
        m_isBad = !m_isBad;
    }
    const bool isLost = m_uniform->GetValue() < (m_isBad ? m_wanted.bad : m_wanted.good);
    const bool isCounted = NowNs() >= m_warmupNs;
    m_offered += isCounted ? 1 : 0;
    m_lost += isCounted && isLost ? 1 : 0;
    return isLost;
}

void
WireLoss::DoReset()
{
    m_isBad = false;
}

std::string
WireLoss::Describe() const
{
    std::ostringstream out;
    out << "{\"seen\":" << m_seen << ",\"offered\":" << m_offered << ",\"lost\":" << m_lost << "}";
    return out.str();
}

} // namespace sojourn
