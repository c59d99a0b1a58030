/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_LOSS_H
#define SOJOURN_RUNNER_LOSS_H

#include "instructions.h"

#include "ns3/error-model.h"
#include "ns3/random-variable-stream.h"

namespace sojourn
{

/**
 * Random loss on the wire behind a link: two states, after Gilbert 1960 and Elliott 1963. As in the
 * simulator the state changes before it decides about a packet; with a single state the loss is
 * Bernoulli's.
 */
class WireLoss : public ns3::ErrorModel
{
  public:
    /// @return its type
    static ns3::TypeId GetTypeId();
    /// @param wanted its probabilities @param warmupNs time that is not counted
    void Set(const LossWanted& wanted, uint64_t warmupNs);
    /// A packet leaves the link towards it.
    void Enters(ns3::Ptr<const ns3::Packet>);
    /// @return JSON of its counts
    std::string Describe() const;

  private:
    bool DoCorrupt(ns3::Ptr<ns3::Packet> packet) override;
    void DoReset() override;

    LossWanted m_wanted;     //!< probabilities
    uint64_t m_warmupNs{0};  //!< what is not counted
    bool m_isBad{false};     //!< the state
    uint64_t m_seen{0};      //!< packets that left the link
    uint64_t m_offered{0};   //!< packets since the warm-up
    uint64_t m_lost{0};      //!< those of them that are lost
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform{
        ns3::CreateObject<ns3::UniformRandomVariable>()}; //!< draws
};

} // namespace sojourn

#endif // SOJOURN_RUNNER_LOSS_H
