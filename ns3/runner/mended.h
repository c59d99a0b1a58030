/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_MENDED_H
#define SOJOURN_RUNNER_MENDED_H

#include "instructions.h"

#include "ns3/socket.h"

namespace sojourn
{

/**
 * Replaces parts of a socket's TCP, before it connects, by corrected ones, as named:
 *
 * - `prr`: proportional rate reduction by RFC 9937 §6.2, which counts SACKed data as delivered once
 *   and starts from all outstanding data;
 * - `threshold`: a timeout that follows a timeout holds the threshold (RFC 5681 §3.1), the end of a
 *   recovery does not open the window, and Reno restarts its count of acknowledgements at a
 *   reduction (Linux 6.1 tcp_input.c, tcp_cong_control, tcp_init_cwnd_reduction);
 * - `hystart`: CUBIC leaves slow start when the delay has risen by an eighth of the smallest round
 *   trip, 4 ms to 16 ms (Linux 6.1 tcp_cubic.c, HYSTART_DELAY_THRESH), by measured round trips; it
 *   also holds its threshold.
 *
 * @param socket a TCP socket
 * @param group the settings of its flows, with the names of the corrections
 */
void Mend(ns3::Ptr<ns3::Socket> socket, const GroupWanted& group);

} // namespace sojourn

#endif // SOJOURN_RUNNER_MENDED_H
