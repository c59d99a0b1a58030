/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) ns-3's style puts every brace and result type on a separate line.
 */

#include "recorder.h"

#include "clock.h"
#include "header_capture.h"
#include "ports.h"
#include "sojourn_aqm.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/seq-ts-header.h"
#include "ns3/simulator.h"
#include "ns3/sojourn-aqm-queue-disc.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-header.h"

#include <bit>
#include <fstream>
#include <sstream>

using namespace ns3;

namespace sojourn
{

namespace
{

constexpr uint64_t NEVER = UINT64_MAX;
constexpr uint8_t NONE = 0xff;
constexpr uint8_t CE = 3;
constexpr uint8_t ECT0 = 2;
/// Kinds of packets in records.
enum Kind : uint8_t
{
    SYN,
    DATA,
    DATAGRAM
};
/// Fates of packets in records.
enum Fate : uint8_t
{
    SENT,
    DROPPED,
    WAITING
};

/// The beginning of a reason of ns-3, without the prefix of a child disc, and its cause.
struct Reason
{
    const char* begin; //!< of the reason
    uint8_t cause;     //!< SOJOURN_CAUSE_...
};

// The reasons of ns3/model/sojourn-reasons.cc, of ns-3's own discs and of ours.
const Reason REASONS[] = {
    {"Unforced", SOJOURN_CAUSE_RANDOM},
    {"Target exceeded", SOJOURN_CAUSE_TARGET},
    {"forcedMark", SOJOURN_CAUSE_TARGET},
    {"CE threshold exceeded", SOJOURN_CAUSE_CE_THRESHOLD},
    {"Overload", SOJOURN_CAUSE_OVERLOAD},
    {"Delay bound exceeded", SOJOURN_CAUSE_DELAY_BOUND},
    {"Bin overflow", SOJOURN_CAUSE_BIN_OVERFLOW},
    {"Penalty", SOJOURN_CAUSE_PENALTY},
    {"Match", SOJOURN_CAUSE_MATCH},
    {"Flow limit", SOJOURN_CAUSE_FLOW_LIMIT},
    {"Horizon", SOJOURN_CAUSE_HORIZON},
};

/// The cause of a drop or a mark. Unlisted reasons are overflows, for which every disc of ns-3 has
/// a different text; PIE's is "Forced drop".
uint8_t
CauseOf(const std::string& reason)
{
    const std::size_t after = reason.find(") ");
    const std::string own = after == std::string::npos ? reason : reason.substr(after + 2);
    for (const Reason& row : REASONS)
    {
        if (own.starts_with(row.begin))
        {
            return row.cause;
        }
    }
    return SOJOURN_CAUSE_OVERFLOW;
}

uint8_t
Pair(uint8_t stage, uint8_t cause)
{
    return static_cast<uint8_t>(stage << 4 | cause);
}

/// Appends a number, the lowest byte first.
template <typename T>
void
Append(std::string& out, T value)
{
    for (std::size_t i = 0; i < sizeof(T); i++)
    {
        out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

/// Whether it is a packet of a flow, not an ARP request.
bool
IsPacket(Ptr<const QueueDiscItem> item)
{
    return DynamicCast<const Ipv4QueueDiscItem>(item) != nullptr;
}

/// A list in JSON.
template <typename T, typename F>
std::string
List(const T& rows, F shown)
{
    std::ostringstream out;
    out << "[";
    const char* comma = "";
    for (const auto& row : rows)
    {
        out << comma << shown(row);
        comma = ",";
    }
    out << "]";
    return out.str();
}

std::string
AsItIs(const std::string& text)
{
    return text;
}

} // namespace

Recorder::Recorder(const Instructions& run, const Network& network, HeaderCapture* capture)
    : m_run(run),
      m_capture(capture),
      m_discs(network.Discs().size()),
      m_atWarmup(run.flows.size())
{
    for (std::size_t i = 0; i < m_discs.size(); i++)
    {
        m_discs[i].disc = network.Discs()[i];
        Watch(m_discs[i]);
    }
}

void
Recorder::Watch(Disc& disc)
{
    const auto connect = [&disc](const char* name, const CallbackBase& callback) {
        disc.disc->TraceConnectWithoutContext(name, callback);
    };
    connect("Enqueue", MakeCallback(&Recorder::Enqueued, this).Bind(&disc));
    connect("Dequeue", MakeCallback(&Recorder::Dequeued, this).Bind(&disc));
    connect("DropBeforeEnqueue", MakeCallback(&Recorder::Refused, this).Bind(&disc));
    connect("DropAfterDequeue", MakeCallback(&Recorder::Dropped, this).Bind(&disc));
    connect("Mark", MakeCallback(&Recorder::Marked, this).Bind(&disc));
}

std::size_t
Recorder::Arrive(Disc& disc, Ptr<const QueueDiscItem> item)
{
    Ptr<const Ipv4QueueDiscItem> ip = DynamicCast<const Ipv4QueueDiscItem>(item);
    const Ipv4Header& header = ip->GetHeader();
    Record record{};
    uint16_t ports[2];
    if (header.GetProtocol() == TcpL4Protocol::PROT_NUMBER)
    {
        TcpHeader tcp;
        item->GetPacket()->PeekHeader(tcp);
        ports[0] = tcp.GetDestinationPort();
        ports[1] = tcp.GetSourcePort();
        record.kind = tcp.GetFlags() & TcpHeader::SYN ? SYN : DATA;
        record.seq = !IsToReceiver(ports[0]) ? tcp.GetAckNumber().GetValue()
                                      : tcp.GetSequenceNumber().GetValue();
    }
    else
    {
        Ptr<Packet> packet = item->GetPacket()->Copy();
        UdpHeader udp;
        packet->RemoveHeader(udp);
        SeqTsHeader stamp;
        packet->PeekHeader(stamp);
        ports[0] = udp.GetDestinationPort();
        ports[1] = udp.GetSourcePort();
        record.kind = DATAGRAM;
        record.seq = stamp.GetSeq();
    }
    record.direction = !IsToReceiver(ports[0]);
    record.flow = ports[record.direction] - FIRST_PORT;
    record.arrivedNs = NowNs();
    record.leftNs = NEVER;
    record.bytes = static_cast<uint16_t>(item->GetSize());
    record.ecn = static_cast<uint8_t>(header.GetEcn());
    record.fate = WAITING;
    record.dropped = NONE;
    record.marked = NONE;
    if (disc.arriving == PeekPointer(item))
    {
        record.marked = disc.arrivingMark;
        record.ecn = record.ecn == CE ? ECT0 : record.ecn; // ns-3's senders use ECT(0)
    }
    disc.arriving = nullptr;
    if (m_capture)
    {
        Ipv4Header arrived = header;
        arrived.SetEcn(static_cast<Ipv4Header::EcnType>(record.ecn));
        m_capture->Arrived(&disc - m_discs.data(), arrived, item->GetPacket());
    }
    m_records.push_back(record);
    return m_records.size() - 1;
}

void
Recorder::Forget(Disc& disc)
{
    if (disc.leaving)
    {
        disc.waiting.erase(PeekPointer(disc.leaving));
        disc.leaving = nullptr;
    }
}

void
Recorder::Enqueued(Disc* disc, Ptr<const QueueDiscItem> item)
{
    if (!IsPacket(item))
    {
        return;
    }
    Forget(*disc);
    disc->waiting[PeekPointer(item)] = Arrive(*disc, item);
}

void
Recorder::Dequeued(Disc* disc, Ptr<const QueueDiscItem> item)
{
    if (!IsPacket(item))
    {
        return;
    }
    Forget(*disc);
    // Held until the next packet leaves, so that no other item gets its address meanwhile.
    disc->leaving = item;
    Record& record = m_records.at(disc->waiting.at(PeekPointer(item)));
    record.leftNs = NowNs();
    record.fate = SENT;
}

void
Recorder::Refused(Disc* disc, Ptr<const QueueDiscItem> item, const char* reason)
{
    if (!IsPacket(item))
    {
        return;
    }
    Record& record = m_records.at(Arrive(*disc, item));
    record.leftNs = record.arrivedNs;
    record.fate = DROPPED;
    record.dropped = Pair(SOJOURN_STAGE_ENQUEUE, CauseOf(reason));
}

void
Recorder::Dropped(Disc* disc, Ptr<const QueueDiscItem> item, const char* reason)
{
    if (!IsPacket(item))
    {
        return;
    }
    const uint8_t cause = CauseOf(reason);
    const bool isFull = cause == SOJOURN_CAUSE_OVERFLOW;
    Record& record = m_records.at(disc->waiting.at(PeekPointer(item)));
    record.leftNs = NowNs();
    record.fate = DROPPED;
    record.dropped = Pair(isFull ? SOJOURN_STAGE_QUEUED : SOJOURN_STAGE_DEQUEUE, cause);
}

void
Recorder::Marked(Disc* disc, Ptr<const QueueDiscItem> item, const char* reason)
{
    if (!IsPacket(item))
    {
        return;
    }
    const auto found = disc->waiting.find(PeekPointer(item));
    if (found == disc->waiting.end())
    {
        disc->arriving = PeekPointer(item);
        disc->arrivingMark = Pair(SOJOURN_STAGE_ENQUEUE, CauseOf(reason));
        return;
    }
    m_records.at(found->second).marked = Pair(SOJOURN_STAGE_DEQUEUE, CauseOf(reason));
}

void
Recorder::SampleFrom(const Traffic& traffic)
{
    m_traffic = &traffic;
    Simulator::Schedule(Until(m_run.warmupNs), &Recorder::EndWarmup, this);
    if (m_run.hasFlowSamples || m_run.hasLawSamples)
    {
        Simulator::Schedule(Until(m_run.sampleNs), &Recorder::Sample, this);
    }
    if (m_run.binNs > 0)
    {
        Simulator::Schedule(Until(m_run.binNs), &Recorder::EndBin, this);
    }
}

void
Recorder::EndWarmup()
{
    for (uint32_t flow = 0; flow < m_atWarmup.size(); flow++)
    {
        m_atWarmup[flow] = m_traffic->Counts(flow);
    }
}

void
Recorder::EndBin()
{
    std::vector<std::string> delivered;
    for (uint32_t flow = 0; flow < m_run.flows.size(); flow++)
    {
        delivered.push_back(std::to_string(m_traffic->Counts(flow).deliveredBytes));
    }
    m_bins.push_back(List(delivered, AsItIs));
    Simulator::Schedule(NanoSeconds(m_run.binNs), &Recorder::EndBin, this);
}

void
Recorder::Sample()
{
    for (uint32_t flow = 0; m_run.hasFlowSamples && flow < m_run.flows.size(); flow++)
    {
        const SenderState none;
        const SenderState* shown = m_traffic->Sender(flow);
        const SenderState& sender = shown ? *shown : none;
        const uint32_t payload = m_run.flows[flow].payloadBytes;
        // Before the first reduction ns-3 has its largest number, Linux a different one.
        const uint32_t ssthresh =
            sender.ssthreshBytes == UINT32_MAX ? 0x7fffffff : sender.ssthreshBytes / payload;
        std::ostringstream out;
        out << "{\"flow\":" << flow << ",\"at_ns\":" << NowNs()
            << ",\"delivered_bytes\":" << m_traffic->Counts(flow).deliveredBytes
            << ",\"account\":{\"sent_bytes\":" << sender.sentBytes
            << ",\"retransmitted_bytes\":" << sender.retransmittedBytes
            << ",\"inflight_bytes\":" << sender.inFlightBytes
            << ",\"cwnd_bytes\":" << sender.cwndBytes << ",\"ce_bytes\":" << sender.ceBytes
            << ",\"srtt_us\":" << sender.srttUs << ",\"ssthresh\":" << ssthresh
            << ",\"state\":" << sender.congState << "}}";
        m_flowSamples.push_back(out.str());
    }
    SampleLaws();
    Simulator::Schedule(NanoSeconds(m_run.sampleNs), &Recorder::Sample, this);
}

void
Recorder::SampleAtEnd()
{
    if (m_run.sampleNs > 0 && m_run.durationNs % m_run.sampleNs == 0)
    {
        SampleLaws();
    }
}

void
Recorder::SampleLaws()
{
    if (!m_run.hasLawSamples)
    {
        return;
    }
    std::vector<std::string> values;
    for (const Disc& disc : m_discs)
    {
        Ptr<SojournAqmQueueDisc> ours = DynamicCast<SojournAqmQueueDisc>(disc.disc);
        for (const std::string& name : ours ? ours->GetStateNames() : std::vector<std::string>{})
        {
            values.push_back(std::to_string(std::bit_cast<uint64_t>(ours->GetState(name))));
        }
    }
    m_lawSamples.push_back(List(values, AsItIs));
}

void
Recorder::WritePackets(const std::string& path) const
{
    std::string out;
    for (const Record& record : m_records)
    {
        Append(out, record.flow);
        Append(out, record.seq);
        Append(out, record.arrivedNs);
        Append(out, record.leftNs);
        Append(out, record.bytes);
        for (uint8_t byte : {record.kind, record.ecn, record.fate, record.dropped, record.marked,
                             record.direction})
        {
            Append(out, byte);
        }
    }
    std::ofstream(path, std::ios::binary) << out;
}

void
Recorder::WriteResult(const std::string& path,
                      const Traffic& traffic,
                      const Network& network) const
{
    const auto counts = [](const FlowCounts& row) {
        return "{\"delivered_bytes\":" + std::to_string(row.deliveredBytes) +
               ",\"sent\":" + std::to_string(row.sent) + ",\"refused\":0}";
    };
    const auto begun = [](const TransferSeen& row) {
        return "{\"flow\":" + std::to_string(row.flow) +
               ",\"start_ns\":" + std::to_string(row.startNs);
    };
    std::vector<FlowCounts> atEnd;
    std::vector<std::string> ecn;
    for (uint32_t flow = 0; flow < m_run.flows.size(); flow++)
    {
        const SenderState none;
        const SenderState* shown = traffic.Sender(flow);
        const SenderState& sender = shown ? *shown : none;
        atEnd.push_back(traffic.Counts(flow));
        ecn.push_back("[" + std::to_string(sender.established) + "," +
                      std::to_string(sender.capable) + "]");
    }
    std::ofstream out(path);
    out << "{\"at_warmup\":" << List(m_atWarmup, counts) << ",\"counts\":" << List(atEnd, counts)
        << ",\"samples\":" << List(m_flowSamples, AsItIs)
        << ",\"law_samples\":" << List(m_lawSamples, AsItIs)
        << ",\"bins\":" << List(m_bins, AsItIs) << ",\"log\":{\"transfers\":"
        << List(traffic.Transfers(),
                [&](const TransferSeen& row) {
                    return begun(row) + ",\"bytes\":" + std::to_string(row.bytes) +
                           ",\"completion_ns\":" + std::to_string(row.tookNs) + "}";
                })
        << ",\"unfinished\":"
        << List(traffic.Unfinished(),
                [&](const TransferSeen& row) {
                    return begun(row) + ",\"seen_ns\":" + std::to_string(row.tookNs) + "}";
                })
        << ",\"one_way\":"
        << List(traffic.Datagrams(),
                [](const DatagramSeen& row) {
                    return "{\"flow\":" + std::to_string(row.flow) +
                           ",\"number\":" + std::to_string(row.number) +
                           ",\"at_ns\":" + std::to_string(row.atNs) +
                           ",\"delay_ns\":" + std::to_string(row.delayNs) + "}";
                })
        << "},\"ecn\":" << List(ecn, AsItIs) << ",\"broken\":"
        << List(traffic.Broken(), [](const std::string& text) { return "\"" + text + "\""; })
        << ",\"offloads\":[],\"before\":{\"network\":" << network.Describe()
        << ",\"sockets\":" << traffic.Describe() << "},\"after\":null,\"capture_lost\":0"
        << ",\"kernel_counters\":null,\"module\":null,\"link_counts\":[]"
        << ",\"wire_counts\":" << network.DescribeLosses() << ",\"latest_ns\":0}\n";
}

} // namespace sojourn
