/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * The golden traces of disciplines (testdata/golden in the tree of Sojourn, where each names its
 * source) through queue discs of ns-3: offered packets, expected departures, and expected drops.
 * Traces of laws call hooks that a queue disc does not have; crates/capi/tests/golden.rs has them.
 */

#include "sojourn-test-driver.h"
#include "sojourn-test-fact.h"

#include <numeric>

using namespace ns3;

namespace
{

using Numbers = std::vector<uint32_t>;

/// @return the numbers from one to another
Numbers
From(uint32_t first, uint32_t last)
{
    Numbers numbers(last - first + 1);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/// Offers packets, numbered from 1, to a disc and takes them, according to a golden trace.
class Trace
{
  public:
    Trace(SojournFact& fact, const std::string& aqm)
        : m_fact(fact),
          m_disc(MakeSojournDisc({{"Aqm", aqm}, {"Mtu", "1514"}, {"Rate", "10Mbps"}}))
    {
        using WithReason = Callback<void, Ptr<const QueueDiscItem>, const char*>;
        const auto drop = [this](Ptr<const QueueDiscItem> item, const char*) {
            m_dropped.push_back(SojournTestItem::Number(item));
        };
        m_disc->TraceConnectWithoutContext("DropBeforeEnqueue", WithReason(drop));
        m_disc->TraceConnectWithoutContext("DropAfterDequeue", WithReason(drop));
        m_disc->Initialize();
    }

    /// Offers packets of flows in turn. @param dropped those that must be dropped meanwhile
    void Offer(uint32_t count, const Numbers& flows, uint32_t bytes, const Numbers& dropped = {})
    {
        m_dropped.clear();
        for (uint32_t i = 0; i < count; i++)
        {
            const uint32_t flow = flows[i % flows.size()];
            m_disc->Enqueue(Create<SojournTestItem>(++m_offered, flow, bytes, 0));
        }
        m_fact.Equal(m_dropped == dropped, true, Listed("dropped", m_dropped));
    }

    /// Takes packets. @param left those that must leave @param waited the sojourn time of each
    void Take(const Numbers& left, Time waited = Time::Min())
    {
        m_dropped.clear();
        Numbers found;
        for (std::size_t i = 0; i < left.size(); i++)
        {
            Ptr<QueueDiscItem> item = m_disc->Dequeue();
            found.push_back(item ? SojournTestItem::Number(item) : 0);
            if (item && waited != Time::Min())
            {
                m_fact.Equal(Simulator::Now() - item->GetTimeStamp(), waited, "waited");
            }
        }
        m_fact.Equal(found == left, true, Listed("left", found));
        m_fact.Equal(m_dropped.size(), std::size_t{0}, "nothing is dropped");
    }

    /// Lets time pass.
    void Until(Time time)
    {
        Simulator::Stop(time - Simulator::Now());
        Simulator::Run();
    }

  private:
    static std::string Listed(const std::string& what, const Numbers& numbers)
    {
        std::string text = what;
        for (uint32_t number : numbers)
        {
            text += " " + std::to_string(number);
        }
        return text;
    }

    SojournFact& m_fact;          //!< what is shown
    Ptr<SojournQueueDisc> m_disc; //!< the disc
    uint32_t m_offered{0};        //!< packets so far
    Numbers m_dropped;            //!< of the present step
};

void
TaildropLimitInPackets(SojournFact& fact)
{
    Trace trace(fact, "taildrop:limit=100p");
    trace.Offer(150, {0}, 1514, From(101, 150));
}

void
TaildropLimitInBytes(SojournFact& fact)
{
    Trace trace(fact, "taildrop:limit=3000B");
    trace.Offer(2, {0}, 1500);
    trace.Offer(1, {0}, 1, {3});
    trace.Until(MilliSeconds(1));
    trace.Take({1}, MilliSeconds(1));
    trace.Offer(1, {0}, 1500);
}

void
FqCoDelFirstRound(SojournFact& fact)
{
    Trace trace(fact, "fq_codel");
    trace.Offer(8, {1, 2}, 1514);
    trace.Until(MilliSeconds(1));
    trace.Take(From(1, 8));
    trace.Until(MilliSeconds(2));
    trace.Offer(6, {1}, 500);
    trace.Offer(2, {2}, 500);
    trace.Until(MilliSeconds(3));
    trace.Take({9, 10, 11, 12, 15, 16, 13, 14});
}

void
FqCoDelOverload100(SojournFact& fact)
{
    Trace trace(fact, "fq_codel:limit=99p");
    trace.Offer(100, {0}, 1500, From(1, 50));
    trace.Until(MilliSeconds(1));
    trace.Take({51}, MilliSeconds(1));
}

void
FqCoDelOverload200(SojournFact& fact)
{
    Trace trace(fact, "fq_codel:limit=199p");
    trace.Offer(200, {0}, 1500, From(1, 64));
    trace.Until(MilliSeconds(1));
    trace.Take({65}, MilliSeconds(1));
}

/// The suite.
SojournFacts g_sojournGoldenTestSuite(
    "sojourn-golden",
    {
        {"taildrop_limit_in_packets", TaildropLimitInPackets},
        {"taildrop_limit_in_bytes", TaildropLimitInBytes},
        {"fq_codel_first_round", FqCoDelFirstRound},
        {"fq_codel_overload_100", FqCoDelOverload100},
        {"fq_codel_overload_200", FqCoDelOverload200},
    });

} // namespace
