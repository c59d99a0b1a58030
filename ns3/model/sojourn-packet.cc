/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-packet.h"

#include "sojourn_aqm.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"

namespace ns3
{

namespace
{

/// A number for an IPv6 address: FNV-1a over its bytes.
uint64_t
NumberOf(const Ipv6Address& address)
{
    uint8_t bytes[16];
    address.GetBytes(bytes);
    uint64_t number = 0xcbf29ce484222325;
    for (uint8_t byte : bytes)
    {
        number = (number ^ byte) * 0x100000001b3;
    }
    return number;
}

} // namespace

void
FillInDsField(Ptr<QueueDiscItem> item, bool mayMark, sojourn_packet& packet)
{
    uint8_t field = 0;
    if (item->GetUint8Value(QueueItem::IP_DSFIELD, field))
    {
        packet.dscp = field >> 2;
        packet.ecn = field & 3;
        return;
    }
    packet.ecn = mayMark && item->Mark() ? SOJOURN_ECT_0 : SOJOURN_NOT_ECT;
}

void
FillInHosts(Ptr<QueueDiscItem> item, sojourn_packet& packet)
{
    packet.src_host = packet.flow;
    packet.dst_host = packet.flow;
    if (auto v4 = DynamicCast<Ipv4QueueDiscItem>(item))
    {
        packet.src_host = v4->GetHeader().GetSource().Get();
        packet.dst_host = v4->GetHeader().GetDestination().Get();
    }
    else if (auto v6 = DynamicCast<Ipv6QueueDiscItem>(item))
    {
        packet.src_host = NumberOf(v6->GetHeader().GetSource());
        packet.dst_host = NumberOf(v6->GetHeader().GetDestination());
    }
}

} // namespace ns3
