/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network.h"

#include "clock.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

using namespace ns3;

namespace sojourn
{

namespace
{

/// A rate at which a packet takes less than a nanosecond.
constexpr uint64_t NO_TIME_BPS = 1'000'000'000'000'000;
/// More packets than any device here holds.
const char* const NEVER_FULL = "100000000p";
/// The smallest MTU of the devices, bytes.
constexpr uint32_t LEAST_MTU = 1500;

/// A link whose ends send at two rates and hold any number of packets.
NetDeviceContainer
Join(Ptr<Node> a, Ptr<Node> b, uint64_t aBps, uint64_t bBps, uint64_t delayNs, uint32_t mtu)
{
    PointToPointHelper helper;
    helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delayNs)));
    helper.SetDeviceAttribute("Mtu", UintegerValue(std::max(mtu, LEAST_MTU)));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(NEVER_FULL));
    helper.DisableFlowControl();
    NetDeviceContainer ends = helper.Install(a, b);
    const uint64_t rates[] = {aBps, bBps};
    for (uint32_t i = 0; i < 2; i++)
    {
        const uint64_t bps = rates[i] > 0 ? rates[i] : NO_TIME_BPS;
        ends.Get(i)->SetAttribute("DataRate", DataRateValue(DataRate(bps)));
    }
    return ends;
}

/// Closes the device's queue: the disc keeps its packets.
void
Close(Ptr<NetDeviceQueueInterface> queues, Ptr<const Packet>)
{
    queues->GetTxQueue(0)->Stop();
}

/// Opens the device's queue again: the disc sends the next packet.
void
Open(Ptr<NetDeviceQueueInterface> queues, Ptr<const Packet>)
{
    Simulator::ScheduleNow(&NetDeviceQueue::Wake, queues->GetTxQueue(0));
}

/// Changes the rate from now on, for the AQM too.
void
SetRate(Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> disc, uint64_t bps)
{
    const DataRateValue rate{DataRate(bps)};
    device->SetAttribute("DataRate", rate);
    disc->SetAttributeFailSafe("Rate", rate);
}

/// An address of a node's first device.
Ipv4Address
AddressOf(Ptr<Node> node)
{
    return node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
}

} // namespace

Network::Network(const Instructions& run)
    : m_run(run),
      m_routers(std::max<std::size_t>(run.links.size(), 2)),
      m_senders(run.flows.size()),
      m_receivers(run.groups.size())
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    if (run.wlan)
    {
        JoinCell();
    }
    else
    {
        JoinRouters();
    }
    for (uint32_t flow = 0; flow < run.flows.size(); flow++)
    {
        AddSender(flow);
    }
    for (uint32_t group = 0; group < run.groups.size(); group++)
    {
        AddReceivers(group);
    }
}

Ptr<Node>
Network::Sender(uint32_t flow) const
{
    return m_senders.Get(flow);
}

Ptr<Node>
Network::Receiver(uint32_t group) const
{
    return m_receivers.Get(group);
}

Ipv4Address
Network::ReceiverAddress(uint32_t group) const
{
    return m_addresses[group];
}

const std::vector<Ptr<QueueDisc>>&
Network::Discs() const
{
    return m_discs;
}

const std::vector<Ptr<NetDevice>>&
Network::Devices() const
{
    return m_devices;
}

void
Network::JoinRouters()
{
    const LinkWanted& forward = m_run.links.at(0);
    const LinkWanted* reverse = m_run.links.size() > 1 ? &m_run.links[1] : nullptr;
    const uint64_t reverseBps = reverse ? reverse->rates.at(0).second : 0;
    const uint32_t mtu = std::max(forward.mtuBytes, reverse ? reverse->mtuBytes : 0);
    NetDeviceContainer ends = Join(m_routers.Get(0), m_routers.Get(1),
                                   forward.rates.at(0).second, reverseBps, forward.delayNs, mtu);
    m_devices = {ends.Get(0), ends.Get(1)};
    for (uint32_t i = 0; i < m_run.links.size(); i++)
    {
        CloseBelow(DynamicCast<PointToPointNetDevice>(m_devices[i]));
        Install(m_run.links[i], m_devices[i]);
        AddLoss(m_run.links[i], i);
    }
    Ipv4AddressHelper("10.0.0.0", "255.255.255.252").Assign(ends);
    Ipv4StaticRoutingHelper routing;
    const Ipv4Mask half("255.128.0.0");
    // Senders have 10.128.0.0/9, receivers the addresses below.
    routing.GetStaticRouting(m_routers.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo(Ipv4Address("10.0.0.0"), half, 1);
    routing.GetStaticRouting(m_routers.Get(1)->GetObject<Ipv4>())
        ->AddNetworkRouteTo(Ipv4Address("10.128.0.0"), half, 1);
}

void
Network::JoinCell()
{
    m_cell = std::make_unique<Cell>(m_run, m_routers);
    NetDeviceContainer ends;
    for (uint32_t i = 0; i < m_run.links.size(); i++)
    {
        Ptr<NetDevice> device = m_cell->Devices()[i];
        m_devices.push_back(device);
        ends.Add(device);
        Install(m_run.links[i], device);
    }
    const auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(ends);
    // Without ARP requests, which the scenario does not have. A station that joins loses its cache
    // (`ns3::ArpL3Protocol::CreateCache`).
    Simulator::Schedule(Until(0) - NanoSeconds(1), [interfaces] {
        NeighborCacheHelper().PopulateNeighborCache(interfaces);
    });
}

void
Network::AddRoute(Ipv4Address network, uint32_t at, uint32_t of)
{
    if (m_cell)
    {
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(m_routers.Get(at)->GetObject<Ipv4>())
            ->AddNetworkRouteTo(network, Ipv4Mask("255.255.255.252"), AddressOf(m_routers.Get(of)),
                                1);
    }
}

void
Network::AddLoss(const LinkWanted& link, uint32_t index)
{
    m_losses.resize(index + 1);
    if (link.loss)
    {
        m_losses[index] = CreateObject<WireLoss>();
        m_losses[index]->Set(*link.loss, m_run.warmupNs);
        m_devices[index]->TraceConnectWithoutContext(
            "PhyTxBegin", MakeCallback(&WireLoss::Enters, m_losses[index]));
        m_devices[1 - index]->SetAttribute("ReceiveErrorModel", PointerValue(m_losses[index]));
    }
}

void
Network::CloseBelow(Ptr<PointToPointNetDevice> device)
{
    auto queues = CreateObject<NetDeviceQueueInterface>();
    device->AggregateObject(queues);
    device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Close).Bind(queues));
    device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Open).Bind(queues));
}

void
Network::Install(const LinkWanted& link, Ptr<NetDevice> device)
{
    TrafficControlHelper helper;
    helper.SetRootQueueDisc(link.disc);
    Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    for (const auto& [name, value] : link.attributes)
    {
        disc->SetAttribute(name, StringValue(value));
    }
    for (std::size_t i = 1; i < link.rates.size(); i++)
    {
        const auto& [at, bps] = link.rates[i];
        Simulator::Schedule(Until(at), &SetRate, DynamicCast<PointToPointNetDevice>(device), disc,
                            bps);
    }
    m_discs.push_back(disc);
}

void
Network::AddSender(uint32_t flow)
{
    const GroupWanted& group = m_run.groups.at(m_run.flows[flow].group);
    Ptr<Node> sender = m_senders.Get(flow);
    const auto ends = Join(sender, m_routers.Get(group.forward), group.accessBps, 0,
                           group.accessDelayNs, m_run.links.at(group.forward).mtuBytes);
    const Ipv4Address network((10U << 24 | 128U << 16) + 4 * flow);
    Ipv4AddressHelper(network, "255.255.255.252").Assign(ends);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(sender->GetObject<Ipv4>())
        ->SetDefaultRoute(Ipv4Address(network.Get() + 2), 1);
    AddRoute(network, group.reverse, group.forward);
    if (!group.control.empty())
    {
        Ptr<TcpL4Protocol> tcp = sender->GetObject<TcpL4Protocol>();
        tcp->SetAttribute("SocketType", TypeIdValue(TypeId::LookupByName(group.control)));
        tcp->SetAttribute("RecoveryType", TypeIdValue(TypeId::LookupByName(group.recovery)));
    }
}

void
Network::AddReceivers(uint32_t index)
{
    const GroupWanted& group = m_run.groups[index];
    Ptr<Node> receiver = m_receivers.Get(index);
    const auto ends =
        Join(m_routers.Get(group.reverse), receiver, group.receiverBps, group.receiverBps,
             group.egressDelayNs, m_run.links.at(group.forward).mtuBytes);
    const Ipv4Address network((10U << 24 | 1U << 16) + 4 * index);
    Ipv4AddressHelper(network, "255.255.255.252").Assign(ends);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(receiver->GetObject<Ipv4>())
        ->SetDefaultRoute(Ipv4Address(network.Get() + 1), 1);
    AddRoute(network, group.forward, group.reverse);
    m_addresses.push_back(AddressOf(receiver));
    if (!group.control.empty())
    {
        // How a receiver echoes marks depends on its congestion control (RFC 8257 §3.2).
        receiver->GetObject<TcpL4Protocol>()->SetAttribute(
            "SocketType", TypeIdValue(TypeId::LookupByName(group.control)));
    }
}

std::string
DescribeAttributes(Ptr<const Object> object, const Attributes& names)
{
    std::ostringstream out;
    out << "{\"type\":\"" << object->GetInstanceTypeId().GetName() << "\"";
    for (const auto& wanted : names)
    {
        StringValue value;
        // Some are write-only, such as UseEcn of ns-3.44.
        const bool isReadable = object->GetAttributeFailSafe(wanted.first, value);
        out << ",\"" << wanted.first << "\":";
        out << (isReadable ? "\"" + value.Get() + "\"" : "null");
    }
    out << "}";
    return out.str();
}

std::string
Network::Describe() const
{
    std::ostringstream out;
    out << "{\"links\":[";
    for (uint32_t i = 0; i < m_discs.size(); i++)
    {
        out << (i > 0 ? "," : "")
            << "{\"disc\":" << DescribeAttributes(m_discs[i], m_run.links[i].attributes);
        if (m_cell)
        {
            out << m_cell->Describe(i);
        }
        else
        {
            const Attributes device = {{"DataRate", ""}, {"Mtu", ""}};
            out << ",\"device\":" << DescribeAttributes(m_devices[i], device) << ",\"channel\":"
                << DescribeAttributes(m_devices[i]->GetChannel(), {{"Delay", ""}});
        }
        out << "}";
    }
    out << "],\"senders\":[";
    for (uint32_t flow = 0, last = UINT32_MAX; flow < m_run.flows.size(); flow++)
    {
        const uint32_t group = m_run.flows[flow].group;
        if (group == last || m_run.groups[group].control.empty())
        {
            continue;
        }
        out << (last == UINT32_MAX ? "" : ",") << "{\"group\":" << group << ",\"tcp\":"
            << DescribeAttributes(m_senders.Get(flow)->GetObject<TcpL4Protocol>(),
                                  {{"SocketType", ""}, {"RecoveryType", ""}})
            << "}";
        last = group;
    }
    out << "]}";
    return out.str();
}

std::string
Network::DescribeLosses() const
{
    std::ostringstream out;
    out << "[";
    for (std::size_t i = 0; i < 2; i++)
    {
        const bool isThere = i < m_losses.size() && m_losses[i];
        out << (i > 0 ? "," : "") << (isThere ? m_losses[i]->Describe() : "null");
    }
    out << "]";
    return out.str();
}

void
Network::WriteFrames(const std::string& path) const
{
    if (m_cell)
    {
        m_cell->WriteFrames(path);
    }
}

} // namespace sojourn
