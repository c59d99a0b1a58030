// The ns-3 side of dumbbell.txt: bulk TCP flows over a dumbbell of 10 Mbit/s and 100 ms.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

static uint64_t g_sent = 0;

static void
Sent(Ptr<const Packet> packet)
{
    g_sent += packet->GetSize();
}

int
main(int argc, char* argv[])
{
    uint32_t flows = 5;
    uint32_t seed = 1;
    uint32_t buffer = 200000;
    uint32_t initial = 2;
    uint32_t delack = 1;
    uint32_t window = 131072;
    double duration = 100;
    std::string queue = "Fifo";
    std::string minRto = "200ms";
    std::string cc = "TcpNewReno";
    std::string recovery = "TcpClassicRecovery";
    bool sack = false;
    CommandLine cmd;
    cmd.AddValue("flows", "", flows);
    cmd.AddValue("seed", "", seed);
    cmd.AddValue("buffer", "", buffer);
    cmd.AddValue("initial", "", initial);
    cmd.AddValue("delack", "", delack);
    cmd.AddValue("window", "", window);
    cmd.AddValue("duration", "", duration);
    cmd.AddValue("queue", "", queue);
    cmd.AddValue("minRto", "", minRto);
    cmd.AddValue("cc", "", cc);
    cmd.AddValue("recovery", "", recovery);
    cmd.AddValue("sack", "", sack);
    cmd.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + cc));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::" + recovery));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(minRto));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(946));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initial));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delack));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", StringValue("150ms"));
    Config::SetDefault("ns3::PieQueueDisc::QueueDelayReference", StringValue("15ms"));

    Ptr<Node> left = CreateObject<Node>();
    Ptr<Node> right = CreateObject<Node>();
    NodeContainer senders;
    NodeContainer receivers;
    senders.Create(flows);
    receivers.Create(flows);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper middle;
    middle.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    middle.SetChannelAttribute("Delay", StringValue("38ms"));
    middle.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    auto link = middle.Install(left, right);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::" + queue + "QueueDisc",
                             "MaxSize",
                             StringValue(std::to_string(buffer) + "B"));
    auto disc = control.Install(link.Get(0)).Get(0);
    TrafficControlHelper back;
    back.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
    back.Install(link.Get(1));
    link.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("6ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    Ipv4AddressHelper address("10.1.0.0", "255.255.255.0");
    address.Assign(link);
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        auto first = access.Install(senders.Get(i), left);
        auto last = access.Install(right, receivers.Get(i));
        address.NewNetwork();
        address.Assign(first);
        address.NewNetwork();
        auto ends = address.Assign(last);
        TrafficControlHelper none;
        none.Uninstall(first);
        none.Uninstall(last);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sinks.Add(sink.Install(receivers.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 5000));
        bulk.SetAttribute("SendSize", UintegerValue(946));
        bulk.Install(senders.Get(i)).Start(Seconds(start->GetValue(0, 1)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    auto stats = disc->GetStats();
    uint64_t received = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        received += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    std::cout << "drops " << stats.nTotalDroppedPackets << " of "
              << stats.nTotalReceivedPackets << " utilisation " << g_sent * 8.0 / duration / 1e7
              << " goodput " << received * 8.0 / duration / 1e6 << std::endl;
    return 0;
}
