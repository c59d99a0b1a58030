/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "mended.h"

#include "holds.h"

#include "ns3/fatal-error.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-socket-base.h"

#include <algorithm>

using namespace ns3;

namespace sojourn
{

namespace
{

/// CUBIC that is told the round trips that were measured: TcpSocketBase of ns-3.44 tells PktsAcked
/// the smoothed one, in which the queue of the round before lives on.
class MeasuringCubic : public Holds<TcpCubic>
{
  public:
    void
    PktsAcked(Ptr<TcpSocketState> state, uint32_t segments, const Time&) override
    {
        TcpCubic::PktsAcked(state, segments, state->m_lastRtt.Get());
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<MeasuringCubic>(this);
    }
};

/// Proportional rate reduction for connections with SACK (RFC 9937 §6.2), whose names it has.
class ProportionalRecovery : public TcpRecoveryOps
{
  public:
    std::string
    GetName() const override
    {
        return "ProportionalRecovery";
    }

    void
    EnterRecovery(Ptr<TcpSocketState> state,
                  uint32_t,
                  uint32_t outstanding,
                  uint32_t delivered) override
    {
        m_prrOut = 0;
        m_prrDelivered = 0;
        m_recoverFs = std::max(outstanding, state->m_segmentSize);
        DoRecovery(state, delivered, true);
    }

    void
    DoRecovery(Ptr<TcpSocketState> state, uint32_t delivered, bool) override
    {
        if (delivered == 0)
        {
            return;
        }
        m_prrDelivered += delivered;
        const int64_t pipe = state->m_bytesInFlight.Get();
        const int64_t threshold = state->m_ssThresh.Get();
        int64_t sndcnt;
        if (pipe > threshold)
        {
            sndcnt = (m_prrDelivered * threshold + m_recoverFs - 1) / m_recoverFs - m_prrOut;
        }
        else
        {
            const int64_t safe = state->m_isRetransDataAcked ? state->m_segmentSize : 0;
            const int64_t limit = std::max<int64_t>(m_prrDelivered - m_prrOut, delivered) + safe;
            sndcnt = std::min(limit, threshold - pipe);
        }
        sndcnt = std::max<int64_t>(sndcnt, m_prrOut > 0 ? 0 : state->m_segmentSize);
        state->m_cWnd = static_cast<uint32_t>(pipe + sndcnt);
        state->m_cWndInfl = state->m_cWnd;
    }

    void
    ExitRecovery(Ptr<TcpSocketState> state) override
    {
        state->m_cWndInfl = state->m_cWnd;
    }

    void
    UpdateBytesSent(uint32_t bytes) override
    {
        m_prrOut += bytes;
    }

    Ptr<TcpRecoveryOps>
    Fork() override
    {
        return CopyObject<ProportionalRecovery>(this);
    }

  private:
    int64_t m_prrOut{0};       //!< sent since the recovery began, bytes
    int64_t m_prrDelivered{0}; //!< delivered since then
    int64_t m_recoverFs{1};    //!< outstanding when it began
};

/// @return a congestion control of that type that holds its threshold
Ptr<TcpCongestionOps>
Holding(const std::string& control)
{
    if (control == "ns3::TcpCubic")
    {
        return CreateObject<MeasuringCubic>();
    }
    if (control == "ns3::TcpLinuxReno")
    {
        return CreateObject<Holds<TcpLinuxReno>>();
    }
    if (control == "ns3::TcpNewReno")
    {
        return CreateObject<Holds<TcpNewReno>>();
    }
    NS_FATAL_ERROR("there is no " << control << " that holds its threshold");
}

/// @return whether a group wants something mended
bool
Wants(const GroupWanted& group, const std::string& name)
{
    return std::find(group.mended.begin(), group.mended.end(), name) != group.mended.end();
}

} // namespace

void
Mend(Ptr<Socket> socket, const GroupWanted& group)
{
    auto tcp = DynamicCast<TcpSocketBase>(socket);
    if (Wants(group, "prr"))
    {
        tcp->SetRecoveryAlgorithm(CreateObject<ProportionalRecovery>());
    }
    if (!Wants(group, "threshold"))
    {
        return;
    }
    auto control = Holding(group.control);
    if (Wants(group, "hystart"))
    {
        const auto rise = NanoSeconds(group.hystartRiseNs);
        control->SetAttribute("HyStartDelayMin", TimeValue(rise));
        control->SetAttribute("HyStartDelayMax", TimeValue(rise));
    }
    tcp->SetCongestionControlAlgorithm(control);
}

} // namespace sojourn
