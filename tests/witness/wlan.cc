// The ns-3 side of the tables in docs/how-to/wlan.md: stations of 802.11g, or of 802.11b, send
// datagrams without pause to an access point. Prints JSON, one line per station: goodput in Mbit/s,
// mean delay in ms, and the percentage of its frames at each rate.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

static const double START_S = 2;
static const double TX_DBM = 16;
// Thermal noise of 20 MHz at 290 K, and ns-3's noise figure of 7 dB.
static const double NOISE_DBM = -93.97;
static const uint32_t PAYLOAD = 1472;

struct Station
{
    std::string rate;
    double snr;
    uint64_t received = 0;
    double delay = 0;
    uint64_t frames = 0;
    std::map<uint64_t, uint64_t> byRate;
};

static std::vector<Station> g_stations;

// The mode of a constant rate in Mbit/s: `54` of 802.11g, `11b` of 802.11b.
static std::string
Mode(std::string rate)
{
    if (rate.back() != 'b')
    {
        return "ErpOfdmRate" + rate + "Mbps";
    }
    rate.pop_back();
    std::replace(rate.begin(), rate.end(), '.', '_');
    return "DsssRate" + rate + "Mbps";
}

static void
Received(uint32_t index, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        SeqTsHeader stamp;
        packet->PeekHeader(stamp);
        if (stamp.GetTs().GetSeconds() >= START_S)
        {
            g_stations[index].received++;
            g_stations[index].delay += (Simulator::Now() - stamp.GetTs()).GetSeconds();
        }
    }
}

static void
Sent(uint32_t index, Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    if (packet->GetSize() > PAYLOAD && Simulator::Now().GetSeconds() >= START_S)
    {
        g_stations[index].frames++;
        g_stations[index].byRate[vector.GetMode().GetDataRate(MHz_u{20})]++;
    }
}

int
main(int argc, char* argv[])
{
    std::string list = "54:60";
    double seconds = 20;
    uint32_t seed = 1;
    uint32_t queue = 50;
    CommandLine cmd;
    cmd.AddValue("stations", "rate:snr of each, rate in Mbit/s, with a `b` of 802.11b, or `minstrel`",
                 list);
    cmd.AddValue("seconds", "that are counted", seconds);
    cmd.AddValue("seed", "", seed);
    cmd.AddValue("queue", "packets at each station", queue);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
    {
        const auto colon = word.find(':');
        Station station;
        station.rate = word.substr(0, colon);
        station.snr = std::stod(word.substr(colon + 1));
        g_stations.push_back(station);
    }
    Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                       StringValue(std::to_string(queue) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", StringValue("10s"));
    NodeContainer stations(g_stations.size());
    NodeContainer access(1);
    NodeContainer all(access, stations);
    MobilityHelper().Install(all);
    auto loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(TX_DBM - NOISE_DBM - 60);
    for (uint32_t i = 0; i < g_stations.size(); i++)
    {
        loss->SetLoss(stations.Get(i)->GetObject<MobilityModel>(),
                      access.Get(0)->GetObject<MobilityModel>(),
                      TX_DBM - NOISE_DBM - g_stations[i].snr);
    }
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(TX_DBM));
    phy.Set("TxPowerEnd", DoubleValue(TX_DBM));
    WifiHelper wifi;
    const bool isB = g_stations[0].rate.back() == 'b';
    wifi.SetStandard(isB ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "BeaconInterval", TimeValue(MicroSeconds(1024000)));
    NetDeviceContainer devices = wifi.Install(phy, mac, access);
    mac.SetType("ns3::StaWifiMac");
    for (uint32_t i = 0; i < g_stations.size(); i++)
    {
        const std::string& rate = g_stations[i].rate;
        if (rate == "minstrel")
        {
            wifi.SetRemoteStationManager("ns3::MinstrelWifiManager");
        }
        else
        {
            wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                         "DataMode",
                                         StringValue(Mode(rate)));
        }
        auto device = wifi.Install(phy, mac, stations.Get(i));
        DynamicCast<WifiNetDevice>(device.Get(0))
            ->GetPhy()
            ->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&Sent).Bind(i));
        devices.Add(device);
    }
    InternetStackHelper().Install(all);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    for (uint32_t i = 0; i < g_stations.size(); i++)
    {
        const uint16_t port = 5000 + i;
        auto sink = Socket::CreateSocket(access.Get(0), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(MakeCallback(&Received).Bind(i));
        UdpClientHelper client(interfaces.GetAddress(0), port);
        client.SetAttribute("MaxPackets", UintegerValue(0));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(300)));
        client.SetAttribute("PacketSize", UintegerValue(PAYLOAD));
        client.Install(stations.Get(i)).Start(Seconds(1) + MicroSeconds(37 * i));
    }
    Simulator::Stop(Seconds(START_S + seconds));
    Simulator::Run();
    for (const auto& station : g_stations)
    {
        std::cout << "{\"goodput\": " << station.received * PAYLOAD * 8e-6 / seconds
                  << ", \"delay\": " << 1e3 * station.delay / station.received
                  << ", \"rates\": {";
        const char* between = "";
        for (const auto& [rate, count] : station.byRate)
        {
            std::cout << between << "\"" << rate * 1e-6
                      << "\": " << 100.0 * count / station.frames;
            between = ", ";
        }
        std::cout << "}}\n";
    }
    return 0;
}
