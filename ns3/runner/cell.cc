/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cell.h"

#include "clock.h"
#include "network.h"

#include "ns3/boolean.h"
#include "ns3/constant-rate-wifi-manager.h"
#include "ns3/double.h"
#include "ns3/erp-ofdm-phy.h"
#include "ns3/error-model.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/llc-snap-header.h"
#include "ns3/mobility-helper.h"
#include "ns3/mobility-model.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-psdu.h"
#include "ns3/yans-wifi-helper.h"

#include <cmath>
#include <fstream>
#include <map>

using namespace ns3;

namespace sojourn
{

namespace
{

constexpr double TX_DBM = 16;
/// Thermal noise of 20 MHz at 290 K, and the noise figure of 7 dB that ns-3's `WifiPhy` has.
constexpr double NOISE_DBM = -93.97;
/// Loss between stations, which only need to hear each other.
constexpr double BETWEEN_STATIONS_DB = 60;
/// One beacon per 1024 time units of 1024 us takes little of the medium.
const Time BEACON_INTERVAL = MicroSeconds(1024 * 1000);
/// LLC and SNAP headers in the frame of a packet.
constexpr uint32_t LLC_BYTES = 8;
constexpr uint64_t RATE_UNIT = 100'000;

/// Loss to the receiver at which a signal is a given number of decibels above the noise.
double
LossFor(double snrDb)
{
    return TX_DBM - NOISE_DBM - snrDb;
}

/// A constant rate per station; ns-3's manager has one for all.
class StationRates : public ConstantRateWifiManager
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId tid = TypeId("sojourn::StationRates")
                                .SetParent<ConstantRateWifiManager>()
                                .AddConstructor<StationRates>();
        return tid;
    }

    std::map<Mac48Address, WifiMode> rates; //!< of frames to each

  private:
    WifiTxVector
    DoGetDataTxVector(WifiRemoteStation* station, MHz_u allowedWidth) override
    {
        const auto found = rates.find(station->m_state->m_address);
        if (found == rates.end())
        {
            NS_FATAL_ERROR("a frame goes to " << station->m_state->m_address
                                              << ", which is not a station of the cell");
        }
        WifiTxVector vector;
        vector.SetMode(found->second);
        vector.SetTxPowerLevel(GetDefaultTxPowerLevel());
        vector.SetPreambleType(WIFI_PREAMBLE_LONG);
        vector.SetChannelWidth(allowedWidth);
        return vector;
    }
};

NS_OBJECT_ENSURE_REGISTERED(StationRates);

/// The index of a host's router (`Network::AddSender`, `AddReceivers`).
uint32_t
PlaceOf(const Instructions& run, Ipv4Address host)
{
    const uint32_t network = (host.Get() & 0xffff) / 4;
    const bool isSender = host.Get() & 1 << 23;
    const GroupWanted& group = run.groups.at(isSender ? run.flows.at(network).group : network);
    return isSender ? group.forward : group.reverse;
}

/// Loses frames with packets, whatever their rate. It gets the content of a frame, without the MAC
/// header.
class StationErrors : public ErrorModel
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId tid =
            TypeId("sojourn::StationErrors").SetParent<ErrorModel>().AddConstructor<StationErrors>();
        return tid;
    }

    const Instructions* run{nullptr}; //!< with the share of each station

  private:
    bool
    DoCorrupt(Ptr<Packet> packet) override
    {
        LlcSnapHeader llc;
        Ipv4Header ip;
        if (packet->GetSize() < llc.GetSerializedSize() + ip.GetSerializedSize())
        {
            return false;
        }
        packet->RemoveHeader(llc);
        if (llc.GetType() != Ipv4L3Protocol::PROT_NUMBER)
        {
            return false;
        }
        packet->RemoveHeader(ip);
        // One end is behind the access point, whose index is 0.
        const uint32_t station =
            std::max(PlaceOf(*run, ip.GetSource()), PlaceOf(*run, ip.GetDestination()));
        return m_uniform->GetValue() < run->links[station].radio.errorRate;
    }

    void
    DoReset() override
    {
    }

    Ptr<UniformRandomVariable> m_uniform{CreateObject<UniformRandomVariable>()}; //!< draws
};

NS_OBJECT_ENSURE_REGISTERED(StationErrors);

Ptr<WifiMacQueue>
QueueOf(Ptr<WifiNetDevice> device)
{
    return device->GetMac()->GetTxopQueue(AC_BE_NQOS);
}

WifiMode
ModeOf(const std::string& megabits)
{
    return ErpOfdmPhy::GetErpOfdmRate(std::stoull(megabits) * 1'000'000);
}

} // namespace

Cell::Cell(const Instructions& run, const NodeContainer& nodes)
    : m_run(run),
      m_last(nodes.GetN(), SIZE_MAX)
{
    MobilityHelper().Install(nodes);
    auto loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(LossFor(BETWEEN_STATIONS_DB));
    for (uint32_t i = 1; i < nodes.GetN(); i++)
    {
        loss->SetLoss(nodes.Get(0)->GetObject<MobilityModel>(),
                      nodes.Get(i)->GetObject<MobilityModel>(),
                      LossFor(10 * std::log10(run.links[i].radio.snr)));
    }
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    m_channel = channel;
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        Install(i, nodes.Get(i));
    }
    SetRates();
    SetErrors();
    for (uint16_t i = 0; i < m_devices.size(); i++)
    {
        Watch(i);
    }
    Simulator::Schedule(Until(0) - NanoSeconds(1), &Cell::RequireStations, this);
}

const std::vector<Ptr<WifiNetDevice>>&
Cell::Devices() const
{
    return m_devices;
}

void
Cell::Install(uint32_t place, Ptr<Node> node)
{
    YansWifiPhyHelper phy;
    phy.SetChannel(m_channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(TX_DBM));
    phy.Set("TxPowerEnd", DoubleValue(TX_DBM));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    // Either all stations use Minstrel, or none.
    const bool isMinstrel = m_run.links[1].radio.rate == "minstrel";
    wifi.SetRemoteStationManager(isMinstrel ? "ns3::MinstrelWifiManager" : "sojourn::StationRates");
    WifiMacHelper mac;
    if (place == 0)
    {
        mac.SetType("ns3::ApWifiMac", "BeaconInterval", TimeValue(BEACON_INTERVAL));
    }
    else
    {
        mac.SetType("ns3::StaWifiMac", "ActiveProbing", BooleanValue(true));
    }
    auto device = DynamicCast<WifiNetDevice>(wifi.Install(phy, mac, node).Get(0));
    device->GetMac()->SetAttribute("ShortSlotTimeSupported",
                                   BooleanValue(m_run.wlan->isShortSlot));
    device->GetMac()->SetFrameRetryLimit(m_run.wlan->attempts);
    QueueOf(device)->SetMaxSize(QueueSize(PACKETS, m_run.links[place].radio.frames));
    QueueOf(device)->SetMaxDelay(NanoSeconds(m_run.durationNs) + Seconds(JOINING_S));
    m_devices.push_back(device);
}

void
Cell::SetRates()
{
    Ptr<WifiNetDevice> accessPoint = m_devices[0];
    for (uint32_t i = 1; i < m_devices.size(); i++)
    {
        auto toStation = DynamicCast<StationRates>(accessPoint->GetRemoteStationManager());
        auto toAccessPoint = DynamicCast<StationRates>(m_devices[i]->GetRemoteStationManager());
        if (!toStation || !toAccessPoint)
        {
            return;
        }
        const WifiMode mode = ModeOf(m_run.links[i].radio.rate);
        toStation->rates[m_devices[i]->GetMac()->GetAddress()] = mode;
        toAccessPoint->rates[accessPoint->GetMac()->GetAddress()] = mode;
    }
}

void
Cell::SetErrors()
{
    auto errors = CreateObject<StationErrors>();
    errors->run = &m_run;
    for (const auto& device : m_devices)
    {
        device->GetPhy()->SetPostReceptionErrorModel(errors);
    }
}

void
Cell::Watch(uint16_t place)
{
    Ptr<WifiNetDevice> device = m_devices[place];
    device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin",
                                                 MakeCallback(&Cell::Sent, this).Bind(place));
    device->GetMac()->TraceConnectWithoutContext("AckedMpdu",
                                                 MakeCallback(&Cell::Acked, this).Bind(place));
    device->GetMac()->TraceConnectWithoutContext("DroppedMpdu",
                                                 MakeCallback(&Cell::Dropped, this).Bind(place));
}

void
Cell::RequireStations() const
{
    for (uint32_t i = 1; i < m_devices.size(); i++)
    {
        auto station = DynamicCast<StaWifiMac>(m_devices[i]->GetMac());
        if (!station->IsAssociated())
        {
            NS_FATAL_ERROR("station " << i << " did not join its access point within "
                                      << JOINING_S << " s; give it a higher snr");
        }
    }
}

void
Cell::Sent(uint16_t place, WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    const Ptr<const WifiPsdu> psdu = psdus.begin()->second;
    const WifiMacHeader& header = psdu->GetHeader(0);
    if (!header.IsData() || !header.HasData())
    {
        return;
    }
    const Ptr<WifiPhy> phy = m_devices[place]->GetPhy();
    const Time busy = WifiPhy::CalculateTxDuration(psdu, vector, phy->GetPhyBand());
    const uint64_t rate = vector.GetMode().GetDataRate(vector) / RATE_UNIT;
    m_last[place] = m_frames.size();
    m_frames.push_back({NowNs(), static_cast<uint32_t>(busy.GetNanoSeconds()),
                        static_cast<uint16_t>(rate),
                        static_cast<uint16_t>(psdu->GetPayload(0)->GetSize() - LLC_BYTES), place,
                        0});
}

void
Cell::Acked(uint16_t place, Ptr<const WifiMpdu> mpdu)
{
    if (mpdu->GetHeader().HasData() && m_last[place] < m_frames.size())
    {
        Frame& frame = m_frames[m_last[place]];
        frame.busyNs = static_cast<uint32_t>(NowNs() - frame.startNs);
        frame.outcome = 1;
    }
}

void
Cell::Dropped(uint16_t place, WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
{
    if (mpdu->GetHeader().HasData() && m_last[place] < m_frames.size() &&
        reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT)
    {
        m_frames[m_last[place]].outcome = 2;
    }
}

std::string
Cell::Describe(uint32_t place) const
{
    const Ptr<WifiNetDevice> device = m_devices[place];
    std::ostringstream out;
    out << ",\"phy\":"
        << DescribeAttributes(device->GetPhy(),
                              {{"TxPowerStart", ""}, {"Slot", ""}, {"Sifs", ""}, {"RxNoiseFigure", ""}})
        << ",\"mac\":"
        << DescribeAttributes(device->GetMac(),
                              {{"QosSupported", ""}, {"FrameRetryLimit", ""},
                               {"ShortSlotTimeSupported", ""}})
        << ",\"rates\":" << DescribeAttributes(device->GetRemoteStationManager(), {})
        << ",\"queue\":" << DescribeAttributes(QueueOf(device), {{"MaxSize", ""}, {"MaxDelay", ""}});
    return out.str();
}

void
Cell::WriteFrames(const std::string& path) const
{
    std::string out;
    const auto append = [&out](auto value) {
        for (std::size_t i = 0; i < sizeof(value); i++)
        {
            out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
        }
    };
    for (const Frame& frame : m_frames)
    {
        append(frame.startNs);
        append(frame.busyNs);
        append(frame.rate);
        append(frame.bytes);
        append(frame.link);
        append(frame.outcome);
        append(uint8_t{0});
    }
    std::ofstream(path, std::ios::binary) << out;
}

} // namespace sojourn
