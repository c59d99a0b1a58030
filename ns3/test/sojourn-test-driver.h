/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_TEST_DRIVER_H
#define SOJOURN_TEST_DRIVER_H

#include "ns3/queue-disc.h"
#include "ns3/queue-item.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{

/// A packet with a number, a flow and an ECN field, as an IP packet has them.
class SojournTestItem : public QueueDiscItem
{
  public:
    /**
     * @param id number of the packet
     * @param flow number of its flow
     * @param bytes its size
     * @param ecn its ECN field
     */
    SojournTestItem(uint32_t id, uint32_t flow, uint32_t bytes, uint8_t ecn);
    void AddHeader() override;
    bool Mark() override;
    uint32_t Hash(uint32_t perturbation) const override;
    bool GetUint8Value(Uint8Values field, uint8_t& value) const override;
    /// @param item such a packet @return its number
    static uint32_t Number(Ptr<const QueueItem> item);

  private:
    uint32_t m_id;   //!< number of the packet
    uint32_t m_flow; //!< number of its flow
    uint8_t m_ecn;   //!< its ECN field
};

/// A packet without an IP header: only Mark shows whether it can be marked.
class SojournHeaderlessItem : public QueueDiscItem
{
  public:
    /// @param isCapable whether it can be marked
    explicit SojournHeaderlessItem(bool isCapable);
    void AddHeader() override;
    bool Mark() override;

  private:
    bool m_isCapable; //!< whether it can be marked
};

/// The arrivals at a disc, and how fast it is served.
struct SojournLoad
{
    uint32_t flows{1};            //!< number of flows, which take turns at random
    double offered{1.3};          //!< offered load over capacity, on average
    bool isEcn{false};            //!< whether packets are ECT(0), else not ECN-capable
    double ect1Share{0};          //!< share of packets that are ECT(1); the others are ECT(0) then
    double seconds{20};           //!< how long packets arrive
    uint32_t bytes{1000};         //!< size of packets
    uint64_t rate{10'000'000};    //!< capacity in bit/s
    bool pauses{true};            //!< whether arrivals pause for a second in every four
    uint32_t seed{1};             //!< of the arrivals
};

/// The events of a disc: one line each, with the time in nanoseconds.
struct SojournLog
{
    std::vector<std::string> lines; //!< enqueue, dequeue, drop with reason, mark with reason
    uint32_t drops{0};              //!< number of drops
    uint32_t marks{0};              //!< number of marks
};

/**
 * Offers a load to a disc and serves it, without a network, so the result depends only on the disc.
 * Runs the simulator and destroys its events.
 *
 * @param disc the disc, initialized here
 * @param load the load
 * @param whenFirst called after the first packet, for child discs that exist from then on
 * @return its events
 */
SojournLog RunSojournLoad(Ptr<QueueDisc> disc,
                          const SojournLoad& load,
                          std::function<void()> whenFirst = nullptr);

} // namespace ns3

#endif // SOJOURN_TEST_DRIVER_H
