/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-test-driver.h"

#include "ns3/packet.h"
#include "ns3/simulator.h"

#include <functional>
#include <random>

namespace ns3
{

SojournTestItem::SojournTestItem(uint32_t id, uint32_t flow, uint32_t bytes, uint8_t ecn)
    : QueueDiscItem(Create<Packet>(bytes), Address(), 0x0800),
      m_id(id),
      m_flow(flow),
      m_ecn(ecn)
{
}

void
SojournTestItem::AddHeader()
{
}

bool
SojournTestItem::Mark()
{
    if (m_ecn == 0)
    {
        return false;
    }
    m_ecn = 3;
    return true;
}

uint32_t
SojournTestItem::Hash(uint32_t) const
{
    return m_flow;
}

bool
SojournTestItem::GetUint8Value(Uint8Values field, uint8_t& value) const
{
    if (field != IP_DSFIELD)
    {
        return false;
    }
    value = m_ecn;
    return true;
}

uint32_t
SojournTestItem::Number(Ptr<const QueueItem> item)
{
    return dynamic_cast<const SojournTestItem*>(PeekPointer(item))->m_id;
}

SojournHeaderlessItem::SojournHeaderlessItem(bool isCapable)
    : QueueDiscItem(Create<Packet>(1000), Address(), 0),
      m_isCapable(isCapable)
{
}

void
SojournHeaderlessItem::AddHeader()
{
}

bool
SojournHeaderlessItem::Mark()
{
    return m_isCapable;
}

namespace
{

/// The load, and the disc's response.
class Run
{
  public:
    Run(Ptr<QueueDisc> disc, const SojournLoad& load, std::function<void()> whenFirst)
        : m_disc(disc),
          m_load(load),
          m_whenFirst(whenFirst),
          m_random(load.seed)
    {
    }

    SojournLog Log()
    {
        Listen();
        m_disc->Initialize();
        Simulator::ScheduleNow(&Run::Arrive, this);
        Simulator::Schedule(Packets(1), &Run::Serve, this);
        Simulator::Stop(Seconds(m_load.seconds + 2));
        Simulator::Run();
        m_disc->Dispose();
        Simulator::Destroy();
        return m_log;
    }

  private:
    /// @return the time that `count` packets take at full capacity
    Time Packets(double count) const
    {
        return NanoSeconds(static_cast<int64_t>(count * m_load.bytes * 8e9 / m_load.rate));
    }

    void Note(const std::string& what, Ptr<const QueueDiscItem> item)
    {
        m_log.lines.push_back(std::to_string(Simulator::Now().GetNanoSeconds()) + " " + what + " " +
                              std::to_string(SojournTestItem::Number(item)));
    }

    void Listen();

    void Arrive()
    {
        const double now = Simulator::Now().GetSeconds();
        const bool isPause = m_load.pauses && static_cast<uint32_t>(now) % 4 == 3;
        if (!isPause)
        {
            const uint32_t flow = m_random() % m_load.flows;
            const uint8_t ecn = m_load.ect1Share > 0 ? EctField() : (m_load.isEcn ? 2 : 0);
            m_disc->Enqueue(Create<SojournTestItem>(m_count++, flow, m_load.bytes, ecn));
            if (m_count == 1 && m_whenFirst)
            {
                m_whenFirst();
            }
        }
        if (now < m_load.seconds)
        {
            const double spread = 2.0 * (m_random() / 4294967296.0);
            Simulator::Schedule(Packets(spread / m_load.offered), &Run::Arrive, this);
        }
    }

    /// @return ECT(1) in its share, else ECT(0)
    uint8_t EctField()
    {
        return m_random() < m_load.ect1Share * 4294967296.0 ? 1 : 2;
    }

    void Serve()
    {
        m_disc->Dequeue();
        Simulator::Schedule(Packets(1), &Run::Serve, this);
    }

    Ptr<QueueDisc> m_disc;               //!< the disc
    SojournLoad m_load;                  //!< the arrivals
    std::function<void()> m_whenFirst;   //!< called after the first packet
    std::mt19937 m_random;               //!< of the arrivals, apart from ns-3's
    uint32_t m_count{0};                 //!< packets offered
    SojournLog m_log;                    //!< what happened
};

void
Run::Listen()
{
    m_disc->TraceConnectWithoutContext(
        "Enqueue",
        Callback<void, Ptr<const QueueDiscItem>>([this](Ptr<const QueueDiscItem> item) {
            Note("enqueue", item);
        }));
    m_disc->TraceConnectWithoutContext(
        "Dequeue",
        Callback<void, Ptr<const QueueDiscItem>>([this](Ptr<const QueueDiscItem> item) {
            Note("dequeue", item);
        }));
    const auto drop = [this](Ptr<const QueueDiscItem> item, const char* reason) {
        m_log.drops++;
        Note(std::string("drop (") + reason + ")", item);
    };
    using WithReason = Callback<void, Ptr<const QueueDiscItem>, const char*>;
    m_disc->TraceConnectWithoutContext("DropBeforeEnqueue", WithReason(drop));
    m_disc->TraceConnectWithoutContext("DropAfterDequeue", WithReason(drop));
    m_disc->TraceConnectWithoutContext(
        "Mark",
        WithReason([this](Ptr<const QueueDiscItem> item, const char* reason) {
            m_log.marks++;
            Note(std::string("mark (") + reason + ")", item);
        }));
}

} // namespace

SojournLog
RunSojournLoad(Ptr<QueueDisc> disc, const SojournLoad& load, std::function<void()> whenFirst)
{
    return Run(disc, load, whenFirst).Log();
}

} // namespace ns3
