/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "header_capture.h"

#include "clock.h"
#include "ports.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/llc-snap-header.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"

#include <array>
#include <fstream>

using namespace ns3;

namespace sojourn
{

namespace
{

/// The largest headers of IPv4 without options and of TCP.
constexpr std::size_t MOST_BYTES = 20 + 60;
/// ns-3.44 `PointToPointNetDevice::AddHeader`.
constexpr uint32_t PPP_BYTES = 2;
/// A packet of no flow.
constexpr uint32_t NO_FLOW = UINT32_MAX;

/// The flow of a packet by its ports.
uint32_t
FlowOf(const std::array<uint8_t, MOST_BYTES>& bytes, std::size_t size)
{
    const std::size_t at = (bytes[0] & 15) * 4;
    if (bytes[0] >> 4 != 4 || size < at + 4)
    {
        return NO_FLOW;
    }
    const auto port = [&](std::size_t i) {
        return static_cast<uint16_t>(bytes[at + i] << 8 | bytes[at + i + 1]);
    };
    const uint16_t of = IsToReceiver(port(2)) ? port(2) : port(0);
    return IsToReceiver(of) ? of - FIRST_PORT : NO_FLOW;
}

/// Appends a number, the lowest byte first.
template <typename T>
void
AppendNumber(std::string& out, T value)
{
    for (std::size_t i = 0; i < sizeof(T); i++)
    {
        out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

} // namespace

void
HeaderCapture::EnableChecksums()
{
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
}

HeaderCapture::HeaderCapture(const Instructions& run, const Network& network)
    : m_run(run)
{
    for (uint32_t flow = 0; flow < run.flows.size(); flow++)
    {
        WatchHost(SENDER, network.Sender(flow));
    }
    for (uint32_t group = 0; group < run.groups.size(); group++)
    {
        WatchHost(RECEIVER, network.Receiver(group));
    }
    for (std::size_t place = 0; place < run.links.size(); place++)
    {
        WatchDevice(place, network.Devices().at(place));
    }
}

void
HeaderCapture::WatchHost(Point point, Ptr<Node> host)
{
    Ptr<Ipv4L3Protocol> ip = host->GetObject<Ipv4L3Protocol>();
    for (const char* name : {"Tx", "Rx"})
    {
        ip->TraceConnectWithoutContext(name,
                                       MakeCallback(&HeaderCapture::AtHost, this).Bind(point));
    }
}

void
HeaderCapture::WatchDevice(std::size_t place, Ptr<NetDevice> device)
{
    if (Ptr<WifiNetDevice> wifi = DynamicCast<WifiNetDevice>(device))
    {
        wifi->GetMac()->TraceConnectWithoutContext(
            "AckedMpdu", MakeCallback(&HeaderCapture::Acked, this).Bind(place));
        return;
    }
    device->TraceConnectWithoutContext("PhyTxEnd",
                                       MakeCallback(&HeaderCapture::Sent, this).Bind(place));
}

void
HeaderCapture::AtHost(Point point, Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Append(point, 0, packet);
}

void
HeaderCapture::Arrived(std::size_t place, const Ipv4Header& ip, Ptr<const Packet> packet)
{
    Ptr<Packet> whole = packet->Copy();
    whole->AddHeader(ip);
    Append(ARRIVED, place, whole);
}

void
HeaderCapture::Sent(std::size_t place, Ptr<const Packet> packet)
{
    Ptr<Packet> inner = packet->Copy();
    inner->RemoveAtStart(PPP_BYTES);
    Append(SENT, place, inner);
}

void
HeaderCapture::Acked(std::size_t place, Ptr<const WifiMpdu> mpdu)
{
    LlcSnapHeader llc;
    if (!mpdu->GetHeader().HasData() || mpdu->GetPacketSize() < llc.GetSerializedSize())
    {
        return;
    }
    Ptr<Packet> inner = mpdu->GetPacket()->Copy();
    inner->RemoveHeader(llc);
    if (llc.GetType() == Ipv4L3Protocol::PROT_NUMBER)
    {
        Append(SENT, place, inner);
    }
}

void
HeaderCapture::Append(Point point, std::size_t place, Ptr<const Packet> packet)
{
    std::array<uint8_t, MOST_BYTES> bytes{};
    const std::size_t size = packet->CopyData(bytes.data(), MOST_BYTES);
    AppendNumber(m_rows, NowNs());
    AppendNumber(m_rows, FlowOf(bytes, size));
    AppendNumber(m_rows, m_run.links.at(place).capture.value());
    AppendNumber(m_rows, static_cast<uint8_t>(point));
    AppendNumber(m_rows, static_cast<uint8_t>(size));
    m_rows.append(reinterpret_cast<const char*>(bytes.data()), size);
}

void
HeaderCapture::Write(const std::string& path) const
{
    std::ofstream(path, std::ios::binary) << m_rows;
}

} // namespace sojourn
