/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_CLOCK_H
#define SOJOURN_RUNNER_CLOCK_H

#include "ns3/simulator.h"

#include <algorithm>

namespace sojourn
{

/// ns-3's time at the start of the scenario. The stations of a cell join before that.
inline ns3::Time g_origin;

/// @return the time of the scenario, nanoseconds
inline uint64_t
NowNs()
{
    const int64_t ns = (ns3::Simulator::Now() - g_origin).GetNanoSeconds();
    return static_cast<uint64_t>(std::max<int64_t>(ns, 0));
}

/// @param ns a time of the scenario, nanoseconds @return the delay until then
inline ns3::Time
Until(uint64_t ns)
{
    return g_origin + ns3::NanoSeconds(ns) - ns3::Simulator::Now();
}

} // namespace sojourn

#endif // SOJOURN_RUNNER_CLOCK_H
