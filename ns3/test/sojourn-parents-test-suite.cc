/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Our discs below ns-3's classful ones: a band of PrioQueueDisc, a transmission queue of
 * MqQueueDisc.
 */

#include "sojourn-test-driver.h"
#include "sojourn-test-fact.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node-container.h"
#include "ns3/packet-filter.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace
{

/// The band is the number of the packet, modulo the number of bands.
class ByNumber : public PacketFilter
{
  public:
    /// @param bands their number
    explicit ByNumber(uint32_t bands)
        : m_bands(bands)
    {
    }

  private:
    bool CheckProtocol(Ptr<QueueDiscItem>) const override
    {
        return true;
    }

    int32_t DoClassify(Ptr<QueueDiscItem> item) const override
    {
        return static_cast<int32_t>(SojournTestItem::Number(item) % m_bands);
    }

    uint32_t m_bands; //!< number of bands
};

/// @return a PrioQueueDisc with a band for each AQM
Ptr<QueueDisc>
Prio(const std::vector<std::string>& aqms)
{
    ObjectFactory factory("ns3::PrioQueueDisc");
    auto parent = factory.Create<QueueDisc>();
    for (const auto& aqm : aqms)
    {
        auto band = CreateObject<QueueDiscClass>();
        band->SetQueueDisc(MakeSojournDisc({{"Aqm", aqm}, {"MaxSize", "200p"}}));
        parent->AddQueueDiscClass(band);
    }
    parent->AddPacketFilter(Create<ByNumber>(aqms.size()));
    return parent;
}

void
APriorityGoesFirst(SojournFact& fact)
{
    auto parent = Prio({"codel", "fq_codel"});
    parent->Initialize();
    for (uint32_t id = 0; id < 6; id++)
    {
        parent->Enqueue(Create<SojournTestItem>(id, 0, 1000, 0));
    }
    std::vector<uint32_t> order;
    while (auto item = parent->Dequeue())
    {
        order.push_back(SojournTestItem::Number(item));
    }
    const std::vector<uint32_t> wanted = {0, 2, 4, 1, 3, 5};
    fact.Equal(order == wanted, true, "the even ones, then the odd");
    parent->Dispose();
}

void
AParentCountsWhatItsBandsDrop(SojournFact& fact)
{
    for (const std::string aqm : {"pi2", "pie", "codel", "fq_codel:ecn=false", "cobalt"})
    {
        auto parent = Prio({"taildrop", aqm});
        std::vector<Ptr<QueueDisc>> bands;
        for (std::size_t band = 0; band < parent->GetNQueueDiscClasses(); band++)
        {
            bands.push_back(parent->GetQueueDiscClass(band)->GetQueueDisc());
        }
        SojournLoad load;
        load.offered = 2;
        load.seconds = 6;
        RunSojournLoad(parent, load);
        const auto& stats = parent->GetStats();
        uint64_t dropped = 0;
        uint64_t received = 0;
        for (const auto& band : bands)
        {
            dropped += band->GetStats().nTotalDroppedPackets;
            received += band->GetStats().nTotalReceivedPackets;
        }
        fact.Holds(bands[1]->GetStats().nTotalDroppedPackets > 100, aqm + ": it is overloaded");
        fact.Equal(uint64_t{stats.nTotalDroppedPackets}, dropped, aqm + ": drops of its bands");
        fact.Equal(uint64_t{stats.nTotalReceivedPackets}, received, aqm + ": each packet once");
        fact.Equal(stats.nTotalReceivedPackets,
                   stats.nTotalDroppedPacketsBeforeEnqueue + stats.nTotalEnqueuedPackets,
                   aqm + ": received");
        fact.Equal(stats.nTotalEnqueuedPackets, stats.nTotalDequeuedPackets, aqm + ": all leave");
    }
}

void
EveryTransmissionQueueHasItsOwn(SojournFact& fact)
{
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    SimpleNetDeviceHelper plain;
    plain.DisableFlowControl(); // its queue interface has one queue
    auto device = plain.Install(nodes).Get(0);
    auto queues = CreateObjectWithAttributes<NetDeviceQueueInterface>(
        "NTxQueues", UintegerValue(2));
    queues->SetSelectQueueCallback([](Ptr<QueueItem> item) -> std::size_t {
        return SojournTestItem::Number(item) % 2;
    });
    device->AggregateObject(queues);
    TrafficControlHelper helper;
    const uint16_t handle = helper.SetRootQueueDisc("ns3::MqQueueDisc");
    const auto classes = helper.AddQueueDiscClasses(handle, 2, "ns3::QueueDiscClass");
    helper.AddChildQueueDiscs(handle, classes, "ns3::SojournQueueDisc", "Aqm", StringValue("pi2"));
    auto root = helper.Install(device).Get(0);
    auto control = nodes.Get(0)->GetObject<TrafficControlLayer>();
    control->Initialize();
    root->Initialize();
    uint32_t sent = 0;
    for (std::size_t i = 0; i < 2; i++)
    {
        root->GetQueueDiscClass(i)->GetQueueDisc()->SetSendCallback(
            [&sent](Ptr<QueueDiscItem>) { sent++; });
    }
    queues->GetTxQueue(0)->Stop();
    queues->GetTxQueue(1)->Stop();
    for (uint32_t id = 0; id < 5; id++)
    {
        control->Send(device, Create<SojournTestItem>(id, 0, 1000, 0));
    }
    const auto stats = [&](std::size_t i) {
        return root->GetQueueDiscClass(i)->GetQueueDisc()->GetStats();
    };
    fact.Equal(stats(0).nTotalReceivedPackets, 3U, "the even ones wait for the first queue");
    fact.Equal(stats(1).nTotalReceivedPackets, 2U, "the odd ones for the second");
    fact.Equal(sent, 0U, "both are closed");
    queues->GetTxQueue(1)->Wake();
    Simulator::Stop(MicroSeconds(1)); // ns-3.37 sends by an event
    Simulator::Run();
    fact.Equal(sent, 2U, "what is open sends");
    // QueueDisc::DequeuePacket takes a packet, finds its queue closed, and keeps it.
    fact.Equal(stats(0).nTotalDequeuedPackets, 1U, "the other keeps its next packet");
}

/// The suite.
SojournFacts g_sojournParentsTestSuite(
    "sojourn-parents",
    {
        {"a priority goes first", APriorityGoesFirst},
        {"a parent counts what its bands drop", AParentCountsWhatItsBandsDrop},
        {"every transmission queue has its own", EveryTransmissionQueueHasItsOwn},
    });

} // namespace
