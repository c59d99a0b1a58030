/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-internal-queue.h"

#include "ns3/abort.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SojournInternalQueue);

TypeId
SojournInternalQueue::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SojournInternalQueue")
                            .SetParent<Queue<QueueDiscItem>>()
                            .SetGroupName("TrafficControl")
                            .AddConstructor<SojournInternalQueue>();
    return tid;
}

SojournInternalQueue::SojournInternalQueue()
{
    SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::numeric_limits<uint32_t>::max()));
}

SojournInternalQueue::~SojournInternalQueue() = default;

SojournInternalQueue::Place
SojournInternalQueue::Reserve()
{
    if (m_free.empty())
    {
        m_places.emplace_back();
        return m_places.size() - 1;
    }
    const Place place = m_free.back();
    m_free.pop_back();
    return place;
}

void
SojournInternalQueue::Release(Place place)
{
    m_free.push_back(place);
}

void
SojournInternalQueue::Append(Ptr<QueueDiscItem> item, Place place)
{
    const bool stored = DoEnqueue(GetContainer().end(), item, m_places[place]);
    NS_ABORT_MSG_UNLESS(stored, "SojournInternalQueue has no limit of its own; leave its MaxSize");
}

Ptr<QueueDiscItem>
SojournInternalQueue::Look(Place place) const
{
    return *m_places[place];
}

Ptr<QueueDiscItem>
SojournInternalQueue::Take(Place place)
{
    Ptr<QueueDiscItem> item = DoDequeue(m_places[place]);
    Release(place);
    return item;
}

bool
SojournInternalQueue::Enqueue(Ptr<QueueDiscItem> item)
{
    NS_ABORT_MSG("Packets enter a Sojourn queue disc through QueueDisc::Enqueue: " << *item);
    return false;
}

Ptr<QueueDiscItem>
SojournInternalQueue::Dequeue()
{
    NS_ABORT_MSG("Packets leave a Sojourn queue disc through QueueDisc::Dequeue");
    return nullptr;
}

Ptr<QueueDiscItem>
SojournInternalQueue::Remove()
{
    NS_ABORT_MSG("Packets leave a Sojourn queue disc through QueueDisc::Dequeue");
    return nullptr;
}

Ptr<const QueueDiscItem>
SojournInternalQueue::Peek() const
{
    return GetContainer().empty() ? nullptr : DoPeek(GetContainer().begin());
}

} // namespace ns3
