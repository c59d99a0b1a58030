/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_PACKET_H
#define SOJOURN_PACKET_H

#include "ns3/queue-item.h"

struct sojourn_packet;

namespace ns3
{

/**
 * Fills in the ECN field and the code point of a packet. An item without an IP header has no
 * readable field, but may support marking. If the AQM may mark, such an item is tested by marking
 * it, which changes no header.
 *
 * @param item the packet
 * @param mayMark whether the AQM may mark packets
 * @param packet the packet as the AQM sees it
 */
void FillInDsField(Ptr<QueueDiscItem> item, bool mayMark, sojourn_packet& packet);

/**
 * Fills in the hosts of a packet, if its item knows them; else its flow.
 *
 * @param item the packet
 * @param packet the packet as the AQM sees it, with its flow
 */
void FillInHosts(Ptr<QueueDiscItem> item, sojourn_packet& packet);

} // namespace ns3

#endif // SOJOURN_PACKET_H
