/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_NETWORK_H
#define SOJOURN_RUNNER_NETWORK_H

#include "cell.h"
#include "instructions.h"
#include "loss.h"

#include "ns3/ipv4-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <memory>

namespace sojourn
{

/**
 * The dumbbell:
 *
 *   sender of each flow -- router == router -- receiver of each group
 *
 * All links are point-to-point. The queue discs are at the two ends of the link between the
 * routers; a disc hands a packet on when its transmission begins, and no other packet waits below.
 *
 * Where the scenario has a wireless LAN, the routers are an access point and its stations. Each has
 * a queue disc, and below it the queue of ns-3's Wi-Fi.
 */
class Network
{
  public:
    /// @param run the run to build
    explicit Network(const Instructions& run);

    /// @param flow a flow @return its sender
    ns3::Ptr<ns3::Node> Sender(uint32_t flow) const;
    /// @param group a group @return the node of its receivers
    ns3::Ptr<ns3::Node> Receiver(uint32_t group) const;
    /// @param group a group @return the address of its receivers
    ns3::Ipv4Address ReceiverAddress(uint32_t group) const;
    /// @return the discs of the links
    const std::vector<ns3::Ptr<ns3::QueueDisc>>& Discs() const;
    /// @return the devices of the routers, those of the links first
    const std::vector<ns3::Ptr<ns3::NetDevice>>& Devices() const;

    /// @return JSON of the configuration, as ns-3 reads it back
    std::string Describe() const;
    /// @return JSON of the losses behind the links
    std::string DescribeLosses() const;
    /// @param path the file for the records of frames, for a wireless LAN
    void WriteFrames(const std::string& path) const;

  private:
    /// The link between the routers with its discs.
    void JoinRouters();
    /// The transmitters of a wireless LAN with their discs.
    void JoinCell();
    /// Adds a route at the router at the other end of a group's path.
    void AddRoute(ns3::Ipv4Address network, uint32_t at, uint32_t of);
    /// Random loss behind a link.
    void AddLoss(const LinkWanted& link, uint32_t index);
    /// A separate sender for a flow.
    void AddSender(uint32_t flow);
    /// The receivers of a group.
    void AddReceivers(uint32_t group);
    /// Lets a device take a packet only while none is being sent.
    void CloseBelow(ns3::Ptr<ns3::PointToPointNetDevice> device);
    /// A disc on a device.
    void Install(const LinkWanted& link, ns3::Ptr<ns3::NetDevice> device);

    Instructions m_run;                          //!< what is wanted
    ns3::NodeContainer m_routers;                //!< of the links; a dumbbell has two always
    ns3::NodeContainer m_senders;                //!< by flow
    ns3::NodeContainer m_receivers;              //!< by group
    std::vector<ns3::Ipv4Address> m_addresses;   //!< of the receivers
    std::vector<ns3::Ptr<ns3::QueueDisc>> m_discs; //!< by link
    std::vector<ns3::Ptr<ns3::NetDevice>> m_devices; //!< of the routers
    std::vector<ns3::Ptr<WireLoss>> m_losses;    //!< by link; null without loss
    std::unique_ptr<Cell> m_cell;                //!< the wireless LAN
};

/**
 * @param object any object
 * @param names of its attributes
 * @return JSON of their values
 */
std::string DescribeAttributes(ns3::Ptr<const ns3::Object> object, const Attributes& names);

} // namespace sojourn

#endif // SOJOURN_RUNNER_NETWORK_H
