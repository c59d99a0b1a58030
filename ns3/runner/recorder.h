/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_RECORDER_H
#define SOJOURN_RUNNER_RECORDER_H

#include "network.h"
#include "traffic.h"

#include <unordered_map>

namespace sojourn
{

class HeaderCapture;

/// Records the fate of each packet at the queue discs, and samples.
class Recorder
{
  public:
    /// @param run the run @param network its discs are recorded @param capture receives the packets
    /// that arrive at them; may be null
    Recorder(const Instructions& run, const Network& network, HeaderCapture* capture);

    /// Begins to sample. @param traffic the flows
    void SampleFrom(const Traffic& traffic);
    /// The last sample of state variables, when the simulator has stopped. Flows are not sampled
    /// then.
    void SampleAtEnd();
    /// @param path the file for the records of packets
    void WritePackets(const std::string& path) const;
    /// @param path the file for everything else @param traffic the flows @param network where they
    /// are
    void WriteResult(const std::string& path,
                     const Traffic& traffic,
                     const Network& network) const;

  private:
    /// A packet at a disc, in the format of crates/router/src/captures/packet_record.rs.
    struct Record
    {
        uint32_t flow;      //!< its flow
        uint32_t seq;       //!< number of sequence, acknowledgement or datagram
        uint64_t arrivedNs; //!< when it came
        uint64_t leftNs;    //!< when it left or was dropped; NEVER while it waits
        uint16_t bytes;     //!< from the IP header on
        uint8_t kind;       //!< 0 SYN, 1 other TCP, 2 datagram
        uint8_t ecn;        //!< ECN field on arrival
        uint8_t fate;       //!< 0 sent, 1 dropped, 2 waiting
        uint8_t dropped;    //!< stage and cause, or NONE
        uint8_t marked;     //!< stage and cause, or NONE
        uint8_t direction;  //!< 0 forward, 1 reverse
    };

    /// The state of recording at one disc.
    struct Disc
    {
        ns3::Ptr<ns3::QueueDisc> disc;                                  //!< the disc
        std::unordered_map<const ns3::QueueDiscItem*, std::size_t> waiting; //!< their records
        ns3::Ptr<const ns3::QueueDiscItem> leaving;                     //!< the last that left
        const ns3::QueueDiscItem* arriving{nullptr};                    //!< marked, not there yet
        uint8_t arrivingMark{0};                                        //!< stage and cause
    };

    void Watch(Disc& disc);
    /// A record of a packet that arrives now.
    std::size_t Arrive(Disc& disc, ns3::Ptr<const ns3::QueueDiscItem> item);
    void Enqueued(Disc* disc, ns3::Ptr<const ns3::QueueDiscItem> item);
    void Dequeued(Disc* disc, ns3::Ptr<const ns3::QueueDiscItem> item);
    void Refused(Disc* disc, ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    void Dropped(Disc* disc, ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    void Marked(Disc* disc, ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    /// Forgets the last packet that left.
    void Forget(Disc& disc);

    void Sample();
    /// Samples the state variables of our AQMs, if requested.
    void SampleLaws();
    void EndWarmup();
    void EndBin();

    const Instructions& m_run;                       //!< what is wanted
    HeaderCapture* m_capture;                        //!< of packets, or null
    const Traffic* m_traffic{nullptr};               //!< the flows
    std::vector<Disc> m_discs;                       //!< by link
    std::vector<Record> m_records;                   //!< by arrival
    std::vector<FlowCounts> m_atWarmup;              //!< by flow
    std::vector<std::string> m_flowSamples;          //!< JSON
    std::vector<std::string> m_lawSamples;           //!< JSON
    std::vector<std::string> m_bins;                 //!< JSON
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_RECORDER_H
