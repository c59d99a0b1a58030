/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-flow-queue-disc.h"

#include "sojourn_aqm.h"

#include "ns3/fatal-error.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SojournFlowQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(SojournFlow);

TypeId
SojournFlowQueueDisc::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SojournFlowQueueDisc")
                            .SetParent<QueueDisc>()
                            .SetGroupName("TrafficControl")
                            .AddConstructor<SojournFlowQueueDisc>();
    return tid;
}

SojournFlowQueueDisc::SojournFlowQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::MULTIPLE_QUEUES),
      m_packets(CreateObject<SojournInternalQueue>()),
      m_isOffered(false),
      m_place(0),
      m_refusal(nullptr)
{
    AddInternalQueue(m_packets);
}

SojournFlowQueueDisc::~SojournFlowQueueDisc() = default;

void
SojournFlowQueueDisc::DoDispose()
{
    m_packets = nullptr;
    QueueDisc::DoDispose();
}

SojournInternalQueue&
SojournFlowQueueDisc::GetPackets() const
{
    return *m_packets;
}

void
SojournFlowQueueDisc::Accept(Ptr<QueueDiscItem> item, SojournInternalQueue::Place place)
{
    m_isOffered = true;
    m_place = place;
    m_refusal = nullptr;
    Enqueue(item);
}

void
SojournFlowQueueDisc::Refuse(Ptr<QueueDiscItem> item, const char* reason)
{
    m_isOffered = true;
    m_refusal = reason;
    Enqueue(item);
}

void
SojournFlowQueueDisc::Drop(Ptr<QueueDiscItem> item, const char* reason)
{
    DropAfterDequeue(item, reason);
}

bool
SojournFlowQueueDisc::MarkPacket(Ptr<QueueDiscItem> item, const char* reason)
{
    return Mark(item, reason);
}

bool
SojournFlowQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    if (!m_isOffered)
    {
        NS_FATAL_ERROR("Packets enter a flow queue of a Sojourn queue disc through that disc");
    }
    m_isOffered = false;
    if (m_refusal)
    {
        DropBeforeEnqueue(item, m_refusal);
        return false;
    }
    m_packets->Append(item, m_place);
    return true;
}

Ptr<QueueDiscItem>
SojournFlowQueueDisc::DoDequeue()
{
    NS_FATAL_ERROR("Packets leave a flow queue of a Sojourn queue disc through that disc");
    return nullptr;
}

Ptr<const QueueDiscItem>
SojournFlowQueueDisc::DoPeek()
{
    return m_packets->Peek();
}

bool
SojournFlowQueueDisc::CheckConfig()
{
    return true;
}

void
SojournFlowQueueDisc::InitializeParams()
{
}

TypeId
SojournFlow::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SojournFlow")
                            .SetParent<QueueDiscClass>()
                            .SetGroupName("TrafficControl")
                            .AddConstructor<SojournFlow>();
    return tid;
}

SojournFlow::SojournFlow()
    : m_aqm(nullptr),
      m_index(0)
{
}

SojournFlow::~SojournFlow() = default;

void
SojournFlow::SetIndex(uint32_t index)
{
    m_index = index;
}

uint32_t
SojournFlow::GetIndex() const
{
    return m_index;
}

void
SojournFlow::SetAqm(const sojourn_qdisc* aqm)
{
    m_aqm = aqm;
}

SojournFlow::FlowStatus
SojournFlow::GetStatus() const
{
    int64_t deficit = 0;
    switch (m_aqm ? sojourn_flow_turn(m_aqm, m_index, &deficit) : SOJOURN_LIST_INACTIVE)
    {
    case SOJOURN_LIST_NEW:
        return NEW_FLOW;
    case SOJOURN_LIST_OLD:
        return OLD_FLOW;
    default:
        return INACTIVE;
    }
}

int32_t
SojournFlow::GetDeficit() const
{
    int64_t deficit = 0;
    if (m_aqm)
    {
        sojourn_flow_turn(m_aqm, m_index, &deficit);
    }
    return static_cast<int32_t>(deficit);
}

} // namespace ns3
