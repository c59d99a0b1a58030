/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) ns-3's style puts every brace and result type on a separate line.
 */

#include "traffic.h"

#include "clock.h"
#include "mended.h"

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/seq-ts-header.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

#include <algorithm>
#include <sstream>

using namespace ns3;

namespace sojourn
{

namespace
{

/// The ECN field ECT(0) (RFC 3168 §5).
constexpr uint8_t ECT0 = 2;

/// Keeps the newest value of a trace.
template <typename T, typename U>
void
Keep(T* place, U, U now)
{
    *place = static_cast<T>(now);
}

void
KeepTime(int64_t* microseconds, Time, Time now)
{
    *microseconds = now.GetMicroSeconds();
}

void
KeepEcn(bool* isCapable, TcpSocketState::EcnState_t, TcpSocketState::EcnState_t now)
{
    *isCapable = now != TcpSocketState::ECN_DISABLED;
}

} // namespace

/// Both ends of a flow.
struct Traffic::Flow
{
    uint32_t index;                //!< among the flows
    const FlowWanted* wanted;      //!< what it does
    const GroupWanted* group;      //!< with what
    FlowCounts counts;             //!< what it has done
    SenderState sender;            //!< of its connections
    std::size_t next{0};           //!< transfer or datagram
    uint64_t toWrite{0};           //!< bytes of the present transfer
    uint64_t toRead{0};            //!< bytes of the present transfer
    uint64_t startNs{0};           //!< of the present transfer
    bool isOpen{false};            //!< whether there is one
    bool isUnlimited{false};       //!< whether it has no end
    bool isStopped{false};         //!< whether its time is over
    bool isCapable{false};         //!< whether the connection uses ECN
    bool isAcked{false};           //!< whether it was counted as established
    Ptr<Socket> sending;           //!< present socket
    Ptr<Socket> receiving;         //!< present socket
    Ptr<Socket> listening;         //!< of the receiver
};

Traffic::Traffic(const Instructions& run, const Network& network)
    : m_run(run),
      m_network(network)
{
    for (uint32_t group = 0; group < run.groups.size(); group++)
    {
        WatchMarks(network.Receiver(group));
    }
    for (uint32_t index = 0; index < run.flows.size(); index++)
    {
        auto flow = std::make_unique<Flow>();
        flow->index = index;
        flow->wanted = &run.flows[index];
        flow->group = &run.groups.at(flow->wanted->group);
        Listen(*flow);
        const auto begin = flow->wanted->datagrams.empty() ? &Traffic::Start
                                                           : &Traffic::SendDatagram;
        const uint64_t first = flow->wanted->datagrams.empty()
                                   ? flow->wanted->startNs
                                   : flow->wanted->datagrams[0].atNs;
        if (!flow->wanted->transfers.empty() || !flow->wanted->datagrams.empty())
        {
            Simulator::Schedule(Until(first), begin, this, flow.get());
        }
        if (!flow->group->control.empty() && flow->wanted->stopNs < run.durationNs)
        {
            Simulator::Schedule(Until(flow->wanted->stopNs), &Traffic::Stop, this, flow.get());
        }
        m_flows.push_back(std::move(flow));
    }
}

Traffic::~Traffic() = default;

FlowCounts
Traffic::Counts(uint32_t flow) const
{
    return m_flows[flow]->counts;
}

const SenderState*
Traffic::Sender(uint32_t flow) const
{
    return m_flows[flow]->group->control.empty() ? nullptr : &m_flows[flow]->sender;
}

const std::vector<TransferSeen>&
Traffic::Transfers() const
{
    return m_transfers;
}

std::vector<TransferSeen>
Traffic::Unfinished() const
{
    std::vector<TransferSeen> rows;
    for (const auto& flow : m_flows)
    {
        if (flow->isOpen && !flow->isUnlimited)
        {
            const uint64_t end = std::min(NowNs(), flow->wanted->stopNs);
            rows.push_back({flow->index, flow->startNs, 0, end - flow->startNs});
        }
    }
    return rows;
}

const std::vector<DatagramSeen>&
Traffic::Datagrams() const
{
    return m_datagrams;
}

const std::vector<std::string>&
Traffic::Broken() const
{
    return m_broken;
}

void
Traffic::WatchMarks(Ptr<Node> receiver)
{
    receiver->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "LocalDeliver", MakeCallback(&Traffic::Delivered, this));
}

void
Traffic::Delivered(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    if (ip.GetEcn() != Ipv4Header::ECN_CE || ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    TcpHeader tcp;
    const uint32_t header = packet->PeekHeader(tcp);
    for (const auto& flow : m_flows)
    {
        if (flow->wanted->port == tcp.GetDestinationPort())
        {
            flow->sender.ceBytes += packet->GetSize() - header;
            return;
        }
    }
}

void
Traffic::SetUp(Ptr<Socket> socket, const GroupWanted& group) const
{
    for (const auto& [name, value] : group.attributes)
    {
        socket->SetAttribute(name, StringValue(value));
    }
}

void
Traffic::Listen(Flow& flow)
{
    const bool isTcp = !flow.group->control.empty();
    const TypeId factory = isTcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
    flow.listening = Socket::CreateSocket(m_network.Receiver(flow.wanted->group), factory);
    flow.listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), flow.wanted->port));
    if (!isTcp)
    {
        flow.listening->SetRecvCallback(MakeCallback(&Traffic::ReceiveDatagrams, this).Bind(&flow));
        return;
    }
    SetUp(flow.listening, *flow.group);
    flow.listening->Listen();
    flow.listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Traffic::Accept, this).Bind(&flow));
}

void
Traffic::Start(Flow* flow)
{
    if (flow->isStopped || flow->next >= flow->wanted->transfers.size())
    {
        return;
    }
    const TransferWanted& transfer = flow->wanted->transfers[flow->next];
    flow->isOpen = true;
    flow->isUnlimited = transfer.bytes == 0;
    flow->toWrite = flow->isUnlimited ? UINT64_MAX : transfer.bytes;
    flow->toRead = flow->toWrite;
    flow->startNs = NowNs();
    flow->isCapable = false;
    flow->isAcked = false;
    Ptr<Socket> socket =
        Socket::CreateSocket(m_network.Sender(flow->index), TcpSocketFactory::GetTypeId());
    flow->sending = socket;
    SetUp(socket, *flow->group);
    Mend(socket, *flow->group);
    socket->Bind();
    Watch(*flow, socket);
    socket->SetSendCallback(MakeCallback(&Traffic::Fill, this).Bind(flow));
    socket->SetConnectCallback(
        Callback<void, Ptr<Socket>>([this, flow](Ptr<Socket> connected) {
            flow->sender.established++;
            flow->sender.capable += flow->isCapable ? 1 : 0;
            Fill(flow, connected, connected->GetTxAvailable());
        }),
        Callback<void, Ptr<Socket>>([this, flow](Ptr<Socket>) {
            m_broken.push_back("flow " + std::to_string(flow->index) +
                               ": ns-3 gave up opening its connection");
        }));
    socket->Connect(InetSocketAddress(m_network.ReceiverAddress(flow->wanted->group),
                                      flow->wanted->port));
}

void
Traffic::Watch(Flow& flow, Ptr<Socket> socket)
{
    SenderState& sender = flow.sender;
    const auto connect = [&socket](const char* name, const CallbackBase& callback) {
        socket->TraceConnectWithoutContext(name, callback);
    };
    connect("CongestionWindow", MakeCallback(&Keep<uint32_t, uint32_t>).Bind(&sender.cwndBytes));
    connect("SlowStartThreshold",
            MakeCallback(&Keep<uint32_t, uint32_t>).Bind(&sender.ssthreshBytes));
    connect("BytesInFlight", MakeCallback(&Keep<uint32_t, uint32_t>).Bind(&sender.inFlightBytes));
    connect("CongState",
            MakeCallback(&Keep<uint32_t, TcpSocketState::TcpCongState_t>).Bind(&sender.congState));
    connect("RTT", MakeCallback(&KeepTime).Bind(&sender.srttUs));
    connect("EcnState", MakeCallback(&KeepEcn).Bind(&flow.isCapable));
    connect("Tx", Callback<void, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>>(
                      [&sender](Ptr<const Packet> packet, const TcpHeader&,
                                Ptr<const TcpSocketBase>) {
                          sender.sentBytes += packet->GetSize();
                      }));
    connect("Retransmission",
            Callback<void, Ptr<const Packet>, const TcpHeader&, const Address&, const Address&,
                     Ptr<const TcpSocketBase>>(
                [&sender](Ptr<const Packet> packet, const TcpHeader&, const Address&,
                          const Address&, Ptr<const TcpSocketBase>) {
                    sender.retransmittedBytes += packet->GetSize();
                }));
}

void
Traffic::Fill(Flow* flow, Ptr<Socket> socket, uint32_t)
{
    if (socket != flow->sending)
    {
        return;
    }
    const uint64_t chunk = flow->wanted->payloadBytes;
    while (flow->toWrite > 0 && socket->GetTxAvailable() >= chunk)
    {
        const auto bytes = static_cast<uint32_t>(std::min(chunk, flow->toWrite));
        if (socket->Send(Create<Packet>(bytes)) <= 0)
        {
            return;
        }
        flow->toWrite -= flow->isUnlimited ? 0 : bytes;
    }
}

void
Traffic::Accept(Flow* flow, Ptr<Socket> socket, const Address&)
{
    flow->receiving = socket;
    socket->SetRecvCallback(MakeCallback(&Traffic::Receive, this).Bind(flow));
}

void
Traffic::Receive(Flow* flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return; // the end of the stream
        }
        if (socket != flow->receiving || flow->isStopped)
        {
            continue;
        }
        flow->counts.deliveredBytes += packet->GetSize();
        flow->toRead -= flow->isUnlimited ? 0 : std::min<uint64_t>(flow->toRead, packet->GetSize());
    }
    if (flow->isOpen && socket == flow->receiving && flow->toRead == 0)
    {
        Complete(flow);
    }
}

void
Traffic::Complete(Flow* flow)
{
    const TransferWanted& transfer = flow->wanted->transfers[flow->next];
    m_transfers.push_back(
        {flow->index, flow->startNs, transfer.bytes, NowNs() - flow->startNs});
    flow->isOpen = false;
    flow->sending->Close();
    flow->receiving->Close();
    flow->sending = nullptr;
    flow->receiving = nullptr;
    flow->next++;
    Simulator::Schedule(NanoSeconds(transfer.pauseNs), &Traffic::Start, this, flow);
}

void
Traffic::Stop(Flow* flow)
{
    // ns-3 has no call that aborts a connection: the sender is cut off instead.
    flow->isStopped = true;
    flow->toWrite = 0;
    Ptr<Ipv4> ip = m_network.Sender(flow->index)->GetObject<Ipv4>();
    ip->SetDown(1);
}

void
Traffic::SendDatagram(Flow* flow)
{
    if (!flow->sending)
    {
        flow->sending = Socket::CreateSocket(m_network.Sender(flow->index),
                                             UdpSocketFactory::GetTypeId());
        flow->sending->Bind();
        flow->sending->Connect(InetSocketAddress(m_network.ReceiverAddress(flow->wanted->group),
                                                 flow->wanted->port));
        flow->sending->SetIpTos(flow->group->isEcnDatagrams ? ECT0 : 0);
    }
    const DatagramWanted& datagram = flow->wanted->datagrams[flow->next];
    SeqTsHeader stamp;
    stamp.SetSeq(static_cast<uint32_t>(flow->counts.sent));
    Ptr<Packet> packet = Create<Packet>(datagram.bytes - stamp.GetSerializedSize());
    packet->AddHeader(stamp);
    flow->sending->Send(packet);
    flow->counts.sent++;
    if (++flow->next < flow->wanted->datagrams.size())
    {
        const uint64_t at = flow->wanted->datagrams[flow->next].atNs;
        Simulator::Schedule(NanoSeconds(at - NowNs()), &Traffic::SendDatagram, this, flow);
    }
}

void
Traffic::ReceiveDatagrams(Flow* flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        flow->counts.deliveredBytes += packet->GetSize();
        SeqTsHeader stamp;
        packet->RemoveHeader(stamp);
        const auto delay = static_cast<uint64_t>((Simulator::Now() - stamp.GetTs()).GetNanoSeconds());
        m_datagrams.push_back({flow->index, stamp.GetSeq(), NowNs(), delay});
    }
}

std::string
Traffic::Describe() const
{
    std::ostringstream out;
    out << "[";
    bool isFirst = true;
    for (uint32_t group = 0; group < m_run.groups.size(); group++)
    {
        const auto found = std::find_if(m_flows.begin(), m_flows.end(), [group](const auto& flow) {
            return flow->wanted->group == group && !flow->group->control.empty();
        });
        if (found != m_flows.end())
        {
            out << (isFirst ? "" : ",")
                << DescribeAttributes((*found)->listening, m_run.groups[group].attributes);
            isFirst = false;
        }
    }
    out << "]";
    return out.str();
}

} // namespace sojourn
