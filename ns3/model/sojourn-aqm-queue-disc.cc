/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) one class, which ns-3 keeps in one file, and ns-3's style puts every brace
 * and result type on a separate line. Flow queues, reasons, and the reading of packets and
 * parameters are in other files.
 */

#include "sojourn-aqm-queue-disc.h"

#include "sojourn-packet.h"
#include "sojourn-parameter.h"
#include "sojourn_aqm.h"

#include "ns3/boolean.h"
#include "ns3/fatal-error.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/net-device.h"
#include "ns3/packet-filter.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("SojournAqmQueueDisc");

NS_OBJECT_ENSURE_REGISTERED(SojournAqmQueueDisc);

namespace
{

/// No limit was set: the AQM's limit applies.
const QueueSize UNSET(QueueSizeUnit::PACKETS, std::numeric_limits<uint32_t>::max());

/// @return whether both are equal in number and unit
bool
IsSame(const QueueSize& one, const QueueSize& other)
{
    return one.GetUnit() == other.GetUnit() && one.GetValue() == other.GetValue();
}

/// @return now in nanoseconds
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

} // namespace

void
SojournAqmQueueDisc::Free::operator()(sojourn_qdisc* qdisc) const
{
    sojourn_free(qdisc);
}

TypeId
SojournAqmQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SojournAqmQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("TrafficControl")
            .AddTraceSource("State",
                            "A state variable of the AQM has changed",
                            MakeTraceSourceAccessor(&SojournAqmQueueDisc::m_stateTrace),
                            "ns3::SojournAqmQueueDisc::StateTracedCallback");
    return tid;
}

TypeId
SojournAqmQueueDisc::AddCommonAttributes(TypeId tid)
{
    return tid
        .AddAttribute("MaxSize",
                      "The maximum number of packets or bytes; 0p is the limit of the AQM",
                      *SojournUnset(QueueSizeValue(QueueSize("0p"))),
                      SojournIfSet(MakeQueueSizeAccessor(&SojournAqmQueueDisc::SetLimit,
                                                         &SojournAqmQueueDisc::GetLimit)),
                      SojournSizeChecker())
        .AddAttribute("Mtu",
                      "Largest packet of the link in bytes; 0 is the MTU of the device, or "
                      "1500 without one",
                      UintegerValue(0),
                      MakeUintegerAccessor(&SojournAqmQueueDisc::m_mtu),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("Rate",
                      "Rate of the link, for AQMs that use it; 0bps where it is not known",
                      *SojournUnset(DataRateValue(DataRate(0))),
                      SojournIfSet(MakeDataRateAccessor(&SojournAqmQueueDisc::SetRate,
                                                        &SojournAqmQueueDisc::GetRate)),
                      MakeDataRateChecker())
        .AddAttribute("UseNs3Random",
                      "Whether random numbers come from ns-3 (RngSeed, RngRun), else from Seed",
                      BooleanValue(true),
                      MakeBooleanAccessor(&SojournAqmQueueDisc::m_useNs3Random),
                      MakeBooleanChecker())
        .AddAttribute("Seed",
                      "Salts the AQM's own hashes of flows, and seeds its random numbers "
                      "unless UseNs3Random",
                      UintegerValue(1),
                      MakeUintegerAccessor(&SojournAqmQueueDisc::m_seed),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("Perturbation",
                      "The salt of the hash that names the flow of a packet",
                      UintegerValue(0),
                      MakeUintegerAccessor(&SojournAqmQueueDisc::m_perturbation),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("EnableSetAssociativeHash",
                      "Whether a flow takes any free flow queue of the set into which its hash "
                      "falls; of discs with a law in every flow queue",
                      BooleanValue(false),
                      MakeBooleanAccessor(&SojournAqmQueueDisc::m_isSetAssociative),
                      MakeBooleanChecker())
        .AddAttribute("SetWays",
                      "The number of flow queues in a set",
                      UintegerValue(8),
                      MakeUintegerAccessor(&SojournAqmQueueDisc::m_setWays),
                      MakeUintegerChecker<uint32_t>(1));
}

SojournAqmQueueDisc::SojournAqmQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::MULTIPLE_QUEUES),
      m_limit(UNSET),
      m_rate(0),
      m_needsFlows(false),
      m_mayMark(false)
{
    NS_LOG_FUNCTION(this);
    SetMaxSize(UNSET);
}

SojournAqmQueueDisc::~SojournAqmQueueDisc()
{
    NS_LOG_FUNCTION(this);
}

void
SojournAqmQueueDisc::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_timer.Cancel();
    m_wake.Cancel();
    for (std::size_t i = 0; m_table && i < GetNQueueDiscClasses(); i++)
    {
        StaticCast<SojournFlow>(GetQueueDiscClass(i))->SetAqm(nullptr);
    }
    m_table.reset();
    m_qdisc.reset();
    m_queue = nullptr;
    QueueDisc::DoDispose();
}

void
SojournAqmQueueDisc::NotifyConstructionCompleted()
{
    QueueDisc::NotifyConstructionCompleted();
    // A variable takes ns-3's next stream, which shifts the streams of all later variables. An AQM
    // that draws no numbers must not do so, to be equivalent to ns3::CoDelQueueDisc.
    if (SojournReasons(DescribeAqm()).MayDraw())
    {
        m_uniform = CreateObject<UniformRandomVariable>();
    }
}

int64_t
SojournAqmQueueDisc::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    if (!m_uniform)
    {
        m_uniform =
            CreateObjectWithAttributes<UniformRandomVariable>("Stream", IntegerValue(stream));
    }
    m_uniform->SetStream(stream);
    return 1;
}

double
SojournAqmQueueDisc::Draw()
{
    if (!m_uniform) // Aqm was set again after the disc was made
    {
        m_uniform = CreateObject<UniformRandomVariable>();
    }
    return m_uniform->GetValue();
}

bool
SojournAqmQueueDisc::IsInitialized() const
{
    return m_qdisc != nullptr;
}

void
SojournAqmQueueDisc::SetRate(DataRate rate)
{
    m_rate = rate;
    if (!IsInitialized())
    {
        return;
    }
    CatchUp();
    if (sojourn_on_rate(m_qdisc.get(), NowNs(), rate.GetBitRate()) != 0)
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName() << ": Rate must be positive, such as 10Mbps");
    }
    ScheduleTimer();
}

DataRate
SojournAqmQueueDisc::GetRate() const
{
    return m_rate;
}

bool
SojournAqmQueueDisc::SetLimit(QueueSize size)
{
    if (!IsInitialized())
    {
        SetMaxSize(size.GetValue() == 0 ? UNSET : size);
        return true;
    }
    const QueueSize before = GetMaxSize();
    if (!SetMaxSize(size))
    {
        return false; // zero
    }
    if (!FollowLimit())
    {
        SetMaxSize(before);
        return false;
    }
    return true;
}

QueueSize
SojournAqmQueueDisc::GetLimit() const
{
    return IsSame(GetMaxSize(), UNSET) ? QueueSize("0p") : GetMaxSize();
}

void
SojournAqmQueueDisc::FireStateTrace(std::size_t, double, double)
{
}

bool
SojournAqmQueueDisc::IsAnyStateTraced() const
{
    return false;
}

std::string
SojournAqmQueueDisc::FullText() const
{
    std::string text = DescribeAqm();
    const QueueSize limit = GetLimit();
    if (limit.GetValue() == 0)
    {
        return text;
    }
    text += text.find(':') == std::string::npos ? ":limit=" : ",limit=";
    text += std::to_string(limit.GetValue());
    return text + (limit.GetUnit() == QueueSizeUnit::PACKETS ? "p" : "B");
}

uint32_t
SojournAqmQueueDisc::FindMtu() const
{
    if (m_mtu > 0)
    {
        return m_mtu;
    }
    Ptr<NetDeviceQueueInterface> ndqi = GetNetDeviceQueueInterface();
    Ptr<NetDevice> device = ndqi ? ndqi->GetObject<NetDevice>() : nullptr;
    return device ? device->GetMtu() : 1500;
}

template <bool isMark>
void
SojournAqmQueueDisc::Note(void* context,
                          const sojourn_packet* packet,
                          uint64_t,
                          uint8_t stage,
                          uint8_t cause)
{
    auto* disc = static_cast<SojournAqmQueueDisc*>(context);
    disc->m_signals.push_back({packet->id, stage, cause, isMark});
}

bool
SojournAqmQueueDisc::CheckConfig()
{
    NS_LOG_FUNCTION(this);
    const std::string who = GetInstanceTypeId().GetName();
    if (GetNQueueDiscClasses() > 0)
    {
        NS_FATAL_ERROR(who << " makes its classes itself; add none");
    }
    if (GetNInternalQueues() > 0)
    {
        NS_FATAL_ERROR(who << " brings its internal queue itself; add none, and set MaxSize of the "
                              "disc");
    }
    if (Time::GetResolution() < Time::NS) // try a smaller unit
    {
        NS_FATAL_ERROR(who << " counts in nanoseconds; leave Time::SetResolution at NS or finer");
    }
    return true;
}

void
SojournAqmQueueDisc::InitializeParams()
{
    NS_LOG_FUNCTION(this);
    const std::string text = FullText();
    sojourn_setup setup{};
    setup.mtu_bytes = FindMtu();
    setup.rate_bps = m_rate.GetBitRate();
    setup.seed = m_seed;
    m_reasons = std::make_unique<SojournReasons>(text);
    setup.salt = m_reasons->HasFlowQueues() ? SojournFlowTable::SALT : 0;
    setup.context = this;
    setup.dropped = &SojournAqmQueueDisc::Note<false>;
    setup.marked = &SojournAqmQueueDisc::Note<true>;
    if (m_useNs3Random)
    {
        setup.uniform = [](void* context) {
            return static_cast<SojournAqmQueueDisc*>(context)->Draw();
        };
    }
    char error[400] = "";
    m_qdisc.reset(sojourn_new(text.c_str(), &setup, error, sizeof error));
    if (!m_qdisc)
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName() << " cannot be `" << text << "`: " << error);
    }
    m_needsFlows = sojourn_needs_flows(m_qdisc.get()) != 0;
    m_mayMark = m_reasons->MayMark() && GetParameter("ecn") != "false";
    MakeFlowTable();
    if (!m_table)
    {
        m_queue = CreateObject<SojournInternalQueue>();
        AddInternalQueue(m_queue);
    }
    m_state.assign(sojourn_var_count(m_qdisc.get()), std::nan(""));
    m_newState = m_state;
    AdoptLimit();
    CatchUp(); // the AQM counts from time 0, but the simulation may have started earlier
    ScheduleTimer();
}

void
SojournAqmQueueDisc::MakeFlowTable()
{
    const std::string who = GetInstanceTypeId().GetName();
    const sojourn_packet any{};
    if (sojourn_flow_queue(m_qdisc.get(), &any) < 0)
    {
        if (m_isSetAssociative)
        {
            NS_FATAL_ERROR(who << " has no flow queues for EnableSetAssociativeHash; set it for "
                                  "fq_codel and the like");
        }
        return;
    }
    const auto queues = static_cast<uint32_t>(std::stoul(GetParameter("flows")));
    if (m_isSetAssociative && queues % m_setWays != 0)
    {
        NS_FATAL_ERROR(who << " has " << queues << " flow queues; SetWays must divide that, and "
                           << m_setWays << " does not");
    }
    m_table = std::make_unique<SojournFlowTable>(queues, m_isSetAssociative ? m_setWays : 0);
}

void
SojournAqmQueueDisc::AdoptLimit()
{
    // The AQM shows sizes as 1514B, 250kB or 1MB, which QueueSize also reads.
    const std::string limit = GetParameter("limit");
    if (!limit.empty() && limit != "auto" && limit != "off")
    {
        SetMaxSize(QueueSize(limit));
    }
    m_limit = GetMaxSize();
}

bool
SojournAqmQueueDisc::FollowLimit()
{
    const QueueSize limit = GetMaxSize();
    if (IsSame(limit, m_limit))
    {
        return true;
    }
    const int isBytes = limit.GetUnit() == QueueSizeUnit::BYTES ? 1 : 0;
    if (sojourn_on_limit(m_qdisc.get(), limit.GetValue(), isBytes) != 0)
    {
        return false;
    }
    m_limit = limit;
    return true;
}

void
SojournAqmQueueDisc::Prepare()
{
    if (!m_qdisc)
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                       << " is not initialized: call Initialize, or install it on a device");
    }
    if (!FollowLimit())
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                       << ": MaxSize is part of this AQM and fixed once the disc is initialized");
    }
    if (Simulator::Now() < m_lastCall)
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                       << ": time has restarted; make a new disc for a new simulation");
    }
    m_lastCall = Simulator::Now();
    CatchUp();
}

std::string
SojournAqmQueueDisc::GetParameter(const std::string& name) const
{
    char value[100];
    const auto* qdisc = m_qdisc.get();
    const bool has = qdisc && sojourn_setting(qdisc, name.c_str(), value, sizeof value) == 0;
    return has ? value : "";
}

std::vector<std::string>
SojournAqmQueueDisc::GetStateNames() const
{
    std::vector<std::string> names;
    for (std::size_t i = 0; m_qdisc && i < sojourn_var_count(m_qdisc.get()); i++)
    {
        names.emplace_back(sojourn_var_name(m_qdisc.get(), i));
    }
    return names;
}

double
SojournAqmQueueDisc::GetState(const std::string& name)
{
    const auto names = GetStateNames();
    if (m_qdisc)
    {
        CatchUp();
        sojourn_observe(m_qdisc.get(), m_newState.data(), m_newState.size());
    }
    for (std::size_t i = 0; i < names.size(); i++)
    {
        if (names[i] == name)
        {
            return m_newState[i];
        }
    }
    NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                   << " has no state variable `" << name
                   << "`; GetStateNames lists them once the disc is initialized");
    return 0;
}

bool
SojournAqmQueueDisc::Describe(Ptr<QueueDiscItem> item, sojourn_packet& packet)
{
    packet.bytes = std::max(item->GetSize(), uint32_t{1}); // a link's rate is never zero
    if (GetNPacketFilters() > 0)
    {
        const int32_t flow = Classify(item);
        if (flow == PacketFilter::PF_NO_MATCH)
        {
            return false;
        }
        packet.flow = static_cast<uint32_t>(flow);
    }
    else if (m_needsFlows)
    {
        packet.flow = item->Hash(m_perturbation);
    }
    if (m_needsFlows)
    {
        FillInHosts(item, packet);
    }
    if (m_table)
    {
        const uint32_t queue = m_table->QueueOf(packet.flow, [this](uint32_t number) {
            int64_t credits;
            return sojourn_flow_turn(m_qdisc.get(), number, &credits) == SOJOURN_LIST_INACTIVE;
        });
        packet.flow = m_table->FlowOf(queue);
        packet.id = uint64_t{ClassOf(queue)} << 32;
    }
    FillInDsField(item, m_mayMark, packet);
    return true;
}

uint32_t
SojournAqmQueueDisc::ClassOf(uint32_t queue)
{
    if (queue >= m_classOf.size())
    {
        m_classOf.resize(queue + 1);
    }
    if (m_classOf[queue] == 0)
    {
        auto disc = CreateObject<SojournFlowQueueDisc>();
        disc->Initialize();
        auto flow = CreateObject<SojournFlow>();
        flow->SetIndex(queue);
        flow->SetAqm(m_qdisc.get());
        flow->SetQueueDisc(disc);
        AddQueueDiscClass(flow);
        m_classOf[queue] = GetNQueueDiscClasses();
    }
    return m_classOf[queue];
}

SojournAqmQueueDisc::Whereabouts
SojournAqmQueueDisc::Find(uint64_t id) const
{
    const auto place = static_cast<SojournInternalQueue::Place>(id);
    const uint64_t number = id >> 32;
    if (number == 0)
    {
        return {nullptr, *m_queue, place};
    }
    auto disc = GetQueueDiscClass(number - 1)->GetQueueDisc();
    auto* flow = static_cast<SojournFlowQueueDisc*>(PeekPointer(disc));
    return {flow, flow->GetPackets(), place};
}

bool
SojournAqmQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    NS_LOG_FUNCTION(this << item);
    Prepare();
    sojourn_packet packet{};
    if (!Describe(item, packet))
    {
        DropBeforeEnqueue(item, UNCLASSIFIED_DROP);
        return false;
    }
    const Whereabouts where = Find(packet.id);
    packet.id |= where.queue.Reserve();
    m_signals.clear();
    sojourn_enqueue(m_qdisc.get(), NowNs(), &packet);

    const Signal* drop = nullptr;
    for (const Signal& signal : m_signals)
    {
        if (signal.id == packet.id && signal.stage == SOJOURN_STAGE_ENQUEUE)
        {
            if (signal.isMark)
            {
                MarkFor(item, where.flow, signal.cause);
            }
            else
            {
                drop = &signal;
            }
        }
    }
    Admit(item, packet.id, drop);
    ScheduleTimer();
    TraceState();
    return !drop;
}

void
SojournAqmQueueDisc::Admit(Ptr<QueueDiscItem> item, uint64_t id, const Signal* drop)
{
    const Whereabouts where = Find(id);
    if (!drop)
    {
        item->SetTimeStamp(Simulator::Now()); // the AQM may drop it before this call returns
        where.flow ? where.flow->Accept(item, where.place) : where.queue.Append(item, where.place);
    }
    for (const Signal& signal : m_signals)
    {
        if (signal.stage != SOJOURN_STAGE_ENQUEUE)
        {
            CarryOut(signal);
        }
    }
    if (!drop)
    {
        return;
    }
    where.queue.Release(where.place);
    const char* reason = m_reasons->OfDrop(drop->cause);
    // A packet that does not fit is dropped before it reaches its flow queue.
    if (where.flow && drop->cause != SOJOURN_CAUSE_OVERFLOW)
    {
        where.flow->Refuse(item, reason);
    }
    else
    {
        DropBeforeEnqueue(item, reason);
    }
}

Ptr<QueueDiscItem>
SojournAqmQueueDisc::DoDequeue()
{
    NS_LOG_FUNCTION(this);
    Prepare();
    m_signals.clear();
    sojourn_departure departure;
    const bool left = sojourn_dequeue(m_qdisc.get(), NowNs(), &departure) == 1;
    Ptr<QueueDiscItem> item;
    for (const Signal& signal : m_signals)
    {
        if (!(left && signal.isMark && signal.id == departure.packet.id))
        {
            CarryOut(signal);
            continue;
        }
        const Whereabouts where = Find(signal.id);
        item = item ? item : where.queue.Take(where.place);
        MarkFor(item, where.flow, signal.cause);
    }
    if (left && !item)
    {
        const Whereabouts where = Find(departure.packet.id);
        item = where.queue.Take(where.place);
    }
    if (!left)
    {
        ScheduleWake();
    }
    ScheduleTimer();
    TraceState();
    return item;
}

void
SojournAqmQueueDisc::CarryOut(const Signal& signal)
{
    const Whereabouts where = Find(signal.id);
    if (signal.isMark)
    {
        MarkFor(where.queue.Look(where.place), where.flow, signal.cause);
        return;
    }
    Ptr<QueueDiscItem> item = where.queue.Take(where.place);
    const char* reason = m_reasons->OfDrop(signal.cause);
    if (where.flow && signal.cause != SOJOURN_CAUSE_OVERFLOW)
    {
        where.flow->Drop(item, reason);
    }
    else
    {
        DropAfterDequeue(item, reason);
    }
}

void
SojournAqmQueueDisc::MarkFor(Ptr<QueueDiscItem> item, SojournFlowQueueDisc* flow, uint8_t cause)
{
    const char* reason = m_reasons->OfMark(cause);
    if (!(flow ? flow->MarkPacket(item, reason) : Mark(item, reason)))
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                       << ": a packet whose ECN field says that it can be marked refuses to be: "
                       << *item);
    }
}

void
SojournAqmQueueDisc::CatchUp()
{
    const uint64_t now = NowNs();
    for (uint64_t due = sojourn_next_timer(m_qdisc.get()); due <= now;
         due = sojourn_next_timer(m_qdisc.get()))
    {
        sojourn_on_timer(m_qdisc.get(), due);
    }
}

void
SojournAqmQueueDisc::ScheduleTimer()
{
    const uint64_t due = sojourn_next_timer(m_qdisc.get());
    if (due == SOJOURN_NEVER || !m_timer.IsExpired())
    {
        return; // an early event schedules the next one
    }
    m_timer = Simulator::Schedule(NanoSeconds(due - NowNs()), &SojournAqmQueueDisc::OnTimer, this);
}

void
SojournAqmQueueDisc::OnTimer()
{
    CatchUp();
    ScheduleTimer();
    TraceState();
}

void
SojournAqmQueueDisc::ScheduleWake()
{
    const uint64_t until = sojourn_held_until(m_qdisc.get());
    if (until == SOJOURN_NEVER || until <= NowNs() || !m_wake.IsExpired() || !GetSendCallback())
    {
        return; // without a send callback the user dequeues packets
    }
    m_wake = Simulator::Schedule(NanoSeconds(until - NowNs()), &QueueDisc::Run, this);
}

void
SojournAqmQueueDisc::TraceState()
{
    if (m_stateTrace.IsEmpty() && !IsAnyStateTraced())
    {
        return;
    }
    sojourn_observe(m_qdisc.get(), m_newState.data(), m_newState.size());
    for (std::size_t i = 0; i < m_state.size(); i++)
    {
        const double before = m_state[i];
        const double after = m_newState[i];
        if (before == after || (std::isnan(before) && std::isnan(after)))
        {
            continue;
        }
        m_state[i] = after;
        m_stateTrace(sojourn_var_name(m_qdisc.get(), i), after);
        FireStateTrace(i, std::isnan(before) ? 0.0 : before, after);
    }
}

} // namespace ns3
