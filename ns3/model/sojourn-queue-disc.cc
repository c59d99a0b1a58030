/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-queue-disc.h"

#include "ns3/string.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SojournQueueDisc);

TypeId
SojournQueueDisc::GetTypeId()
{
    static TypeId tid =
        AddCommonAttributes(TypeId("ns3::SojournQueueDisc")
                                .SetParent<SojournAqmQueueDisc>()
                                .SetGroupName("TrafficControl")
                                .AddConstructor<SojournQueueDisc>())
            .AddAttribute("Aqm",
                          "The AQM: kind[@dialect][:parameter=value,...], values with units",
                          StringValue("codel"),
                          MakeStringAccessor(&SojournQueueDisc::m_aqm),
                          MakeStringChecker());
    return tid;
}

SojournQueueDisc::SojournQueueDisc() = default;

SojournQueueDisc::~SojournQueueDisc() = default;

std::string
SojournQueueDisc::DescribeAqm() const
{
    return m_aqm;
}

} // namespace ns3
