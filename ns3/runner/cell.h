/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_CELL_H
#define SOJOURN_RUNNER_CELL_H

#include "instructions.h"

#include "ns3/node-container.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/yans-wifi-channel.h"

namespace sojourn
{

/**
 * A wireless LAN: ns-3's 802.11g, without mobility and without QoS. The first node is the access
 * point, the others are its stations. A frame between it and a station has that station's rate,
 * signal-to-noise ratio (ns-3's NIST model of errors) and other losses.
 */
class Cell
{
  public:
    /// Time for the stations to join, before the scenario begins.
    static constexpr double JOINING_S = 2;

    /// @param run the run, which outlives this @param nodes access point and stations
    Cell(const Instructions& run, const ns3::NodeContainer& nodes);

    /// @return their devices
    const std::vector<ns3::Ptr<ns3::WifiNetDevice>>& Devices() const;
    /// @param place a device @return JSON of its configuration, to be continued
    std::string Describe(uint32_t place) const;
    /// @param path the file for the records of frames
    void WriteFrames(const std::string& path) const;

  private:
    /// A frame with a packet, in the format of crates/router/src/collect/frames.rs.
    struct Frame
    {
        uint64_t startNs; //!< of the scenario
        uint32_t busyNs;  //!< until its end, or that of its acknowledgement
        uint16_t rate;    //!< in units of 100 kbit/s
        uint16_t bytes;   //!< of the packet
        uint16_t link;    //!< the transmitter
        uint8_t outcome;  //!< 0 failed, 1 received, 2 given up
    };

    void Install(uint32_t place, ns3::Ptr<ns3::Node> node);
    void SetRates();
    void SetErrors();
    void Watch(uint16_t place);
    void RequireStations() const;
    void Sent(uint16_t place, ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double);
    void Acked(uint16_t place, ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void Dropped(uint16_t place, ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> mpdu);

    const Instructions& m_run;                           //!< what is wanted
    ns3::Ptr<ns3::YansWifiChannel> m_channel;            //!< the medium
    std::vector<ns3::Ptr<ns3::WifiNetDevice>> m_devices; //!< by place
    std::vector<Frame> m_frames;                         //!< in the order of their starts
    std::vector<std::size_t> m_last;                     //!< the last frame of each device
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_CELL_H
