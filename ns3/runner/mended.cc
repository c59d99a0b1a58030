/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "mended.h"

#include "holds.h"

#include "ns3/fatal-error.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-socket-base.h"

#include <algorithm>
#include <utility>

using namespace ns3;

namespace sojourn
{

namespace
{

/// A control whose window does not grow by the data that SACK reported during a recovery.
/// TcpSocketBase of ns-3.44 (ProcessAck) passes to IncreaseWindow all segments that the last
/// acknowledgement of a recovery covers, a window of them; Linux counts only the data that this
/// acknowledgement delivers (6.1 tcp_input.c, tcp_cong_control).
template <typename Control>
class NoCredit : public Holds<Control>
{
  public:
    void
    CwndEvent(Ptr<TcpSocketState> state, const TcpSocketState::TcpCAEvent_t event) override
    {
        Holds<Control>::CwndEvent(state, event);
        m_isLeaving |= event == TcpSocketState::CA_EVENT_COMPLETE_CWR &&
                       state->m_congState == TcpSocketState::CA_RECOVERY;
    }

    void
    IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segmentsAcked) override
    {
        if (!std::exchange(m_isLeaving, false))
        {
            Holds<Control>::IncreaseWindow(state, segmentsAcked);
        }
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<NoCredit<Control>>(this);
    }

  private:
    bool m_isLeaving{false}; //!< whether the next increase is that of a recovery's end
};

/// CUBIC that gets the measured round-trip times: TcpSocketBase of ns-3.44 passes the smoothed one
/// to PktsAcked, which still includes the queue of the previous round.
class MeasuringCubic : public NoCredit<TcpCubic>
{
  public:
    void
    PktsAcked(Ptr<TcpSocketState> state, uint32_t segments, const Time&) override
    {
        TcpCubic::PktsAcked(state, segments, state->m_lastRtt.Get());
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<MeasuringCubic>(this);
    }
};

/// Reno that restarts its count of acknowledgements with every reduction, as Linux does (6.1
/// tcp_input.c, tcp_init_cwnd_reduction). TcpLinuxReno of ns-3.44 keeps its count, which may be a
/// window from before the reduction.
class RecountingReno : public NoCredit<TcpLinuxReno>
{
  public:
    uint32_t
    GetSsThresh(Ptr<const TcpSocketState> state, uint32_t bytesInFlight) override
    {
        m_counted = 0;
        return NoCredit<TcpLinuxReno>::GetSsThresh(state, bytesInFlight);
    }

    Ptr<TcpCongestionOps>
    Fork() override
    {
        return CopyObject<RecountingReno>(this);
    }

  protected:
    /// Linux 6.1 tcp_cong.c, tcp_cong_avoid_ai.
    void
    CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t segmentsAcked) override
    {
        if (!state->m_isCwndLimited)
        {
            return;
        }
        const uint32_t window = std::max(state->m_cWnd.Get() / state->m_segmentSize, 1U);
        uint32_t more = m_counted >= window ? 1 : 0;
        m_counted = (more > 0 ? 0 : m_counted) + segmentsAcked;
        more += m_counted / window;
        m_counted %= window;
        state->m_cWnd += more * state->m_segmentSize;
    }

  private:
    uint32_t m_counted{0}; //!< segments acknowledged since the last increase
};

/// Proportional rate reduction for connections with SACK (RFC 9937 §6.2), with the RFC's names.
class ProportionalRecovery : public TcpRecoveryOps
{
  public:
    std::string
    GetName() const override
    {
        return "ProportionalRecovery";
    }

    void
    EnterRecovery(Ptr<TcpSocketState> state,
                  uint32_t,
                  uint32_t outstanding,
                  uint32_t delivered) override
    {
        m_prrOut = 0;
        m_prrDelivered = 0;
        m_recoverFs = std::max(outstanding, state->m_segmentSize);
        DoRecovery(state, delivered, true);
    }

    void
    DoRecovery(Ptr<TcpSocketState> state, uint32_t delivered, bool) override
    {
        if (delivered == 0)
        {
            return;
        }
        m_prrDelivered += delivered;
        const int64_t pipe = state->m_bytesInFlight.Get();
        const int64_t threshold = state->m_ssThresh.Get();
        int64_t sndcnt;
        if (pipe > threshold)
        {
            sndcnt = (m_prrDelivered * threshold + m_recoverFs - 1) / m_recoverFs - m_prrOut;
        }
        else
        {
            const int64_t safe = state->m_isRetransDataAcked ? state->m_segmentSize : 0;
            const int64_t limit = std::max<int64_t>(m_prrDelivered - m_prrOut, delivered) + safe;
            sndcnt = std::min(limit, threshold - pipe);
        }
        sndcnt = std::max<int64_t>(sndcnt, m_prrOut > 0 ? 0 : state->m_segmentSize);
        state->m_cWnd = static_cast<uint32_t>(pipe + sndcnt);
        state->m_cWndInfl = state->m_cWnd;
    }

    void
    ExitRecovery(Ptr<TcpSocketState> state) override
    {
        state->m_cWndInfl = state->m_cWnd;
    }

    void
    UpdateBytesSent(uint32_t bytes) override
    {
        m_prrOut += bytes;
    }

    Ptr<TcpRecoveryOps>
    Fork() override
    {
        return CopyObject<ProportionalRecovery>(this);
    }

  private:
    int64_t m_prrOut{0};       //!< sent since the recovery began, bytes
    int64_t m_prrDelivered{0}; //!< delivered since then
    int64_t m_recoverFs{1};    //!< outstanding when it began
};

/// @return a congestion control of that type that holds its threshold
Ptr<TcpCongestionOps>
Holding(const std::string& control)
{
    if (control == "ns3::TcpCubic")
    {
        return CreateObject<MeasuringCubic>();
    }
    if (control == "ns3::TcpLinuxReno")
    {
        return CreateObject<RecountingReno>();
    }
    if (control == "ns3::TcpNewReno")
    {
        return CreateObject<NoCredit<TcpNewReno>>();
    }
    NS_FATAL_ERROR(control << " cannot hold its threshold");
}

/// @return whether a group needs a corrected part
bool
Wants(const GroupWanted& group, const std::string& name)
{
    return std::find(group.mended.begin(), group.mended.end(), name) != group.mended.end();
}

} // namespace

void
Mend(Ptr<Socket> socket, const GroupWanted& group)
{
    auto tcp = DynamicCast<TcpSocketBase>(socket);
    if (Wants(group, "prr"))
    {
        tcp->SetRecoveryAlgorithm(CreateObject<ProportionalRecovery>());
    }
    if (!Wants(group, "threshold"))
    {
        return;
    }
    auto control = Holding(group.control);
    if (Wants(group, "hystart"))
    {
        const auto rise = NanoSeconds(group.hystartRiseNs);
        control->SetAttribute("HyStartDelayMin", TimeValue(rise));
        control->SetAttribute("HyStartDelayMax", TimeValue(rise));
    }
    tcp->SetCongestionControlAlgorithm(control);
}

} // namespace sojourn
