/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_FLOW_QUEUE_DISC_H
#define SOJOURN_FLOW_QUEUE_DISC_H

#include "sojourn-internal-queue.h"

#include "ns3/queue-disc.h"

struct sojourn_qdisc;

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * The packets of one flow queue: like ns-3's flow queues, a child of the queue disc whose AQM
 * decides about them. It makes no decisions; its statistics, reasons and traces are those of its
 * packets, and ns-3 adds them to its parent's.
 */
class SojournFlowQueueDisc : public QueueDisc
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SojournFlowQueueDisc();
    ~SojournFlowQueueDisc() override;

    /// @return the packets
    SojournInternalQueue& GetPackets() const;
    /**
     * Enqueues a packet that the AQM has accepted.
     * @param item the packet
     * @param place its place, which was reserved
     */
    void Accept(Ptr<QueueDiscItem> item, SojournInternalQueue::Place place);
    /**
     * Drops a packet that the AQM has refused.
     * @param item the packet
     * @param reason why
     */
    void Refuse(Ptr<QueueDiscItem> item, const char* reason);
    /**
     * Drops a packet that has been dequeued.
     * @param item the packet
     * @param reason why
     */
    void Drop(Ptr<QueueDiscItem> item, const char* reason);
    /**
     * Marks a packet.
     * @param item the packet
     * @param reason why
     * @return whether it could be marked
     */
    bool MarkPacket(Ptr<QueueDiscItem> item, const char* reason);

  protected:
    void DoDispose() override;

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    Ptr<const QueueDiscItem> DoPeek() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    Ptr<SojournInternalQueue> m_packets;   //!< the packets
    bool m_isOffered;                      //!< whether the parent offers a packet now
    SojournInternalQueue::Place m_place;   //!< of the packet that is offered
    const char* m_refusal;                 //!< why it is refused; null: it is accepted
};

/**
 * @ingroup sojourn
 *
 * A flow queue as a class of its queue disc, made with its first packet.
 */
class SojournFlow : public QueueDiscClass
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SojournFlow();
    ~SojournFlow() override;

    /// The status of a flow queue in the rounds, as in FqCoDelFlow.
    enum FlowStatus
    {
        INACTIVE, //!< it is not served
        NEW_FLOW, //!< among the new ones, which are served first
        OLD_FLOW  //!< among the old ones
    };

    /// @param index the number of the flow queue, to which flows are hashed
    void SetIndex(uint32_t index);
    /// @return the number of the flow queue, to which flows are hashed
    uint32_t GetIndex() const;
    /// @param aqm the disc that owns the flow queue; null when that disc ends
    void SetAqm(const sojourn_qdisc* aqm);
    /// @return its status in the rounds; INACTIVE once its disc is disposed of
    FlowStatus GetStatus() const;
    /// @return bytes that it may still send in this round; 0 once its disc is disposed of
    int32_t GetDeficit() const;

  private:
    const sojourn_qdisc* m_aqm; //!< whose flow queue it is; null: its disc is disposed of
    uint32_t m_index;           //!< the number of the flow queue
};

} // namespace ns3

#endif // SOJOURN_FLOW_QUEUE_DISC_H
