/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_NETWORK_H
#define SOJOURN_RUNNER_NETWORK_H

#include "instructions.h"

#include "ns3/ipv4-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

namespace sojourn
{

/**
 * The dumbbell:
 *
 *   sender of each flow -- router == router -- receiver of each group
 *
 * All links are point-to-point. The queue discs are at the two ends of the link between the
 * routers; a disc hands a packet on when its transmission begins, and no other packet waits below.
 */
class Network
{
  public:
    /// @param run what is wanted
    explicit Network(const Instructions& run);

    /// @param flow a flow @return its sender
    ns3::Ptr<ns3::Node> Sender(uint32_t flow) const;
    /// @param group a group @return the node of its receivers
    ns3::Ptr<ns3::Node> Receiver(uint32_t group) const;
    /// @param group a group @return the address of its receivers
    ns3::Ipv4Address ReceiverAddress(uint32_t group) const;
    /// @param isReverse the direction @return the disc there, null if there is none
    ns3::Ptr<ns3::QueueDisc> Disc(bool isReverse) const;

    /// @return JSON of what is configured, as ns-3 reads it back
    std::string Describe() const;

  private:
    /// The link between the routers with its discs.
    void JoinRouters();
    /// A sender of its own for a flow.
    void AddSender(uint32_t flow);
    /// The receivers of a group.
    void AddReceivers(uint32_t group);
    /// A disc on a device, which takes a packet only while none is being sent.
    ns3::Ptr<ns3::QueueDisc> Install(const LinkWanted& link,
                                     ns3::Ptr<ns3::PointToPointNetDevice> device);

    Instructions m_run;                          //!< what is wanted
    ns3::NodeContainer m_routers;                //!< near the senders, near the receivers
    ns3::NodeContainer m_senders;                //!< by flow
    ns3::NodeContainer m_receivers;              //!< by group
    std::vector<ns3::Ipv4Address> m_addresses;   //!< of the receivers
    ns3::Ptr<ns3::QueueDisc> m_discs[2];         //!< forward, reverse
    ns3::Ptr<ns3::PointToPointNetDevice> m_devices[2]; //!< below them
};

/**
 * @param object any object
 * @param names of its attributes
 * @return JSON of their values
 */
std::string DescribeAttributes(ns3::Ptr<const ns3::Object> object, const Attributes& names);

} // namespace sojourn

#endif // SOJOURN_RUNNER_NETWORK_H
