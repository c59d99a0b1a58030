/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_PORTS_H
#define SOJOURN_RUNNER_PORTS_H

#include <cstdint>

namespace sojourn
{

/// Port of the first flow.
constexpr uint16_t FIRST_PORT = 10000;
/// The first port of senders (`ns3::Ipv4EndPointDemux`).
constexpr uint16_t FIRST_EPHEMERAL_PORT = 49152;

/// @param port a destination @return whether it is a receiver's: all others are higher
inline bool
IsToReceiver(uint16_t port)
{
    return port >= FIRST_PORT && port < FIRST_EPHEMERAL_PORT;
}

} // namespace sojourn

#endif // SOJOURN_RUNNER_PORTS_H
