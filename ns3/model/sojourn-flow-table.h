/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_FLOW_TABLE_H
#define SOJOURN_FLOW_TABLE_H

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * The flow queue of a flow, chosen as in ns-3's discs of flow queues: the hash of the flow modulo
 * the number of queues, or, set-associative, a queue of the set into which the hash falls (ns-3
 * 3.44 FqCoDelQueueDisc: attributes Flows, EnableSetAssociativeHash, SetWays).
 */
class SojournFlowTable
{
  public:
    /// The salt under which the AQM must hash flows for FlowOf.
    static constexpr uint64_t SALT = 1;

    /**
     * @param queues number of flow queues, at least 1
     * @param ways queues of a set, of which queues is a multiple; 0: one queue for a hash
     */
    SojournFlowTable(uint32_t queues, uint32_t ways);

    /**
     * @param hash of the flow
     * @param isInactive whether the flow queue of a number is not being served
     * @return the number of its flow queue
     */
    uint32_t QueueOf(uint32_t hash, const std::function<bool(uint32_t)>& isInactive);

    /**
     * @param queue the number of a flow queue
     * @return a flow that the AQM hashes to that queue
     */
    uint64_t FlowOf(uint32_t queue) const;

  private:
    /// The last user of a queue of a set.
    struct Owner
    {
        uint32_t hash{0};    //!< the hash of its flow
        bool isThere{false}; //!< whether there was one
    };

    uint32_t m_queues;            //!< number of flow queues
    uint32_t m_ways;              //!< queues of a set; 0: sets are not used
    std::vector<Owner> m_owners;  //!< of the queues
};

} // namespace ns3

#endif // SOJOURN_FLOW_TABLE_H
