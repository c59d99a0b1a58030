/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_INTERNAL_QUEUE_H
#define SOJOURN_INTERNAL_QUEUE_H

#include "ns3/queue-item.h"
#include "ns3/queue.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * Packets in the order of their arrival. Unlike a drop-tail queue it returns any packet, by the
 * number of its place, so that a discipline may reorder and evict.
 *
 * It has no limit: the discipline tests its own.
 */
class SojournInternalQueue : public Queue<QueueDiscItem>
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SojournInternalQueue();
    ~SojournInternalQueue() override;

    /// Number of a place.
    using Place = uint32_t;

    /**
     * A place for the packet that arrives next. Packet and place are joined by Append; an unused
     * place is returned by Release.
     * @return the place
     */
    Place Reserve();
    /**
     * Returns a reserved place.
     * @param place the place
     */
    void Release(Place place);
    /**
     * Appends a packet.
     * @param item the packet
     * @param place its place, which was reserved
     */
    void Append(Ptr<QueueDiscItem> item, Place place);
    /**
     * @param place a place in use
     * @return the packet there, which stays
     */
    Ptr<QueueDiscItem> Look(Place place) const;
    /**
     * Dequeues the packet at a place, which is free again.
     * @param place a place in use
     * @return the packet
     */
    Ptr<QueueDiscItem> Take(Place place);

    // Inherited. A discipline does not know the place of packets that these two return, so they
    // must not be used in addition to it.
    bool Enqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> Dequeue() override;
    Ptr<QueueDiscItem> Remove() override;
    Ptr<const QueueDiscItem> Peek() const override;

  private:
    std::vector<Iterator> m_places; //!< where the packets are
    std::vector<Place> m_free;      //!< places without a packet
};

} // namespace ns3

#endif // SOJOURN_INTERNAL_QUEUE_H
