/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-flow-table.h"

#include "ns3/assert.h"

#include <limits>

namespace ns3
{

namespace
{

/// The number that the AQM's hash maps to x: the finaliser of splitmix64 (Steele, Lea and Flood
/// 2014), whose multipliers are odd and whose shifts are repeated until nothing is left.
uint64_t
Unmixed(uint64_t x)
{
    x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3;
    x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089;
    return x ^ (x >> 30) ^ (x >> 60);
}

} // namespace

SojournFlowTable::SojournFlowTable(uint32_t queues, uint32_t ways)
    : m_queues(queues),
      m_ways(ways),
      m_owners(ways > 0 ? queues : 0)
{
    NS_ASSERT(queues > 0);
    NS_ASSERT(ways == 0 || queues % ways == 0);
}

uint32_t
SojournFlowTable::QueueOf(uint32_t hash, const std::function<bool(uint32_t)>& isInactive)
{
    const uint32_t own = hash % m_queues;
    if (m_ways == 0)
    {
        return own;
    }
    // As in FqCoDelQueueDisc::SetAssociativeHash, a flow changes queue if one ahead of its queue in
    // the set has become free.
    const uint32_t first = own - own % m_ways;
    uint32_t chosen = first;
    for (uint32_t queue = first; queue < first + m_ways; queue++)
    {
        const Owner& owner = m_owners[queue];
        if ((owner.isThere && owner.hash == hash) || isInactive(queue))
        {
            chosen = queue;
            break;
        }
    }
    m_owners[chosen] = {hash, true};
    return chosen;
}

uint64_t
SojournFlowTable::FlowOf(uint32_t queue) const
{
    // The AQM multiplies its hash by the number of queues and takes the upper 64 bits. A hash in
    // the range of that queue: its number times 2^64 / queues, rounded up.
    const uint64_t stretch = std::numeric_limits<uint64_t>::max() / m_queues + 1;
    return Unmixed(queue * stretch) ^ SALT;
}

} // namespace ns3
