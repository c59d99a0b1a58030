/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/*
 * Bulk TCP flows through one bottleneck, the topology of Tahiliani and Tewari 2017 (PI2) and of
 * RFC 7928 §3: sources and sinks on separate links, the AQM between two routers.
 *
 *   sources --(10 Mbit/s, 1 ms)-- router ==(10 Mbit/s, 38 ms)== router --(10 Mbit/s, 1 ms)-- sinks
 *
 *   sojourn-dumbbell --aqm=pi2
 *   sojourn-dumbbell --disc=ns3::PieQueueDisc --flows=50
 *   sojourn-dumbbell --disc=ns3::SojournMadPieQueueDisc --tcp=ns3::TcpCubic --ecn=true
 *
 * It prints what arrived, was dropped and was marked at the bottleneck, the reasons, the queue
 * delay, and the throughput.
 */

#include "ns3/application-container.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/sojourn-queue-disc.h"
#include "ns3/sojourn-queue-discs.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{

/// Delay of the links of sources and sinks.
const Time ACCESS_DELAY = MilliSeconds(1);

/// The options; defaults are those of Tahiliani and Tewari 2017, scenario 1.
struct Options
{
    std::string aqm{"pi2"};               //!< AQM as text; empty: `disc`
    std::string disc;                     //!< type of a queue disc
    std::string tcp{"ns3::TcpNewReno"};   //!< congestion control
    std::string rate{"10Mbps"};           //!< of the bottleneck
    std::string maxSize{"200kB"};         //!< of the queue disc
    std::string access{"10Mbps"};         //!< rate of the links of sources and sinks
    Time rtt{MilliSeconds(80)};           //!< without queues
    uint32_t flows{5};                    //!< number of bulk transfers
    bool ecn{false};                      //!< whether they negotiate ECN
    bool coarse{false};                   //!< whether time is counted in microseconds
    bool fine{false};                     //!< whether time is counted in picoseconds
    double seconds{99};                   //!< how long they send
};

Options
Parse(int argc, char* argv[])
{
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("aqm", "AQM as text, such as pi2:target=15ms", options.aqm);
    cmd.AddValue("disc", "type of a queue disc, in place of --aqm", options.disc);
    cmd.AddValue("tcp", "type of the congestion control", options.tcp);
    cmd.AddValue("rate", "rate of the bottleneck", options.rate);
    cmd.AddValue("maxSize", "limit of the queue disc", options.maxSize);
    cmd.AddValue("access", "rate of the links of sources and sinks", options.access);
    cmd.AddValue("rtt", "round-trip time without queues", options.rtt);
    cmd.AddValue("flows", "number of bulk transfers", options.flows);
    cmd.AddValue("ecn", "whether they negotiate ECN", options.ecn);
    cmd.AddValue("seconds", "how long they send", options.seconds);
    cmd.AddValue("coarse", "count time in microseconds, which our discs refuse", options.coarse);
    cmd.AddValue("fine", "count time in picoseconds", options.fine);
    cmd.Parse(argc, argv);
    if (options.coarse || options.fine)
    {
        Time::SetResolution(options.coarse ? Time::US : Time::PS);
    }
    return options;
}

/// The disc at the bottleneck.
TrafficControlHelper
HelperFor(const Options& options)
{
    TrafficControlHelper helper;
    const std::string type = options.disc.empty() ? "ns3::SojournQueueDisc" : options.disc;
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(type, &tid))
    {
        NS_FATAL_ERROR("There is no queue disc `" << type << "`; ns3::SojournPi2QueueDisc is one");
    }
    helper.SetRootQueueDisc(type, "MaxSize", StringValue(options.maxSize));
    if (options.disc.empty())
    {
        Config::SetDefault("ns3::SojournQueueDisc::Aqm", StringValue(options.aqm));
    }
    if (tid.IsChildOf(SojournAqmQueueDisc::GetTypeId()))
    {
        Config::SetDefault(type + "::Rate", StringValue(options.rate));
    }
    return helper;
}

void
Report(const Options& options, Ptr<QueueDisc> disc, std::vector<double>& delays, uint64_t received)
{
    const QueueDisc::Stats& stats = disc->GetStats();
    std::cout << "received " << stats.nTotalReceivedPackets << ", dropped "
              << stats.nTotalDroppedPackets << ", marked " << stats.nTotalMarkedPackets << "\n";
    for (const auto& reasons : {stats.nDroppedPacketsBeforeEnqueue,
                                stats.nDroppedPacketsAfterDequeue,
                                stats.nMarkedPackets})
    {
        for (const auto& [reason, count] : reasons)
        {
            std::cout << "  " << reason << ": " << count << "\n";
        }
    }
    std::sort(delays.begin(), delays.end());
    double sum = 0;
    for (double delay : delays)
    {
        sum += delay;
    }
    const std::size_t count = delays.size();
    if (count > 0)
    {
        std::cout << "queue delay: mean " << sum / count * 1e3 << " ms, median "
                  << delays[count / 2] * 1e3 << " ms, 99 % below " << delays[count * 99 / 100] * 1e3
                  << " ms\n";
    }
    std::cout << "goodput " << received * 8 / options.seconds / 1e6 << " Mbit/s, events "
              << Simulator::GetEventCount() << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    const Options options = Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(options.tcp));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(options.ecn ? "On" : "Off"));
    TrafficControlHelper traffic = HelperFor(options);

    NodeContainer routers(2);
    NodeContainer sources(options.flows);
    NodeContainer sinks(options.flows);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue(options.access));
    access.SetChannelAttribute("Delay", TimeValue(ACCESS_DELAY));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(options.rate));
    bottleneck.SetChannelAttribute("Delay", TimeValue(options.rtt / 2 - 2 * ACCESS_DELAY));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

    NetDeviceContainer link = bottleneck.Install(routers);
    Ptr<QueueDisc> disc = traffic.Install(link.Get(0)).Get(0);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(link);
    std::vector<Ptr<PacketSink>> received;
    for (uint32_t i = 0; i < options.flows; i++)
    {
        addresses.NewNetwork();
        addresses.Assign(access.Install(sources.Get(i), routers.Get(0)));
        addresses.NewNetwork();
        const auto ends = addresses.Assign(access.Install(routers.Get(1), sinks.Get(i)));
        const InetSocketAddress to(ends.GetAddress(1), 5000);
        PacketSinkHelper sink("ns3::TcpSocketFactory", to);
        received.push_back(DynamicCast<PacketSink>(sink.Install(sinks.Get(i)).Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", to);
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        ApplicationContainer sender = bulk.Install(sources.Get(i));
        sender.Start(MilliSeconds(20 * i));
        sender.Stop(Seconds(options.seconds));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<double> delays;
    disc->TraceConnectWithoutContext("SojournTime", Callback<void, Time>([&](Time delay) {
                                         delays.push_back(delay.GetSeconds());
                                     }));
    const auto start = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(options.seconds));
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    uint64_t bytes = 0;
    for (const auto& sink : received)
    {
        bytes += sink->GetTotalRx();
    }
    Report(options, disc, delays, bytes);
    std::cerr << "wall time " << wall.count() << " s\n";
    Simulator::Destroy();
    return 0;
}
