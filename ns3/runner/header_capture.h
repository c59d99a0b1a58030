/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_HEADER_CAPTURE_H
#define SOJOURN_RUNNER_HEADER_CAPTURE_H

#include "network.h"

#include "ns3/ipv4.h"
#include "ns3/wifi-mpdu.h"

#include <string>

namespace sojourn
{

/// Captures packets with their headers at both ends of the flows and on both sides of each disc.
class HeaderCapture
{
  public:
    /// Lets ns-3 compute checksums; before any node exists.
    static void EnableChecksums();

    /// @param run the run @param network its hosts and devices are watched
    HeaderCapture(const Instructions& run, const Network& network);

    /// A packet arrives at a disc.
    /// @param place its link @param ip its header @param packet the rest
    void Arrived(std::size_t place, const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet);
    /// @param path the file for the rows
    void Write(const std::string& path) const;

  private:
    /// Places, numbered as in crates/router/src/captures/headers.rs.
    enum Point : uint8_t
    {
        SENDER,
        RECEIVER,
        ARRIVED,
        SENT
    };

    void WatchHost(Point point, ns3::Ptr<ns3::Node> host);
    void WatchDevice(std::size_t place, ns3::Ptr<ns3::NetDevice> device);
    void AtHost(Point point, ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    void Sent(std::size_t place, ns3::Ptr<const ns3::Packet> packet);
    void Acked(std::size_t place, ns3::Ptr<const ns3::WifiMpdu> mpdu);
    /// Appends the row of a packet that begins with its IP header.
    void Append(Point point, std::size_t place, ns3::Ptr<const ns3::Packet> packet);

    const Instructions& m_run; //!< what is wanted
    std::string m_rows;        //!< in order of time
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_HEADER_CAPTURE_H
