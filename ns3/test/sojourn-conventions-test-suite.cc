/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) ns-3's style puts every brace and result type on a separate line.
 *
 * The interface that scripts and tests for ns-3's own discs rely on: SetMaxSize, classes of flow
 * queues, the names of attributes, reasons and members, custom items, every trace source.
 */

#include "sojourn-test-driver.h"
#include "sojourn-test-fact.h"

#include "ns3/boolean.h"
#include "ns3/cobalt-queue-disc.h"
#include "ns3/codel-queue-disc.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/fifo-queue-disc.h"
#include "ns3/fq-cobalt-queue-disc.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/fq-pie-queue-disc.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/queue-limits.h"
#include "ns3/queue-size.h"
#include "ns3/red-queue-disc.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/sojourn-queue-discs.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace ns3;

namespace
{

/// Offers packets of one flow at once. @param disc the disc @param count number of packets
void
Offer(Ptr<QueueDisc> disc, uint32_t count)
{
    for (uint32_t id = 0; id < count; id++)
    {
        disc->Enqueue(Create<SojournTestItem>(id, 0, 1000, 0));
    }
}

void
AMaximumSizeMayBeSetByItsMethod(SojournFact& fact)
{
    for (const auto& [size, packets] :
         std::map<std::string, uint32_t>{{"7p", 7}, {"1p", 1}, {"7500B", 7}})
    {
        for (const std::string aqm : {"codel", "pie", "fq_codel", "red:min_th=50p,max_th=150p"})
        {
            auto disc = MakeSojournDisc({{"Aqm", aqm}});
            fact.Equal(disc->SetMaxSize(QueueSize(size)), true, aqm);
            disc->Initialize();
            fact.Equal(disc->GetMaxSize(), QueueSize(size), aqm);
            Offer(disc, 20);
            fact.Holds(disc->GetNPackets() <= packets && disc->GetNPackets() > packets / 2,
                       aqm + " " + size + " holds");
            fact.Equal(disc->GetCurrentSize() <= QueueSize(size), true, aqm + " in its unit");
            disc->Dispose();
        }
    }
}

void
AMaximumSizeMayChangeWhilePacketsWait(SojournFact& fact)
{
    for (const std::string aqm :
         {"taildrop", "codel", "pie", "cobalt", "fq_codel", "dualpi2", "sfb"})
    {
        auto disc = MakeSojournDisc({{"Aqm", aqm}, {"MaxSize", "5p"}});
        disc->Initialize();
        Offer(disc, 8);
        const uint32_t few = disc->GetNPackets();
        fact.Holds(few <= 5, aqm + ": the first limit");
        disc->SetMaxSize(QueueSize("9p"));
        Offer(disc, 19);
        const uint32_t more = disc->GetNPackets();
        fact.Holds(more > few && more <= 9, aqm + ": a larger one, by the method");
        fact.Equal(disc->SetAttributeFailSafe("MaxSize", StringValue("3000B")), true, aqm);
        while (disc->Dequeue())
        {
        }
        Offer(disc, 8);
        fact.Holds(disc->GetNBytes() <= 3000, aqm + ": a smaller one, in bytes, by the attribute");
        fact.Equal(disc->GetMaxSize(), QueueSize("3000B"), aqm + ": it is what it says");
        disc->Dispose();
    }
    auto sfq = MakeSojournDisc({{"Aqm", "sfq"}});
    sfq->Initialize();
    const QueueSize before = sfq->GetMaxSize();
    const bool isSet = sfq->SetAttributeFailSafe("MaxSize", StringValue("5p"));
    fact.Equal(isSet, false, "SFQ is made for its limit");
    fact.Equal(sfq->GetMaxSize(), before, "and keeps it");
}

/// Attributes of ns3's own disc that ours lacks, each with the reason.
const std::set<std::string> OTHER_ATTRIBUTES = {
    "Pdrop", // the initial drop probability, which only ns-3 has
    "ARED",  // a separate disc: SojournAredQueueDisc
    "AdaptMaxP",
    "Rtt", // for an automatic Bottom, which assumes 100 ms
    "FengAdaptive", // no such AQM here
    "FengAlpha",
    "FengBeta",
    "NLRED",
    "Ns1Compat", // an error of ns-1 that is not needed
    "IdlePktSize",
    "LastSet", // state, not a parameter
};

/// A disc of ns-3 and ours of the same AQM.
const std::map<std::string, std::string> SAME_AQM = {
    {"ns3::CoDelQueueDisc", "ns3::SojournCoDelQueueDisc"},
    {"ns3::FqCoDelQueueDisc", "ns3::SojournFqCoDelQueueDisc"},
    {"ns3::PieQueueDisc", "ns3::SojournPieQueueDisc"},
    {"ns3::FqPieQueueDisc", "ns3::SojournFqPieQueueDisc"},
    {"ns3::CobaltQueueDisc", "ns3::SojournCobaltQueueDisc"},
    {"ns3::FqCobaltQueueDisc", "ns3::SojournFqCobaltQueueDisc"},
    {"ns3::RedQueueDisc", "ns3::SojournRedQueueDisc"},
};

/// A parameter of ns-3's RED that in our discs only ARED has.
const std::set<std::string> ADAPTIVE = {"Interval", "Alpha", "Beta", "Top", "Bottom"};

void
AttributesHaveTheNamesOfNs3sDiscs(SojournFact& fact)
{
    for (const auto& [theirs, ours] : SAME_AQM)
    {
        const TypeId known = TypeId::LookupByName(theirs);
        const bool isRed = theirs == "ns3::RedQueueDisc";
        uint32_t shared = 0;
        for (std::size_t i = 0; i < known.GetAttributeN(); i++)
        {
            const std::string name = known.GetAttribute(i).name;
            if (OTHER_ATTRIBUTES.count(name))
            {
                continue;
            }
            shared++;
            const std::string type =
                isRed && ADAPTIVE.count(name) ? "ns3::SojournAredQueueDisc" : ours;
            // Config::SetDefault looks for an attribute in the type itself.
            fact.Holds(Config::SetDefaultFailSafe(type + "::" + name,
                                                  *known.GetAttribute(i).initialValue),
                       type + " has " + name);
        }
        fact.Holds(shared >= 5, theirs + " was looked at");
    }
    Config::Reset();
    Config::SetDefault("ns3::SojournPi2QueueDisc::MaxSize", StringValue("77p"));
    Config::SetDefault("ns3::SojournPi2QueueDisc::Dialect", StringValue("linux"));
    Config::SetDefault("ns3::SojournPi2QueueDisc::Rate", StringValue("5Mbps"));
    auto pi2 = MakeSojournDisc<SojournPi2QueueDisc>({});
    Config::Reset();
    pi2->Initialize();
    fact.Equal(pi2->GetMaxSize(), QueueSize("77p"), "an attribute of every disc");
    fact.Equal(pi2->GetRate(), DataRate("5Mbps"), "another");
    fact.Equal(pi2->GetParameter("alpha"), std::string("0.625hz"), "the dialect");
}

/// @return the value of every attribute of a disc of a type, with some set, once it is initialized
std::map<std::string, std::string>
SettingsOf(const std::string& type, const std::function<void(ObjectFactory&)>& set)
{
    ObjectFactory factory(type);
    factory.Set("Dialect", StringValue("ns3"));
    factory.Set("Rate", StringValue("10Mbps"));
    set(factory);
    auto disc = factory.Create<QueueDisc>();
    disc->Initialize();
    std::map<std::string, std::string> settings;
    for (TypeId tid = disc->GetInstanceTypeId(); tid != QueueDisc::GetTypeId();
         tid = tid.GetParent())
    {
        for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
        {
            StringValue value;
            disc->GetAttribute(tid.GetAttribute(i).name, value);
            settings[tid.GetAttribute(i).name] = value.Get();
        }
    }
    disc->Dispose();
    return settings;
}

void
DefaultsOfNs3sDiscsAreThoseOfTheDialect(SojournFact& fact)
{
    for (const auto& [theirs, ours] : SAME_AQM)
    {
        const TypeId known = TypeId::LookupByName(theirs);
        const auto ownDefaults = SettingsOf(ours, [](ObjectFactory&) {});
        for (std::size_t i = 0; i < known.GetAttributeN(); i++)
        {
            const TypeId::AttributeInformation info = known.GetAttribute(i);
            const bool isOther = OTHER_ATTRIBUTES.count(info.name) || ADAPTIVE.count(info.name);
            // An unknown rate or delay of the link is not assumed. ns-3 has other
            // limits: 25p of PIE and RED, 1500000B of CoDel and COBALT; here it is 1000p of every
            // law in one queue.
            if ((isOther && theirs == "ns3::RedQueueDisc") || info.name == "Pdrop" ||
                info.name == "MaxSize" || info.name.rfind("Link", 0) == 0)
            {
                continue;
            }
            const auto typed = SettingsOf(ours, [&info](ObjectFactory& factory) {
                factory.Set(info.name, *info.initialValue);
            });
            const auto asText = SettingsOf(ours, [&info](ObjectFactory& factory) {
                const std::string text = info.initialValue->SerializeToString(info.checker);
                factory.Set(info.name, StringValue(text));
            });
            for (const auto& [name, value] : ownDefaults)
            {
                const std::string what = theirs + ": " + info.name + " and our " + name;
                fact.Equal(typed.at(name), value, what);
                fact.Equal(asText.at(name), value, what + ", as text");
            }
        }
    }
}

void
NumbersNeedNotBeRound(SojournFact& fact)
{
    auto pie = MakeSojournDisc<SojournPieQueueDisc>({});
    pie->SetAttribute("Alpha", DoubleValue(0.00001));
    pie->SetAttribute("Beta", DoubleValue(1.0 / 3));
    pie->SetAttribute("CeThreshold", TimeValue(Time::Max()));
    pie->Initialize();
    fact.Equal(pie->GetParameter("alpha"), std::string("0.00001hz"), "a small one");
    fact.Equal(pie->GetParameter("beta"), std::string("0.3333333333333333hz"), "a third");
    fact.Equal(pie->GetParameter("ce_threshold"), std::string("off"), "Time::Max()");
    auto red = MakeSojournDisc<SojournRedQueueDisc>({{"LinkBandwidth", "10Mbps"}});
    red->SetTh(7, 21);
    red->Initialize();
    fact.Equal(red->GetRate(), DataRate("10Mbps"), "LinkBandwidth is Rate");
    fact.Equal(red->GetParameter("min_th"), std::string("7p"), "SetTh");
    auto dual = MakeSojournDisc<SojournDualPi2QueueDisc>({{"QueueLimit", "25000"}, {"A", "0.2"}});
    dual->Initialize();
    fact.Equal(dual->GetMaxSize(), QueueSize("25kB"), "QueueLimit is MaxSize in bytes");
    fact.Equal(dual->GetParameter("alpha"), std::string("0.2hz"), "A is Alpha");
}

/// Runs a load through a disc of a type with attributes.
SojournLog
RunDisc(const std::string& type,
        const std::vector<std::pair<std::string, std::string>>& attributes,
        const SojournLoad& load)
{
    ObjectFactory factory(type);
    for (const auto& [name, value] : attributes)
    {
        factory.Set(name, StringValue(value));
    }
    auto disc = factory.Create<QueueDisc>();
    if (auto pie = DynamicCast<PieQueueDisc>(disc))
    {
        pie->AssignStreams(7);
    }
    else if (auto red = DynamicCast<RedQueueDisc>(disc))
    {
        red->AssignStreams(7);
    }
    else if (auto aqm = DynamicCast<SojournAqmQueueDisc>(disc))
    {
        aqm->AssignStreams(7);
    }
    return RunSojournLoad(disc, load);
}

/// @return the first line that differs, of both; empty if none does
std::string
FirstDifference(const SojournLog& one, const SojournLog& other)
{
    const std::size_t least = std::min(one.lines.size(), other.lines.size());
    for (std::size_t i = 0; i < least; i++)
    {
        if (one.lines[i] != other.lines[i])
        {
            return one.lines[i] + " | " + other.lines[i];
        }
    }
    return one.lines.size() == other.lines.size() ? "" : "one has more lines";
}

/// A disc of ns-3, and attributes that a script gives it.
struct Script
{
    std::string type;                                            //!< of the disc
    std::vector<std::pair<std::string, std::string>> attributes; //!< by ns-3's names
};

/// The settings of scripts.
std::vector<Script>
Scripts()
{
    const std::string codel = "ns3::CoDelQueueDisc";
    const std::string pie = "ns3::PieQueueDisc";
    const std::string red = "ns3::RedQueueDisc";
    return {
        {codel, {{"Interval", "50ms"}, {"Target", "3ms"}, {"UseEcn", "true"}, {"UseL4s", "false"}}},
        {codel, {{"MinBytes", "3000"}, {"CeThreshold", "2ms"}, {"UseEcn", "true"}}},
        {pie, {{"MeanPktSize", "2000"}, {"A", "0.25"}, {"B", "2.5"}, {"Tupdate", "30ms"}}},
        {pie, {{"QueueDelayReference", "25ms"}, {"MaxBurstAllowance", "100ms"}}},
        {pie, {{"UseDequeueRateEstimator", "true"}, {"DequeueThreshold", "10000"}}},
        {pie, {{"UseDerandomization", "true"}, {"UseEcn", "true"}, {"MarkEcnThreshold", "0.3"}}},
        {pie, {{"UseCapDropAdjustment", "false"}, {"ActiveThreshold", "20ms"}}},
        {red, {{"MeanPktSize", "1000"}, {"MinTh", "6"}, {"MaxTh", "18"}, {"QW", "0.01"}}},
        {red, {{"MeanPktSize", "1000"}, {"MinTh", "5"}, {"MaxTh", "15"}, {"LInterm", "20"},
               {"UseEcn", "true"}, {"UseHardDrop", "false"}}},
        {red, {{"MeanPktSize", "1000"}, {"MinTh", "5"}, {"MaxTh", "15"}, {"Gentle", "false"},
               {"Wait", "false"}}},
    };
}

void
AScriptForNs3sDiscsConfiguresOurs(SojournFact& fact)
{
    SojournLoad load;
    load.isEcn = true;
    load.seconds = 10;
    for (const Script& script : Scripts())
    {
        auto theirs = script.attributes;
        theirs.emplace_back("MaxSize", "9000p");
        auto ours = theirs;
        if (script.type == "ns3::RedQueueDisc")
        {
            theirs.emplace_back("LinkBandwidth", "10Mbps");
        }
        ours.emplace_back("Dialect", "ns3");
        ours.emplace_back("Rate", "10Mbps");
        const std::string what = script.type + " " + script.attributes[0].first;
        const SojournLog one = RunDisc(script.type, theirs, load);
        const SojournLog other = RunDisc(SAME_AQM.at(script.type), ours, load);
        fact.Holds(one.marks + one.drops > 20, what + " signals");
        fact.Equal(FirstDifference(one, other), std::string(), what);
    }
}

void
OneParameterHasOneValueUnderBothNames(SojournFact& fact)
{
    auto pie = MakeSojournDisc<SojournPieQueueDisc>({{"QueueDelayReference", "25ms"}});
    TimeValue time;
    pie->GetAttribute("Target", time);
    fact.Equal(time.Get(), MilliSeconds(25), "set by ns-3's name");
    pie->SetAttribute("Target", TimeValue(MilliSeconds(7)));
    pie->GetAttribute("QueueDelayReference", time);
    fact.Equal(time.Get(), MilliSeconds(7), "set by ours");
    pie->SetAttribute("UseDequeueRateEstimator", BooleanValue(true));
    StringValue word;
    pie->GetAttribute("Delay", word);
    fact.Equal(word.Get(), std::string("rate"), "a choice");
    pie->Initialize();
    fact.Equal(pie->GetParameter("target"), std::string("7ms"), "and the AQM has it");
    BooleanValue choice;
    pie->GetAttribute("UseDequeueRateEstimator", choice);
    fact.Equal(choice.Get(), true, "once it is initialized too");

    auto red = MakeSojournDisc<SojournRedQueueDisc>({{"MaxSize", "90kB"}, {"LInterm", "20"}});
    red->SetAttribute("MinTh", DoubleValue(10000));
    red->SetAttribute("MaxTh", DoubleValue(30000));
    red->SetAttribute("Rate", StringValue("10Mbps"));
    red->Initialize();
    fact.Equal(red->GetParameter("min_th"), std::string("10kB"), "a number is in MaxSize's unit");
    DoubleValue number;
    red->GetAttribute("MaxTh", number);
    fact.Equal(number.Get(), 30000.0, "and is read as one");
    fact.Equal(red->GetParameter("max_p"), std::string("0.05"), "one over LInterm");
}

void
ReasonsHaveTheNamesOfNs3sDiscs(SojournFact& fact)
{
    const std::vector<std::pair<std::string, std::string>> same = {
        {SojournCoDelQueueDisc::TARGET_EXCEEDED_DROP, CoDelQueueDisc::TARGET_EXCEEDED_DROP},
        {SojournCoDelQueueDisc::OVERLIMIT_DROP, CoDelQueueDisc::OVERLIMIT_DROP},
        {SojournCoDelQueueDisc::TARGET_EXCEEDED_MARK, CoDelQueueDisc::TARGET_EXCEEDED_MARK},
        {SojournCoDelQueueDisc::CE_THRESHOLD_EXCEEDED_MARK,
         CoDelQueueDisc::CE_THRESHOLD_EXCEEDED_MARK},
        {SojournPieQueueDisc::UNFORCED_DROP, PieQueueDisc::UNFORCED_DROP},
        {SojournPieQueueDisc::FORCED_DROP, PieQueueDisc::FORCED_DROP},
        {SojournPieQueueDisc::UNFORCED_MARK, PieQueueDisc::UNFORCED_MARK},
        {SojournRedQueueDisc::FORCED_DROP, RedQueueDisc::FORCED_DROP},
        {SojournRedQueueDisc::FORCED_MARK, RedQueueDisc::FORCED_MARK},
        {SojournCobaltQueueDisc::FORCED_MARK, CobaltQueueDisc::FORCED_MARK},
        {SojournCobaltQueueDisc::TARGET_EXCEEDED_DROP, CobaltQueueDisc::TARGET_EXCEEDED_DROP},
        {SojournFqCoDelQueueDisc::UNCLASSIFIED_DROP, FqCoDelQueueDisc::UNCLASSIFIED_DROP},
        {SojournFqCoDelQueueDisc::OVERLIMIT_DROP, FqCoDelQueueDisc::OVERLIMIT_DROP},
        {SojournTailDropQueueDisc::LIMIT_EXCEEDED_DROP, FifoQueueDisc::LIMIT_EXCEEDED_DROP},
        {SojournFqCoDelQueueDisc::CHILD_QUEUE_DISC_DROP, QueueDisc::CHILD_QUEUE_DISC_DROP},
    };
    for (const auto& [ours, theirs] : same)
    {
        fact.Equal(ours, theirs, "a reason");
    }
}

/// @return deficit, list and number of a flow queue of either disc
template <typename F>
std::string
TurnOf(Ptr<F> flow)
{
    return std::to_string(flow->GetDeficit()) + " " + std::to_string(flow->GetStatus()) + " " +
           std::to_string(flow->GetIndex());
}

/// Packets, drops, marks and received packets of each class of a disc, its deficit, list and
/// number, as a text.
std::string
ClassesOf(Ptr<QueueDisc> disc)
{
    std::ostringstream text;
    for (std::size_t i = 0; i < disc->GetNQueueDiscClasses(); i++)
    {
        auto flow = disc->GetQueueDiscClass(i)->GetQueueDisc();
        const auto& stats = flow->GetStats();
        text << i << ": " << flow->GetNPackets() << " " << flow->GetNBytes() << " "
             << stats.nTotalReceivedPackets << " " << stats.nTotalDroppedPackets << " "
             << stats.nTotalMarkedPackets << " "
             << stats.GetNDroppedPackets(CoDelQueueDisc::TARGET_EXCEEDED_DROP) << " ";
        auto theirs = DynamicCast<FqCoDelFlow>(disc->GetQueueDiscClass(i));
        auto ours = DynamicCast<SojournFlow>(disc->GetQueueDiscClass(i));
        text << (theirs ? TurnOf(theirs) : TurnOf(ours)) << "\n";
    }
    return text.str();
}

void
FlowQueuesAreClasses(SojournFact& fact)
{
    auto disc = MakeSojournDisc<SojournFqCoDelQueueDisc>({{"MaxSize", "100p"}});
    disc->SetQuantum(1500);
    fact.Equal(disc->GetQuantum(), 1500U, "as FqCoDelQueueDisc has it");
    disc->Initialize();
    fact.Equal(disc->GetNQueueDiscClasses(), std::size_t{0}, "none before its first packet");
    for (uint32_t id = 0; id < 6; id++)
    {
        disc->Enqueue(Create<SojournTestItem>(id, id % 3, 1000, 0));
    }
    fact.Equal(disc->GetNQueueDiscClasses(), std::size_t{3}, "one for each flow");
    fact.Equal(disc->GetNInternalQueues(), std::size_t{0}, "and no other queue");
    for (std::size_t i = 0; i < 3; i++)
    {
        auto flow = disc->GetQueueDiscClass(i)->GetQueueDisc();
        fact.Equal(flow->GetNPackets(), 2U, "packets of a flow");
        fact.Equal(flow->GetInternalQueue(0)->GetNBytes(), 2000U, "in its queue");
        auto head = DynamicCast<const SojournTestItem>(flow->Peek());
        fact.Equal(SojournTestItem::Number(head), uint32_t(i), "in the order of their first ones");
    }
    disc->Dequeue();
    fact.Equal(disc->GetQueueDiscClass(0)->GetQueueDisc()->GetNPackets(), 1U, "one left");
    fact.Equal(disc->GetNPackets(), 5U, "of the disc too");
    auto flow = StaticCast<SojournFlow>(disc->GetQueueDiscClass(0));
    fact.Equal(flow->GetDeficit(), 500, "what it may still send");
    fact.Equal(flow->GetStatus() == SojournFlow::NEW_FLOW, true, "it is new");
    disc->Dispose();
    fact.Equal(flow->GetStatus() == SojournFlow::INACTIVE, true, "until the disc ends");
    auto plain = MakeSojournDisc({{"Aqm", "codel"}});
    plain->Initialize();
    fact.Equal(plain->GetNQueueDiscClasses(), std::size_t{0}, "one queue has no classes");
    fact.Equal(plain->GetNInternalQueues(), std::size_t{1}, "but an internal queue");
}

void
ClassesCountWhatNs3sOwnClassesCount(SojournFact& fact)
{
    for (const bool isEcn : {false, true})
    {
        SojournLoad load;
        load.flows = 5;
        load.offered = 2;
        load.seconds = 6;
        load.isEcn = isEcn;
        std::vector<std::string> counts;
        for (const std::string type : {"ns3::FqCoDelQueueDisc", "ns3::SojournFqCoDelQueueDisc"})
        {
            ObjectFactory factory(type);
            factory.Set("MaxSize", StringValue("300p"));
            if (type != "ns3::FqCoDelQueueDisc")
            {
                factory.Set("Dialect", StringValue("ns3"));
            }
            auto disc = factory.Create<QueueDisc>();
            if (auto theirs = DynamicCast<FqCoDelQueueDisc>(disc))
            {
                theirs->SetQuantum(1500);
            }
            std::string now;
            for (const double at : {0.001, 0.5, 1.0, 1.1, 2.5, 3.01, 3.9, 4.2})
            {
                Simulator::Schedule(Seconds(at), [&] { now += ClassesOf(disc); });
            }
            RunSojournLoad(disc, load);
            counts.push_back(now);
        }
        fact.Equal(counts[1], counts[0], "flow by flow");
        fact.Holds(counts[0].size() > 50, "there are five");
    }
}

/// An item without an IP header that counts how often it is marked.
class CountingItem : public QueueDiscItem
{
  public:
    /// @param packet the packet @param flow number of its flow
    CountingItem(Ptr<Packet> packet, uint32_t flow)
        : QueueDiscItem(packet, Address(), 0),
          m_flow(flow)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        m_marks++;
        return true;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    /// @return how often it was marked
    uint32_t GetMarks() const
    {
        return m_marks;
    }

  private:
    uint32_t m_flow;      //!< number of its flow
    uint32_t m_marks{0};  //!< how often it was marked
};

void
AnItemIsNotMarkedWithoutEcn(SojournFact& fact)
{
    for (const std::string aqm : {"codel", "pie", "red:min_th=1p,max_th=2p", "cobalt:ecn=false", "taildrop",
                                  "fq_codel:ecn=false", "blue", "pi2", "madpie"})
    {
        auto disc = MakeSojournDisc({{"Aqm", aqm}, {"MaxSize", "50p"}, {"Rate", "10Mbps"}});
        disc->Initialize();
        std::vector<Ptr<CountingItem>> items;
        for (uint32_t i = 0; i < 100; i++)
        {
            items.push_back(Create<CountingItem>(Create<Packet>(1000), i % 4));
            disc->Enqueue(items.back());
        }
        uint32_t marks = 0;
        for (const auto& item : items)
        {
            marks += item->GetMarks();
        }
        fact.Equal(marks, 0U, aqm);
        disc->Dispose();
    }
}

void
PacketsMayBeEmptyOrHuge(SojournFact& fact)
{
    for (const TypeId& tid :
         {SojournCoDelQueueDisc::GetTypeId(), SojournPieQueueDisc::GetTypeId(),
          SojournFqCoDelQueueDisc::GetTypeId(), SojournSfqQueueDisc::GetTypeId(),
          SojournRedQueueDisc::GetTypeId(), SojournCakeQueueDisc::GetTypeId(),
          SojournDualPi2QueueDisc::GetTypeId()})
    {
        for (const uint32_t bytes : {0U, 1U, 65535U, 500'000'000U})
        {
            ObjectFactory factory(tid.GetName());
            factory.Set("Rate", StringValue("10Mbps"));
            auto disc = factory.Create<QueueDisc>();
            disc->Initialize();
            const std::string what = tid.GetName() + " " + std::to_string(bytes);
            disc->Enqueue(Create<CountingItem>(Create<Packet>(bytes), 1));
            disc->Enqueue(Create<CountingItem>(Create<Packet>(100), 2));
            uint32_t left = 0;
            uint64_t sum = 0;
            while (auto item = disc->Dequeue())
            {
                left++;
                sum += item->GetSize();
            }
            const auto& stats = disc->GetStats();
            fact.Equal(left + stats.nTotalDroppedPackets, 2U, what + ": none is lost");
            sum += stats.nTotalDroppedBytes;
            fact.Equal(sum, uint64_t{bytes} + 100, what + ": nor a byte");
            disc->Dispose();
        }
    }
}

void
AnItemMayBeEnqueuedAgain(SojournFact& fact)
{
    for (const std::string aqm : {"codel", "fq_codel", "pie"})
    {
        auto disc = MakeSojournDisc({{"Aqm", aqm}});
        std::vector<Time> sojourns;
        disc->TraceConnectWithoutContext(
            "SojournTime",
            Callback<void, Time>([&](Time time) { sojourns.push_back(time); }));
        disc->Initialize();
        auto item = Create<SojournTestItem>(0, 0, 1000, 0);
        for (const int64_t at : {0, 10, 30})
        {
            Simulator::Schedule(MilliSeconds(at), [&] {
                disc->Enqueue(item);
                fact.Equal(item->GetTimeStamp(), Simulator::Now(), aqm + ": stamped on arrival");
            });
            Simulator::Schedule(MilliSeconds(at + 2), [&] {
                fact.Equal(PeekPointer(disc->Dequeue()) == PeekPointer(item), true, aqm);
            });
        }
        Simulator::Stop(MilliSeconds(50));
        Simulator::Run();
        fact.Equal(sojourns == std::vector<Time>(3, MilliSeconds(2)), true, aqm + ": 2 ms each");
        disc->Dispose();
        Simulator::Destroy();
    }
}

void
EveryTraceSourceCountsWhatTheStatisticsCount(SojournFact& fact)
{
    for (const std::string aqm : {"codel:ecn=true", "pie", "fq_codel", "dualpi2", "cake"})
    {
        auto disc = MakeSojournDisc({{"Aqm", aqm}, {"MaxSize", "60p"}, {"Rate", "10Mbps"}});
        std::map<std::string, uint32_t> seen;
        using Item = Ptr<const QueueDiscItem>;
        for (const std::string source : {"Enqueue", "Dequeue", "Requeue", "Drop"})
        {
            const bool isThere = disc->TraceConnect(
                source,
                source,
                Callback<void, std::string, Item>([&](std::string s, Item) { seen[s]++; }));
            fact.Equal(isThere, true, source);
        }
        for (const std::string source : {"DropBeforeEnqueue", "DropAfterDequeue", "Mark"})
        {
            const bool isThere = disc->TraceConnect(
                source,
                source,
                Callback<void, std::string, Item, const char*>(
                    [&](std::string s, Item, const char*) { seen[s]++; }));
            fact.Equal(isThere, true, source);
        }
        uint32_t packets = 0;
        uint32_t bytes = 0;
        disc->TraceConnectWithoutContext(
            "PacketsInQueue",
            Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t now) {
                packets = std::max(packets, now);
            }));
        disc->TraceConnectWithoutContext(
            "BytesInQueue",
            Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t now) {
                bytes = std::max(bytes, now);
            }));
        SojournLoad load;
        load.flows = 4;
        load.offered = 2;
        load.seconds = 4;
        load.ect1Share = aqm == "dualpi2" ? 0.5 : 0;
        load.isEcn = aqm != "pie";
        RunSojournLoad(disc, load);
        const auto& stats = disc->GetStats();
        fact.Equal(seen["Enqueue"], stats.nTotalEnqueuedPackets, aqm);
        fact.Equal(seen["Dequeue"], stats.nTotalDequeuedPackets, aqm);
        fact.Equal(seen["Requeue"], 0U, aqm);
        fact.Equal(seen["Drop"], stats.nTotalDroppedPackets, aqm);
        fact.Equal(seen["DropBeforeEnqueue"], stats.nTotalDroppedPacketsBeforeEnqueue, aqm);
        fact.Equal(seen["DropAfterDequeue"], stats.nTotalDroppedPacketsAfterDequeue, aqm);
        fact.Equal(seen["Mark"], stats.nTotalMarkedPackets, aqm);
        fact.Holds(packets > 10 && bytes == packets * 1000, aqm + ": the most that waited");
        std::ostringstream text;
        text << stats;
        fact.Holds(text.str().size() > 100, aqm + ": statistics can be printed");
    }
}

void
StateIsTracedInTheTypesOfNs3sDiscs(SojournFact& fact)
{
    auto codel = MakeSojournDisc<SojournCoDelQueueDisc>({{"MaxSize", "1000p"}});
    fact.Equal(codel->GetTarget(), MilliSeconds(5), "before it is initialized");
    fact.Equal(codel->GetInterval(), MilliSeconds(100), "likewise");
    fact.Equal(codel->GetDropNext(), 0U, "nothing is due");
    uint32_t count = 0;
    uint32_t next = 0;
    Time due;
    bool isDropping = false;
    double plain = 0;
    codel->TraceConnectWithoutContext(
        "Count",
        Callback<void, uint32_t, uint32_t>([&](uint32_t before, uint32_t after) {
            fact.Equal(before, count, "the value before");
            count = after;
        }));
    codel->TraceConnectWithoutContext(
        "Count",
        Callback<void, double, double>([&](double, double after) { plain = after; }));
    codel->TraceConnect("DropState",
                        "it",
                        Callback<void, std::string, bool, bool>(
                            [&](std::string context, bool before, bool after) {
                                fact.Equal(context, std::string("it"), "the context");
                                fact.Equal(before != after, true, "it changes");
                                isDropping = after;
                            }));
    codel->TraceConnectWithoutContext(
        "DropNext",
        Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t after) { next = after; }));
    codel->TraceConnectWithoutContext(
        "DropNext",
        Callback<void, Time, Time>([&](Time, Time after) { due = after; }));
    fact.Equal(codel->TraceConnectWithoutContext("Count", Callback<void, Time>([](Time) {})),
               false,
               "another type is refused");
    Simulator::Schedule(Seconds(2.9), [&] {
        fact.Holds(isDropping && count > 3 && plain == count, "an overload is being answered");
        fact.Equal(codel->GetDropNext(), next, "in units of 1024 ns");
        fact.Equal(next, static_cast<uint32_t>(due.GetNanoSeconds() >> 10), "or as a time");
        fact.Holds(due > Simulator::Now() - MilliSeconds(100), "not long ago");
    });
    SojournLoad load;
    load.offered = 2;
    load.seconds = 3;
    RunSojournLoad(codel, load);

    auto pie = MakeSojournDisc<SojournPieQueueDisc>({});
    fact.Equal(pie->GetQueueDelay(), Time(0), "of an empty queue");
    Simulator::Schedule(Seconds(2.9), [&] {
        fact.Holds(pie->GetQueueDelay() > MilliSeconds(1), "of a long one");
    });
    RunSojournLoad(pie, load);
}

/// How a function ends the program, and its message. @param function ends the program
std::pair<int, std::string>
EndOf(const std::function<void()>& function)
{
    int ends[2];
    NS_ABORT_MSG_IF(pipe(ends) != 0, "no pipe");
    const pid_t child = fork();
    if (child == 0)
    {
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char part[500];
    for (ssize_t size = 0; (size = read(ends[0], part, sizeof part)) > 0;)
    {
        said.append(part, size);
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, said};
}

void
MistakesEndWithASentence(SojournFact& fact)
{
    const auto item = [] { return Create<SojournTestItem>(0, 0, 1000, 0); };
    const auto sfq = MakeSojournDisc({{"Aqm", "sfq"}});
    sfq->Initialize();
    const std::map<std::string, std::function<void()>> mistakes = {
        {"is not initialized: call Initialize",
         [&] { MakeSojournDisc({{"Aqm", "codel"}})->Enqueue(item()); }},
        {"is not initialized",
         [&] {
             auto disc = MakeSojournDisc({{"Aqm", "codel"}});
             disc->Initialize();
             disc->Dispose();
             disc->Dequeue();
         }},
        {"brings its internal queue itself",
         [&] {
             auto disc = MakeSojournDisc({{"Aqm", "codel"}});
             disc->AddInternalQueue(CreateObject<DropTailQueue<QueueDiscItem>>());
             disc->Initialize();
         }},
        {"makes its classes itself",
         [&] {
             auto disc = MakeSojournDisc({{"Aqm", "fq_codel"}});
             auto flow = CreateObject<QueueDiscClass>();
             flow->SetQueueDisc(MakeSojournDisc({{"Aqm", "codel"}}));
             disc->AddQueueDiscClass(flow);
             disc->Initialize();
         }},
        {"MaxSize is part of this AQM",
         [&] {
             sfq->SetMaxSize(QueueSize("5p"));
             sfq->Enqueue(item());
         }},
        {"make a new disc for a new simulation",
         [&] {
             auto disc = MakeSojournDisc({{"Aqm", "codel"}});
             disc->Initialize();
             Simulator::Schedule(Seconds(1), [&] { disc->Enqueue(item()); });
             Simulator::Run();
             Simulator::Destroy();
             disc->Dequeue();
         }},
        {"has no flow queues for EnableSetAssociativeHash",
         [&] {
             MakeSojournDisc({{"Aqm", "codel"}, {"EnableSetAssociativeHash", "true"}})
                 ->Initialize();
         }},
        {"SetWays must divide that, and 8 does not",
         [&] {
             MakeSojournDisc({{"Aqm", "fq_codel:flows=10"}, {"EnableSetAssociativeHash", "true"}})
                 ->Initialize();
         }},
        {"is negative; it must be 0 or more",
         [&] { MakeSojournDisc<SojournPieQueueDisc>({{"Target", "-5ms"}})->Initialize(); }},
        {"`-1hz` must",
         [&] { MakeSojournDisc<SojournPieQueueDisc>({{"A", "-1"}})->Initialize(); }},
        {"did you mean `codel`", [&] { MakeSojournDisc({{"Aqm", "coddel"}})->Initialize(); }},
        {"enter a flow queue of a Sojourn queue disc through that disc",
         [&] {
             auto disc = MakeSojournDisc({{"Aqm", "fq_codel"}});
             disc->Initialize();
             disc->Enqueue(item());
             disc->GetQueueDiscClass(0)->GetQueueDisc()->Enqueue(item());
         }},
    };
    for (const auto& [sentence, mistake] : mistakes)
    {
        const auto [signal, said] = EndOf(mistake);
        fact.Equal(signal, SIGABRT, sentence + ": the program ends");
        fact.Holds(said.find(sentence) != std::string::npos, sentence + ": and says " + said);
    }
    sfq->Dispose();
}

void
PathsOfConfigLeadToOurs(SojournFact& fact)
{
    NodeContainer nodes(1);
    InternetStackHelper().Install(nodes);
    const auto devices = SimpleNetDeviceHelper().Install(nodes);
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::SojournCoDelQueueDisc",
                            "Target",
                            StringValue("7ms"),
                            "Mtu",
                            UintegerValue(1500));
    helper.SetQueueLimits("ns3::DynamicQueueLimits");
    auto disc = DynamicCast<SojournCoDelQueueDisc>(helper.Install(devices).Get(0));
    const std::string path =
        "/NodeList/*/$ns3::TrafficControlLayer/RootQueueDiscList/*/$ns3::SojournCoDelQueueDisc/";
    Config::Set(path + "Interval", TimeValue(MilliSeconds(70)));
    uint32_t enqueued = 0;
    uint32_t states = 0;
    const bool isThere = Config::ConnectWithoutContextFailSafe(
        path + "Enqueue",
        Callback<void, Ptr<const QueueDiscItem>>([&](Ptr<const QueueDiscItem>) { enqueued++; }));
    fact.Equal(isThere, true, "a trace source of every disc");
    const bool isOurs = Config::ConnectWithoutContextFailSafe(
        path + "Dropping",
        Callback<void, bool, bool>([&](bool, bool) { states++; }));
    fact.Equal(isOurs, true, "one of the AQM");
    disc->Initialize();
    fact.Equal(disc->GetParameter("target"), std::string("7ms"), "by the helper");
    fact.Equal(disc->GetParameter("interval"), std::string("70ms"), "by a path");
    auto queues = devices.Get(0)->GetObject<NetDeviceQueueInterface>();
    fact.Holds(queues->GetTxQueue(0)->GetQueueLimits() != nullptr, "byte limits below");
    Offer(disc, 5);
    fact.Equal(enqueued, 5U, "it is heard");
    for (const int64_t at : {1, 200, 400})
    {
        Simulator::Schedule(MilliSeconds(at), [&] { disc->Dequeue(); });
    }
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    fact.Holds(states > 0, "and what the AQM does");
}

void
ADiscMayBeginWhileTheSimulationRuns(SojournFact& fact)
{
    for (const std::string aqm : {"pie", "pi2", "dualpi2", "fq(pie)", "ared@linux", "cake"})
    {
        auto disc = MakeSojournDisc({{"Aqm", aqm}, {"Rate", "10Mbps"}});
        Simulator::Schedule(Seconds(1.0005), [&] {
            disc->Initialize();
            Offer(disc, 3);
            fact.Holds(disc->Dequeue() != nullptr, aqm);
        });
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        disc->Dispose(); // the next one begins at 3 s, and so on
    }
}

void
OnlyDiscsThatDrawTakeAStream(SojournFact& fact)
{
    const auto streams = [](const std::string& type) {
        const uint64_t first = RngSeedManager::GetNextStreamIndex();
        ObjectFactory(type).Create<QueueDisc>();
        return RngSeedManager::GetNextStreamIndex() - first - 1;
    };
    for (const auto& [theirs, ours] : SAME_AQM)
    {
        if (theirs == "ns3::FqPieQueueDisc" || theirs == "ns3::FqCobaltQueueDisc")
        {
            continue; // these take a stream for each new flow, ours a single stream
        }
        fact.Equal(streams(ours), streams(theirs), theirs);
    }
    fact.Equal(streams("ns3::SojournPi2QueueDisc"), uint64_t{1}, "PI2 draws");
    auto late = MakeSojournDisc({{"Aqm", "codel"}, {"MaxSize", "5p"}});
    late->SetAttribute("Aqm", StringValue("pie"));
    SojournLoad load;
    load.offered = 2;
    load.seconds = 3;
    fact.Holds(RunSojournLoad(late, load).drops > 10, "an AQM that is named later draws too");
}

void
AShaperWithoutAReceiverWaitsToBeAsked(SojournFact& fact)
{
    auto disc = MakeSojournDisc({{"Aqm", "cake:bandwidth=1mbit"}});
    disc->Initialize();
    Offer(disc, 3);
    fact.Holds(disc->Dequeue() != nullptr, "the first goes at once");
    fact.Holds(disc->Dequeue() == nullptr, "the next is held back");
    Simulator::Stop(MilliSeconds(50));
    Simulator::Run();
    fact.Equal(disc->GetNPackets(), 2U, "nobody is there to take it");
    fact.Holds(disc->Dequeue() != nullptr, "until somebody asks");
    disc->Dispose();
}

void
ADiscNeedsNoDevice(SojournFact& fact)
{
    auto disc = MakeSojournDisc({{"Aqm", "pie"}});
    disc->SetNetDeviceQueueInterface(nullptr);
    uint32_t sent = 0;
    disc->SetSendCallback([&](Ptr<QueueDiscItem>) { sent++; });
    disc->SetQuota(3);
    disc->Initialize();
    Offer(disc, 5);
    disc->Run();
    fact.Equal(sent, 3U, "as many as the quota");
    disc->Run();
    fact.Equal(sent, 5U, "then the others");
    disc->Dispose();

    auto idle = MakeSojournDisc({{"Aqm", "fq_codel"}});
    fact.Equal(idle->AssignStreams(5), int64_t{1}, "before it is initialized");
    idle->Dispose();
    fact.Equal(idle->AssignStreams(5), int64_t{1}, "after the end too");
    fact.Equal(idle->GetNPackets(), 0U, "a disc may end before it begins");
}

/// The suite.
SojournFacts g_sojournConventionsTestSuite(
    "sojourn-conventions",
    {
        {"a maximum size may be set by its method", AMaximumSizeMayBeSetByItsMethod},
        {"a maximum size may change while packets wait", AMaximumSizeMayChangeWhilePacketsWait},
        {"attributes have the names of ns-3's discs", AttributesHaveTheNamesOfNs3sDiscs},
        {"defaults of ns-3's discs are those of the dialect",
         DefaultsOfNs3sDiscsAreThoseOfTheDialect},
        {"numbers need not be round", NumbersNeedNotBeRound},
        {"a script for ns-3's discs configures ours", AScriptForNs3sDiscsConfiguresOurs},
        {"one parameter has one value under both names", OneParameterHasOneValueUnderBothNames},
        {"reasons have the names of ns-3's discs", ReasonsHaveTheNamesOfNs3sDiscs},
        {"flow queues are classes", FlowQueuesAreClasses},
        {"classes count what ns-3's own classes count", ClassesCountWhatNs3sOwnClassesCount},
        {"an item is not marked without ECN", AnItemIsNotMarkedWithoutEcn},
        {"packets may be empty or huge", PacketsMayBeEmptyOrHuge},
        {"an item may be enqueued again", AnItemMayBeEnqueuedAgain},
        {"every trace source counts what the statistics count",
         EveryTraceSourceCountsWhatTheStatisticsCount},
        {"state is traced in the types of ns-3's discs", StateIsTracedInTheTypesOfNs3sDiscs},
        {"mistakes end with a sentence", MistakesEndWithASentence},
        {"paths of Config lead to ours", PathsOfConfigLeadToOurs},
        {"a disc may begin while the simulation runs", ADiscMayBeginWhileTheSimulationRuns},
        {"only discs that draw take a stream", OnlyDiscsThatDrawTakeAStream},
        {"a shaper without a receiver waits to be asked", AShaperWithoutAReceiverWaitsToBeAsked},
        {"a disc needs no device", ADiscNeedsNoDevice},
    });

} // namespace
