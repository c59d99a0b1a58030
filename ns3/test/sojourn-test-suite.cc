/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) ns-3's style puts every brace and result type on a separate line.
 *
 * The contract of a queue disc: packets are conserved, limits hold, every cause is counted under
 * its reason, marks reach the packet, runs repeat, attributes and traces are those of the AQM.
 */

#include "sojourn-test-driver.h"
#include "sojourn-test-fact.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/node-container.h"
#include "ns3/packet-filter.h"
#include "ns3/queue-size.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/sojourn-helper.h"
#include "ns3/sojourn-queue-disc.h"
#include "ns3/sojourn-queue-discs.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/traffic-control-helper.h"

#include <map>
#include <utility>

using namespace ns3;

namespace
{

/// Every type of disc for a single AQM.
std::vector<TypeId>
TypedDiscs()
{
    std::vector<TypeId> discs;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (tid.HasConstructor() && tid.IsChildOf(SojournTypedQueueDisc::GetTypeId()))
        {
            discs.push_back(tid);
        }
    }
    return discs;
}

/// An overload of several flows with ECN for two seconds.
SojournLoad
Overload()
{
    SojournLoad load;
    load.flows = 4;
    load.offered = 2;
    load.isEcn = true;
    load.seconds = 6;
    return load;
}

void
EveryAqmConservesPackets(SojournFact& fact)
{
    fact.Holds(TypedDiscs().size() >= 15, "the AQMs of the registry are there");
    for (const TypeId& tid : TypedDiscs())
    {
        ObjectFactory factory;
        factory.SetTypeId(tid);
        Ptr<QueueDisc> disc = factory.Create<QueueDisc>();
        disc->SetAttribute("MaxSize", StringValue("100p"));
        disc->SetAttribute("Rate", StringValue("10Mbps"));
        const SojournLog log = RunSojournLoad(disc, Overload());
        const QueueDisc::Stats& stats = disc->GetStats();
        const auto name = tid.GetName();
        fact.Equal(stats.nTotalReceivedPackets,
                   stats.nTotalDroppedPacketsBeforeEnqueue + stats.nTotalEnqueuedPackets,
                   name + ": received");
        fact.Equal(stats.nTotalEnqueuedPackets, stats.nTotalDequeuedPackets, name + ": all leave");
        uint32_t byReason = 0;
        for (const auto& reasons :
             {stats.nDroppedPacketsBeforeEnqueue, stats.nDroppedPacketsAfterDequeue})
        {
            for (const auto& [reason, count] : reasons)
            {
                byReason += count;
            }
        }
        fact.Equal(byReason, stats.nTotalDroppedPackets, name + ": every drop has a reason");
        fact.Holds(log.drops + log.marks > 100, name + ": an overload is signalled");
    }
}

void
LimitsHoldInPacketsAndBytes(SojournFact& fact)
{
    for (const auto& [size, packets] :
         std::map<std::string, uint32_t>{{"7p", 7}, {"7500B", 7}, {"9kB", 9}})
    {
        auto disc = MakeSojournDisc({{"Aqm", "codel"}, {"MaxSize", size}});
        disc->Initialize();
        for (uint32_t id = 0; id < 20; id++)
        {
            disc->Enqueue(Create<SojournTestItem>(id, 0, 1000, 0));
        }
        fact.Equal(disc->GetNPackets(), packets, size);
        fact.Equal(disc->GetStats().GetNDroppedPackets("Overlimit drop"), 20 - packets, size);
        fact.Equal(disc->GetMaxSize(), QueueSize(size), size);
    }
    auto own = MakeSojournDisc({{"Aqm", "pie:limit=33p"}});
    own->Initialize();
    fact.Equal(own->GetMaxSize(), QueueSize("33p"), "a limit in the text is the disc's");
}

/// A load that makes a disc signal, and the reason under which it must be counted.
struct Reason
{
    std::string aqm;    //!< the AQM
    std::string limit;  //!< its limit
    bool isEcn;         //!< whether packets can be marked
    std::string drop;   //!< reason of drops, if any
    std::string mark;   //!< reason of marks, if any
};

void
EveryCauseIsCountedUnderItsReason(SojournFact& fact)
{
    const std::string child = "(Dropped by child queue disc) ";
    const std::vector<Reason> reasons = {
        {"taildrop", "20p", false, "Queue disc limit exceeded", ""},
        {"codel", "1000p", false, "Target exceeded drop", ""},
        {"codel", "20p", false, "Overlimit drop", ""},
        {"codel:ecn=true", "1000p", true, "", "Target exceeded mark"},
        {"codel:ecn=true,ce_threshold=1ms", "1000p", true, "", "CE threshold exceeded mark"},
        {"fq_codel:ecn=false", "1000p", false, child + "Target exceeded drop", ""},
        {"fq_codel", "1000p", true, "", "(Marked by child queue disc) Target exceeded mark"},
        {"fq_codel", "30p", false, "Overlimit drop", ""},
        {"cobalt", "1000p", false, "Target exceeded drop", ""},
        {"cobalt:ecn=true", "1000p", true, "", "forcedMark"},
        {"pie", "1000p", false, "Unforced drop", ""},
        {"pie:ecn=true", "1000p", true, "", "Unforced mark"},
        {"pie", "20p", false, "Forced drop", ""},
        {"pi2", "1000p", false, "Unforced drop", ""},
        {"madpie", "1000p", false, "Delay bound exceeded drop", ""},
        {"red:min_th=5p,max_th=15p", "100p", false, "Unforced drop", ""},
        {"red:min_th=5p,max_th=15p", "100p", false, "Forced drop", ""},
        {"red:min_th=5p,max_th=15p,ecn=true,hard_drop=false", "100p", true, "", "Forced mark"},
        {"red:min_th=5p,max_th=15p,ecn=true", "100p", true, "", "Unforced mark"},
        {"step", "1000p", true, "", "CE threshold exceeded mark"},
        {"choke", "100p", false, "Match drop", ""},
        {"sfb:bin_max=20", "1000p", false, "Bin overflow drop", ""},
        {"sfb:increment=0.1,bin_max=500,penalty_rate=10hz", "1000p", false, "Penalty drop", ""},
        {"dualpi2@linux", "10000p", true, "Overload drop", ""},
    };
    for (const Reason& reason : reasons)
    {
        auto disc = MakeSojournDisc({{"Aqm", reason.aqm}, {"MaxSize", reason.limit}, {"Rate", "10Mbps"}});
        SojournLoad load = Overload();
        load.isEcn = reason.isEcn;
        RunSojournLoad(disc, load);
        const auto& stats = disc->GetStats();
        const std::string what = reason.aqm + " " + reason.limit;
        if (!reason.drop.empty())
        {
            fact.Holds(stats.GetNDroppedPackets(reason.drop) > 0, what + ": " + reason.drop);
        }
        if (!reason.mark.empty())
        {
            fact.Holds(stats.GetNMarkedPackets(reason.mark) > 0, what + ": " + reason.mark);
        }
    }
}

void
MarksReachThePacket(SojournFact& fact)
{
    auto disc = MakeSojournDisc({{"Aqm", "step:sojourn_threshold=1us"}});
    disc->Initialize();
    auto capable = Create<SojournTestItem>(0, 0, 1000, 2);
    auto other = Create<SojournTestItem>(1, 0, 1000, 0);
    disc->Enqueue(capable);
    disc->Enqueue(other);
    Simulator::Schedule(MilliSeconds(1), [&] {
        uint8_t field = 0;
        disc->Dequeue()->GetUint8Value(QueueItem::IP_DSFIELD, field);
        fact.Equal(static_cast<int>(field), 3, "CE");
        disc->Dequeue()->GetUint8Value(QueueItem::IP_DSFIELD, field);
        fact.Equal(static_cast<int>(field), 0, "what is not capable stays");
        fact.Equal(disc->GetStats().nTotalMarkedPackets, 1U, "one mark");
    });
    Simulator::Run();
}

void
ItemsWithoutAHeaderAreMarkedIfTheySaySo(SojournFact& fact)
{
    for (const bool isCapable : {true, false})
    {
        auto disc = MakeSojournDisc({{"Aqm", "red:min_th=1p,max_th=2p,w_q=1,ecn=true,hard_drop=false"},
                          {"MaxSize", "100p"}});
        disc->Initialize();
        for (uint32_t i = 0; i < 50; i++)
        {
            disc->Enqueue(Create<SojournHeaderlessItem>(isCapable));
        }
        const auto& stats = disc->GetStats();
        fact.Equal(stats.GetNMarkedPackets("Forced mark") > 40, isCapable, "marks");
        fact.Equal(stats.GetNDroppedPackets("Forced drop") > 40, !isCapable, "drops");
        disc->Dispose();
    }
}

void
RunsRepeatAndObeyTheSeedOfNs3(SojournFact& fact)
{
    const auto run = [](uint64_t number, const std::string& useNs3Random) {
        RngSeedManager::SetRun(number);
        auto disc = MakeSojournDisc({{"Aqm", "pie"}, {"MaxSize", "200p"}, {"UseNs3Random", useNs3Random}});
        disc->AssignStreams(3);
        const auto log = RunSojournLoad(disc, Overload()).lines;
        RngSeedManager::SetRun(1);
        return log;
    };
    fact.Holds(run(1, "true") == run(1, "true"), "the same run twice");
    fact.Holds(run(1, "true") != run(2, "true"), "another RngRun, other drops");
    fact.Holds(run(1, "false") == run(2, "false"), "Seed alone decides without UseNs3Random");
}

void
TypedDiscAndTextAreTheSame(SojournFact& fact)
{
    auto typed = MakeSojournDisc<SojournPi2QueueDisc>(
        {{"Target", "15ms"}, {"Alpha", "0.25"}, {"UseEcn", "true"}, {"MaxSize", "200p"}});
    auto text = MakeSojournDisc({{"Aqm", "pi2:target=15ms,alpha=0.25hz,ecn=true"}, {"MaxSize", "200p"}});
    typed->AssignStreams(3);
    text->AssignStreams(3);
    const auto one = RunSojournLoad(typed, Overload());
    const auto other = RunSojournLoad(text, Overload());
    fact.Holds(one.lines == other.lines, "the same events");
    fact.Holds(one.marks > 20, "some of them marks");
}

void
AttributesAreTheParametersOfTheDialect(SojournFact& fact)
{
    auto codel = MakeSojournDisc<SojournCoDelQueueDisc>({{"Interval", "80ms"}, {"CeThreshold", "3ms"}});
    TimeValue time;
    codel->GetAttribute("Target", time);
    fact.Equal(time.Get(), MilliSeconds(5), "the default");
    codel->SetAttribute("Target", TimeValue(MilliSeconds(7)));
    codel->Initialize();
    fact.Equal(codel->GetParameter("target"), "7ms", "set after it was made");
    fact.Equal(codel->GetParameter("interval"), "80ms", "set by the factory");
    fact.Equal(codel->GetParameter("ce_threshold"), "3ms", "an optional one");
    fact.Equal(codel->GetParameter("none"), "", "no such parameter");

    auto plain = MakeSojournDisc<SojournCoDelQueueDisc>({});
    plain->GetAttribute("CeThreshold", time);
    fact.Equal(time.Get() == Time::Max(), true, "off, as ns-3 writes it");

    auto draft = MakeSojournDisc<SojournPieQueueDisc>({{"Dialect", "docsis"}});
    draft->Initialize();
    fact.Equal(draft->GetParameter("target"), "10ms", "the default of the dialect");
    draft->GetAttribute("Target", time);
    fact.Equal(time.Get(), MilliSeconds(10), "is what the attribute says then");

    Config::SetDefault("ns3::SojournMadPieQueueDisc::Target", TimeValue(MilliSeconds(22)));
    auto madpie = MakeSojournDisc<SojournMadPieQueueDisc>({});
    Config::Reset();
    madpie->Initialize();
    fact.Equal(madpie->GetParameter("target"), "22ms", "Config::SetDefault");
}

void
StateVariablesAreTraced(SojournFact& fact)
{
    std::map<std::string, double> last;
    double dropProb = 0;
    uint32_t changes = 0;
    auto disc = MakeSojournDisc<SojournPieQueueDisc>({{"MaxSize", "1000p"}});
    disc->TraceConnectWithoutContext("State",
                                     Callback<void, std::string, double>(
                                         [&](auto name, auto value) { last[name] = value; }));
    disc->TraceConnectWithoutContext("DropProb",
                                     Callback<void, double, double>([&](auto before, auto after) {
                                         fact.Equal(before, dropProb, "the value before");
                                         dropProb = after;
                                         changes++;
                                     }));
    Time sojourn;
    disc->TraceConnectWithoutContext(
        "SojournTime",
        Callback<void, Time>([&](Time value) { sojourn = std::max(sojourn, value); }));
    RunSojournLoad(disc, Overload());
    fact.Holds(changes > 50, "drop_prob changes at updates");
    fact.Holds(last.count("drop_prob") == 1 && last["drop_prob"] == dropProb, "both traces agree");
    fact.Holds(sojourn > MilliSeconds(5), "packets have waited");
}

/// Puts every packet into one flow, or recognises none.
class OneFlowFilter : public PacketFilter
{
  public:
    explicit OneFlowFilter(bool recognises)
        : m_recognises(recognises)
    {
    }

  private:
    bool CheckProtocol(Ptr<QueueDiscItem>) const override
    {
        return m_recognises;
    }

    int32_t DoClassify(Ptr<QueueDiscItem>) const override
    {
        return 5;
    }

    bool m_recognises; //!< whether it knows the packet
};

void
PacketFiltersNameTheFlow(SojournFact& fact)
{
    const auto queues = [&](Ptr<PacketFilter> filter) {
        auto disc = MakeSojournDisc({{"Aqm", "fq_codel"}});
        if (filter)
        {
            disc->AddPacketFilter(filter);
        }
        disc->Initialize();
        for (uint32_t id = 0; id < 6; id++)
        {
            disc->Enqueue(Create<SojournTestItem>(id, id % 3, 1000, 0));
        }
        fact.Equal(disc->GetStats().GetNDroppedPackets(SojournAqmQueueDisc::UNCLASSIFIED_DROP),
                   6 - disc->GetNPackets(),
                   "what no filter knows is dropped");
        return disc->GetState("active_queues");
    };
    fact.Equal(queues(nullptr), 3.0, "QueueDiscItem::Hash");
    fact.Equal(queues(Create<OneFlowFilter>(true)), 1.0, "a filter that knows every packet");
    fact.Equal(queues(Create<OneFlowFilter>(false)), 0.0, "a filter that knows none");
}

void
PeekDoesNotLoseAPacket(SojournFact& fact)
{
    auto disc = MakeSojournDisc({{"Aqm", "fq(pie)"}});
    disc->Initialize();
    for (uint32_t id = 0; id < 3; id++)
    {
        disc->Enqueue(Create<SojournTestItem>(id, id, 1000, 0));
    }
    Ptr<const QueueDiscItem> head = disc->Peek();
    fact.Equal(disc->GetNPackets(), 3U, "a peeked packet is still there");
    fact.Equal(PeekPointer(disc->Dequeue()) == PeekPointer(head), true, "and leaves next");
    disc->Dequeue();
    disc->Dequeue();
    fact.Equal(disc->Dequeue() == nullptr, true, "then nothing is left");
}

void
AShaperLetsPacketsGoByItself(SojournFact& fact)
{
    auto disc = MakeSojournDisc({{"Aqm", "cake:bandwidth=1mbit"}});
    uint32_t sent = 0;
    disc->SetSendCallback([&](Ptr<QueueDiscItem>) { sent++; });
    disc->Initialize();
    for (uint32_t id = 0; id < 10; id++)
    {
        disc->Enqueue(Create<SojournTestItem>(id, 0, 1250, 0));
    }
    Simulator::ScheduleNow(&QueueDisc::Run, disc);
    Simulator::Stop(MilliSeconds(45));
    Simulator::Run();
    // A packet takes 10 ms and some bytes of framing.
    fact.Holds(sent >= 4 && sent <= 6, "1 Mbit/s lets " + std::to_string(sent) + " packets go");
    disc->Dispose();
}

void
TheHelperInstallsByTextAndAssignsStreams(SojournFact& fact)
{
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    const NetDeviceContainer devices = SimpleNetDeviceHelper().Install(nodes);
    TrafficControlHelper::Default().Install(devices);
    const auto discs = SojournHelper::Install(devices, "fq(pi2)", "50p");
    fact.Equal(discs.GetN(), std::size_t{2}, "a disc for each device");
    fact.Equal(SojournHelper::AssignStreams(discs, 10), int64_t{2}, "a stream for each disc");
    discs.Get(0)->Initialize();
    fact.Equal(discs.Get(0)->GetMaxSize(), QueueSize("50p"), "the limit");
}

/// The suite.
SojournFacts g_sojournTestSuite(
    "sojourn",
    {
        {"every AQM conserves packets", EveryAqmConservesPackets},
        {"limits hold in packets and bytes", LimitsHoldInPacketsAndBytes},
        {"every cause is counted under its reason", EveryCauseIsCountedUnderItsReason},
        {"marks reach the packet", MarksReachThePacket},
        {"items without a header are marked if they say so",
         ItemsWithoutAHeaderAreMarkedIfTheySaySo},
        {"runs repeat and obey the seed of ns-3", RunsRepeatAndObeyTheSeedOfNs3},
        {"typed disc and text are the same", TypedDiscAndTextAreTheSame},
        {"attributes are the parameters of the dialect",
         AttributesAreTheParametersOfTheDialect},
        {"state variables are traced", StateVariablesAreTraced},
        {"packet filters name the flow", PacketFiltersNameTheFlow},
        {"peek does not lose a packet", PeekDoesNotLoseAPacket},
        {"a shaper lets packets go by itself", AShaperLetsPacketsGoByItself},
        {"the helper installs by text and assigns streams",
         TheHelperInstallsByTextAndAssignsStreams},
    });

} // namespace
