/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Each disc of ns-3 against the AQM of the same dialect here: the same packets at the same times,
 * the same random numbers, and then the same events with the same reasons at the same times.
 */

#include "sojourn-test-driver.h"

#include "ns3/cobalt-queue-disc.h"
#include "ns3/fq-cobalt-queue-disc.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/fq-pie-queue-disc.h"
#include "ns3/object-factory.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/red-queue-disc.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/sojourn-queue-disc.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <functional>
#include <utility>

using namespace ns3;

namespace
{

/// A disc of ns-3, and the text of its counterpart.
struct Pair
{
    std::string name;                                             //!< of the test
    std::string type;                                             //!< of ns-3's disc
    std::vector<std::pair<std::string, std::string>> attributes;  //!< of ns-3's disc
    std::string aqm;                                              //!< the same in Sojourn
    std::string maxSize;                                          //!< limit of both
    SojournLoad load;                                             //!< the arrivals
    bool signals{true};                                           //!< whether something must happen
    std::vector<std::pair<std::string, std::string>> ours{};      //!< attributes of our disc
};

/// The stream of both discs.
constexpr int64_t STREAM = 7;

/// The round of ns-3's flow queues without a device; the Mtu of ours without one.
constexpr uint32_t QUANTUM = 1500;

/// Calls a function with a disc if it is of that type.
template <typename T, typename F>
void
With(Ptr<QueueDisc> disc, F function)
{
    if (Ptr<T> typed = DynamicCast<T>(disc))
    {
        function(typed);
    }
}

/// Assigns the stream to whatever AQM of ns-3 a disc is, and the quantum.
void
Prepare(Ptr<QueueDisc> disc)
{
    const auto stream = [](auto aqm) { aqm->AssignStreams(STREAM); };
    const auto quantum = [](auto flows) { flows->SetQuantum(QUANTUM); };
    With<PieQueueDisc>(disc, stream);
    With<RedQueueDisc>(disc, stream);
    With<CobaltQueueDisc>(disc, stream);
    With<FqCoDelQueueDisc>(disc, quantum);
    With<FqCobaltQueueDisc>(disc, quantum);
    With<FqPieQueueDisc>(disc, quantum);
}

/// A disc of ns-3 and its counterpart do the same.
class EqualityTestCase : public TestCase
{
  public:
    explicit EqualityTestCase(Pair pair)
        : TestCase(pair.name + ": " + pair.aqm),
          m_pair(std::move(pair))
    {
    }

  private:
    void DoRun() override
    {
        const SojournLog theirs = Theirs();
        const SojournLog ours = Ours();
        const std::size_t least = std::min(theirs.lines.size(), ours.lines.size());
        std::size_t first = 0;
        while (first < least && theirs.lines[first] == ours.lines[first])
        {
            first++;
        }
        if (first < least)
        {
            NS_TEST_EXPECT_MSG_EQ(ours.lines[first], theirs.lines[first], "event " << first);
        }
        NS_TEST_EXPECT_MSG_EQ(ours.lines.size(), theirs.lines.size(), "number of events");
        const bool happened = theirs.drops + theirs.marks > 20;
        NS_TEST_EXPECT_MSG_EQ(happened, m_pair.signals, "drops and marks that are compared");
    }

  protected:
    /// @return the events of ns-3's disc
    SojournLog Theirs()
    {
        RngSeedManager::SetSeed(1);
        ObjectFactory factory(m_pair.type);
        factory.Set("MaxSize", StringValue(m_pair.maxSize));
        for (const auto& [name, value] : m_pair.attributes)
        {
            factory.Set(name, StringValue(value));
        }
        Ptr<QueueDisc> disc = factory.Create<QueueDisc>();
        Prepare(disc);
        return RunSojournLoad(disc, m_pair.load, [disc] {
            for (std::size_t i = 0; i < disc->GetNQueueDiscClasses(); i++)
            {
                Prepare(disc->GetQueueDiscClass(i)->GetQueueDisc());
            }
        });
    }

    /// @return the events of our disc
    SojournLog Ours()
    {
        RngSeedManager::SetSeed(1);
        ObjectFactory factory("ns3::SojournQueueDisc");
        factory.Set("Aqm", StringValue(m_pair.aqm));
        factory.Set("Rate", StringValue("10Mbps"));
        factory.Set("MaxSize", StringValue(m_pair.maxSize));
        for (const auto& [name, value] : m_pair.ours)
        {
            factory.Set(name, StringValue(value));
        }
        Ptr<SojournQueueDisc> disc = factory.Create<SojournQueueDisc>();
        disc->AssignStreams(STREAM);
        return RunSojournLoad(disc, m_pair.load);
    }

    Pair m_pair; //!< what is compared
};

/// FQ-PIE with several flows, which has a random stream and an update phase per flow queue in ns-3,
/// but one of each here: how close they are.
class ClosenessTestCase : public EqualityTestCase
{
  public:
    explicit ClosenessTestCase(const Pair& pair)
        : EqualityTestCase(pair)
    {
    }

  private:
    void DoRun() override
    {
        double theirs = 0;
        double ours = 0;
        for (uint32_t seed = 1; seed <= 5; seed++)
        {
            m_pair.load.seed = seed;
            theirs += Theirs().drops;
            ours += Ours().drops;
        }
        NS_TEST_EXPECT_MSG_GT(theirs, 1000, "drops that are compared");
        NS_TEST_EXPECT_MSG_EQ_TOL(ours / theirs, 1, 0.02, "drops compared with ns-3's");
    }
};

/// The pairs that are equal.
std::vector<Pair>
Pairs()
{
    SojournLoad one;
    SojournLoad ecn;
    ecn.isEcn = true;
    SojournLoad ect1;
    ect1.ect1Share = 0.5;
    SojournLoad flows;
    flows.flows = 5;
    SojournLoad flowsEcn = flows;
    flowsEcn.isEcn = true;
    SojournLoad crowd = flows;
    crowd.offered = 3;
    SojournLoad small;
    small.bytes = 600;
    const std::string codel = "ns3::CoDelQueueDisc";
    const std::string pie = "ns3::PieQueueDisc";
    const std::string red = "ns3::RedQueueDisc";
    const std::string thresholds = "min_th=5p,max_th=15p";
    const std::string link = "10Mbps";
    return {
        {"Fifo", "ns3::FifoQueueDisc", {}, "taildrop", "50p", one},
        {"CoDel", codel, {}, "codel@ns3", "1000p", one},
        {"CoDel in bytes", codel, {}, "codel@ns3", "40000B", one},
        {"CoDel, ECN", codel, {{"UseEcn", "true"}}, "codel@ns3:ecn=true", "1000p", ecn},
        {"CoDel, CE threshold", codel, {{"UseEcn", "true"}, {"CeThreshold", "2ms"}},
         "codel@ns3:ecn=true,ce_threshold=2ms", "1000p", ecn},
        {"CoDel, L4S", codel, {{"UseEcn", "true"}, {"UseL4s", "true"}, {"CeThreshold", "1ms"}},
         "codel@ns3:ecn=true,l4s=true,ce_threshold=1ms", "1000p", ect1},
        {"CoDel, 20 ms", codel, {{"Target", "20ms"}, {"Interval", "200ms"}},
         "codel@ns3:target=20ms,interval=200ms", "1000p", one},
        {"FQ-CoDel", "ns3::FqCoDelQueueDisc", {}, "fq_codel@ns3", "1000p", flows},
        {"FQ-CoDel, ECN", "ns3::FqCoDelQueueDisc", {}, "fq_codel@ns3", "1000p", flowsEcn},
        {"FQ-CoDel, overload", "ns3::FqCoDelQueueDisc", {}, "fq_codel@ns3", "100p", crowd},
        {"FQ-CoDel, flows that collide", "ns3::FqCoDelQueueDisc", {{"Flows", "3"}},
         "fq_codel@ns3:flows=3", "1000p", flows},
        {"FQ-CoDel, sets of two queues", "ns3::FqCoDelQueueDisc",
         {{"Flows", "4"}, {"EnableSetAssociativeHash", "true"}, {"SetWays", "2"}},
         "fq_codel@ns3:flows=4", "1000p", flows, true,
         {{"EnableSetAssociativeHash", "true"}, {"SetWays", "2"}}},
        {"COBALT", "ns3::CobaltQueueDisc", {}, "cobalt@ns3", "1000p", one},
        {"COBALT, BLUE", "ns3::CobaltQueueDisc", {}, "cobalt@ns3", "50p", one},
        // Without BLUE, because ns-3 also counts a mark for a packet that BLUE drops (fact ns3-4).
        {"COBALT, ECN", "ns3::CobaltQueueDisc", {{"UseEcn", "true"}, {"Increment", "0"}},
         "cobalt@ns3:ecn=true,p_inc=0", "1000p", ecn},
        {"COBALT, CE threshold", "ns3::CobaltQueueDisc",
         {{"UseEcn", "true"}, {"CeThreshold", "2ms"}, {"Increment", "0"}},
         "cobalt@ns3:ecn=true,ce_threshold=2ms,p_inc=0", "1000p", ecn},
        {"COBALT, L4S", "ns3::CobaltQueueDisc",
         {{"UseEcn", "true"}, {"UseL4s", "true"}, {"CeThreshold", "1ms"}, {"Increment", "0"}},
         "cobalt@ns3:ecn=true,l4s=true,ce_threshold=1ms,p_inc=0", "1000p", ect1},
        {"FQ-COBALT", "ns3::FqCobaltQueueDisc", {}, "fq_cobalt@ns3", "1000p", flows},
        {"FQ-COBALT, overload", "ns3::FqCobaltQueueDisc", {}, "fq_cobalt@ns3", "100p", crowd},
        // ns-3 creates a PIE with the first packet of a queue, and its first update follows at once
        // and takes 15 ms off the burst allowance.
        {"FQ-PIE, one flow", "ns3::FqPieQueueDisc", {}, "fq_pie@ns3:max_burst=135ms", "1000p", one},
        {"PIE", pie, {}, "pie@ns3", "1000p", one},
        {"PIE, short queue", pie, {}, "pie@ns3", "30p", one},
        // With a limit in bytes, ns-3's PIE considers the sizes of packets.
        {"PIE in bytes", pie, {}, "pie@ns3:byte_mode=true", "200000B", small},
        {"PIE, ECN", pie, {{"UseEcn", "true"}}, "pie@ns3:ecn=true", "1000p", ecn},
        {"PIE, derandomised", pie, {{"UseDerandomization", "true"}}, "pie@ns3:derandomise=true",
         "1000p", one},
        {"PIE, rate", pie, {{"UseDequeueRateEstimator", "true"}}, "pie@ns3:delay=rate", "1000p",
         one},
        {"PIE, switched on by delay", pie, {{"ActiveThreshold", "30ms"}},
         "pie@ns3:active_threshold=30ms", "1000p", one},
        {"PIE, L4S", pie, {{"UseEcn", "true"}, {"UseL4s", "true"}, {"CeThreshold", "1ms"}},
         "pie@ns3:ecn=true,l4s=true,ce_threshold=1ms", "1000p", ect1},
        {"RED", red, {{"LinkBandwidth", link}, {"MeanPktSize", "1000"}},
         "red@ns3:mean_packet_bytes=1000B," + thresholds, "100p", one},
        {"RED in bytes", red,
         {{"LinkBandwidth", link}, {"MeanPktSize", "500"}, {"MinTh", "5000"}, {"MaxTh", "15000"}},
         "red@ns3:mean_packet_bytes=500B,min_th=5000B,max_th=15000B", "100000B", small},
        {"RED, ECN", red, {{"LinkBandwidth", link}, {"MeanPktSize", "1000"}, {"UseEcn", "true"},
                           {"UseHardDrop", "false"}},
         "red@ns3:mean_packet_bytes=1000B,ecn=true,hard_drop=false," + thresholds, "9000p", ecn},
        {"Adaptive RED", red, {{"LinkBandwidth", link}, {"MeanPktSize", "1000"}, {"ARED", "true"}},
         "ared@ns3:mean_packet_bytes=1000B", "100p", one},
    };
}

/// The pairs of one disc of ns-3: a suite stops at its first failure.
class SojournEqualityTestSuite : public TestSuite
{
  public:
    /// @param type the type of the disc, such as ns3::CoDelQueueDisc
    explicit SojournEqualityTestSuite(const std::string& type)
        : TestSuite("sojourn-equality-" + type.substr(5))
    {
        for (const Pair& pair : Pairs())
        {
            if (pair.type == type)
            {
                AddTestCase(new EqualityTestCase(pair));
            }
        }
        if (type == "ns3::FqPieQueueDisc")
        {
            SojournLoad load;
            load.flows = 5;
            load.offered = 2;
            AddTestCase(new ClosenessTestCase(
                {"FQ-PIE, five flows", type, {}, "fq_pie@ns3", "1000p", load}));
        }
    }
};

// The suites.
SojournEqualityTestSuite g_sojournFifo("ns3::FifoQueueDisc");
SojournEqualityTestSuite g_sojournCoDel("ns3::CoDelQueueDisc");
SojournEqualityTestSuite g_sojournFqCoDel("ns3::FqCoDelQueueDisc");
SojournEqualityTestSuite g_sojournCobalt("ns3::CobaltQueueDisc");
SojournEqualityTestSuite g_sojournFqCobalt("ns3::FqCobaltQueueDisc");
SojournEqualityTestSuite g_sojournPie("ns3::PieQueueDisc");
SojournEqualityTestSuite g_sojournFqPie("ns3::FqPieQueueDisc");
SojournEqualityTestSuite g_sojournRed("ns3::RedQueueDisc");

} // namespace
