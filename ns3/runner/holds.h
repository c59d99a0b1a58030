/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_HOLDS_H
#define SOJOURN_RUNNER_HOLDS_H

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"

namespace sojourn
{

/**
 * A congestion control that holds its threshold at a timeout that follows a timeout (RFC 5681
 * §3.1). The TcpSocketBase::ReTxTimeout of ns-3.44 tests whether the head was retransmitted only
 * after SetSentListLost has cleared that flag, and so reduces the threshold at each timeout, to two
 * segments.
 */
template <typename Control>
class Holds : public Control
{
  public:
    uint32_t
    GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, uint32_t bytesInFlight) override
    {
        const bool isRepeated = state->m_congState == ns3::TcpSocketState::CA_LOSS;
        return isRepeated ? state->m_ssThresh.Get() : Control::GetSsThresh(state, bytesInFlight);
    }

    ns3::Ptr<ns3::TcpCongestionOps>
    Fork() override
    {
        return ns3::CopyObject<Holds<Control>>(this);
    }
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_HOLDS_H
