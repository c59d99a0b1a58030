/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_TRAFFIC_H
#define SOJOURN_RUNNER_TRAFFIC_H

#include "network.h"

#include "ns3/socket.h"
#include "ns3/tcp-socket-base.h"

#include <memory>

namespace sojourn
{

/// The counters of a flow.
struct FlowCounts
{
    uint64_t deliveredBytes{0}; //!< to the receiving application
    uint64_t sent{0};           //!< datagrams
};

/// The sender's state over its connections; sums include closed ones.
struct SenderState
{
    uint64_t sentBytes{0};          //!< payload, retransmissions included
    uint64_t retransmittedBytes{0}; //!< payload
    uint64_t ceBytes{0};            //!< payload that arrived with a CE mark
    uint32_t inFlightBytes{0};      //!< of the last connection, like all below
    uint32_t cwndBytes{0};          //!< window
    uint32_t ssthreshBytes{0};      //!< threshold
    uint32_t congState{0};          //!< 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss
    int64_t srttUs{0};              //!< smoothed round-trip time, microseconds
    uint32_t established{0};        //!< connections
    uint32_t capable{0};            //!< those of them that use ECN
};

/// A transfer that has ended or is in progress.
struct TransferSeen
{
    uint32_t flow;    //!< its flow
    uint64_t startNs; //!< when its connection was opened
    uint64_t bytes;   //!< its size
    uint64_t tookNs;  //!< until its last byte arrived
};

/// A datagram that arrived.
struct DatagramSeen
{
    uint32_t flow;    //!< its flow
    uint32_t number;  //!< counted from 0
    uint64_t atNs;    //!< when it arrived
    uint64_t delayNs; //!< since it was sent
};

/// Both ends of all flows.
class Traffic
{
  public:
    /// @param run the run to make @param network where
    Traffic(const Instructions& run, const Network& network);
    ~Traffic();

    /// @param flow a flow @return its counts now
    FlowCounts Counts(uint32_t flow) const;
    /// @param flow a flow @return its sender now; null for datagrams
    const SenderState* Sender(uint32_t flow) const;
    /// @return transfers that ended
    const std::vector<TransferSeen>& Transfers() const;
    /// @return finite transfers that are not finished
    std::vector<TransferSeen> Unfinished() const;
    /// @return datagrams that arrived
    const std::vector<DatagramSeen>& Datagrams() const;
    /// @return sentences about connections that broke
    const std::vector<std::string>& Broken() const;
    /// @return JSON of the sockets of each group, as ns-3 reads them back
    std::string Describe() const;

  private:
    struct Flow;

    /// Counts payload that arrives with a CE mark at the receivers of a group.
    void WatchMarks(ns3::Ptr<ns3::Node> receiver);
    /// A packet is delivered to a receiver's transport.
    void Delivered(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet, uint32_t);

    void Listen(Flow& flow);
    void Start(Flow* flow);
    void Fill(Flow* flow, ns3::Ptr<ns3::Socket> socket, uint32_t available);
    void Accept(Flow* flow, ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void Receive(Flow* flow, ns3::Ptr<ns3::Socket> socket);
    void Complete(Flow* flow);
    void Stop(Flow* flow);
    void Watch(Flow& flow, ns3::Ptr<ns3::Socket> socket);
    void SendDatagram(Flow* flow);
    void ReceiveDatagrams(Flow* flow, ns3::Ptr<ns3::Socket> socket);
    void SetUp(ns3::Ptr<ns3::Socket> socket, const GroupWanted& group) const;

    const Instructions& m_run;                 //!< what is wanted
    const Network& m_network;                  //!< where
    std::vector<std::unique_ptr<Flow>> m_flows; //!< the flows
    std::vector<TransferSeen> m_transfers;     //!< that ended
    std::vector<DatagramSeen> m_datagrams;     //!< that arrived
    std::vector<std::string> m_broken;         //!< connections
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_TRAFFIC_H
