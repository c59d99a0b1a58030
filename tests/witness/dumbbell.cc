// The ns-3 side of dumbbell.txt and of docs/evidence/tcp-witness.md: bulk TCP flows over a dumbbell
// of 10 Mbit/s and 100 ms. With --trace, flows start every 0.2 s over access links whose delays
// differ by 11.3 us, as in crates/sim/testdata/witness/trace.toml, and every arrival of a SYN or of
// data at the link's queue is written; with --drops, a file names the arrivals that are dropped.
#include "../../ns3/runner/holds.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>
#include <set>

using namespace ns3;

static uint64_t g_sent = 0;
static const uint16_t FIRST_PORT = 5000;
// With headers of IP, TCP and PPP and timestamps, packets have 1000 bytes.
static const uint32_t PAYLOAD = 946;

// The line `time flow number` of a SYN, which is number 0, or of data; false for an
// acknowledgement.
static bool
Describe(Ptr<const QueueDiscItem> item, uint32_t payload, std::ostream& line)
{
    TcpHeader header;
    uint32_t read = item->GetPacket()->PeekHeader(header);
    bool isSyn = header.GetFlags() & TcpHeader::SYN;
    if (!isSyn && item->GetPacket()->GetSize() == read)
    {
        return false;
    }
    uint32_t number = isSyn ? 0 : (header.GetSequenceNumber().GetValue() - 1) / payload + 1;
    line << Simulator::Now().GetNanoSeconds() << " " << header.GetDestinationPort() - FIRST_PORT
         << " " << number;
    return true;
}

// A queue that drops the named arrivals, and no others.
class ListedDrops : public QueueDisc
{
  public:
    std::set<uint64_t> places;
    std::ofstream trace;
    uint32_t payload = 0;

    static TypeId
    GetTypeId()
    {
        static TypeId tid =
            TypeId("ListedDrops").SetParent<QueueDisc>().AddConstructor<ListedDrops>();
        return tid;
    }

  private:
    uint64_t m_arrived = 0;

    bool
    DoEnqueue(Ptr<QueueDiscItem> item) override
    {
        if (!Describe(item, payload, trace))
        {
            // The last packet of a handshake, which ns-2 and our TCP do not send, because data
            // follow at once.
            DropBeforeEnqueue(item, "acknowledgement");
            return false;
        }
        bool isListed = places.count(m_arrived++) > 0;
        trace << " " << isListed << "\n";
        if (isListed)
        {
            DropBeforeEnqueue(item, "listed");
            return false;
        }
        return GetInternalQueue(0)->Enqueue(item);
    }

    Ptr<QueueDiscItem>
    DoDequeue() override
    {
        return GetInternalQueue(0)->Dequeue();
    }

    bool
    CheckConfig() override
    {
        AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
            "MaxSize", StringValue("1000000p")));
        return true;
    }

    void
    InitializeParams() override
    {
    }
};

NS_OBJECT_ENSURE_REGISTERED(ListedDrops);

// NewReno without the error of ns-3.44 in repeated timeouts, with a name for sockets.
class HoldsThreshold : public sojourn::Holds<TcpNewReno>
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::HoldsThreshold").SetParent<TcpNewReno>().AddConstructor<HoldsThreshold>();
        return tid;
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<HoldsThreshold>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(HoldsThreshold);

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
    std::string trace;
    std::string drops;
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
    cmd.AddValue("trace", "where to write arrivals at the queue", trace);
    cmd.AddValue("drops", "file with the numbers of the arrivals to drop", drops);
    cmd.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + cc));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::" + recovery));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(minRto));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
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
    if (trace.empty())
    {
        control.SetRootQueueDisc("ns3::" + queue + "QueueDisc",
                                 "MaxSize",
                                 StringValue(std::to_string(buffer) + "B"));
    }
    else
    {
        control.SetRootQueueDisc("ListedDrops");
    }
    auto disc = control.Install(link.Get(0)).Get(0);
    if (auto listed = DynamicCast<ListedDrops>(disc))
    {
        std::ifstream places(drops);
        listed->places.insert(std::istream_iterator<uint64_t>(places), {});
        listed->trace.open(trace);
        listed->payload = PAYLOAD;
    }
    TrafficControlHelper back;
    back.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
    back.Install(link.Get(1));
    link.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    Ipv4AddressHelper address("10.1.0.0", "255.255.255.0");
    address.Assign(link);
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        Time apart = trace.empty() ? Time(0) : NanoSeconds(11300) * i;
        access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(6) + apart));
        auto first = access.Install(senders.Get(i), left);
        access.SetChannelAttribute("Delay", StringValue("6ms"));
        auto last = access.Install(right, receivers.Get(i));
        address.NewNetwork();
        address.Assign(first);
        address.NewNetwork();
        auto ends = address.Assign(last);
        TrafficControlHelper none;
        none.Uninstall(first);
        none.Uninstall(last);
        uint16_t port = FIRST_PORT + i;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(receivers.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), port));
        bulk.SetAttribute("SendSize", UintegerValue(PAYLOAD));
        Time at = trace.empty() ? Seconds(start->GetValue(0, 1)) : MilliSeconds(200) * i;
        bulk.Install(senders.Get(i)).Start(at);
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
