/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_QUEUE_DISC_H
#define SOJOURN_QUEUE_DISC_H

#include "sojourn-aqm-queue-disc.h"

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * Any AQM of Sojourn, named by a text such as "pi2:target=15ms" or "fq(madpie)".
 *
 * The AQM sees sizes, flows and times. Its callbacks are collected during a call and carried out on
 * ns-3's packets after it, in ns-3's order (an arrival is counted before the packets it evicts), so
 * that statistics, reasons and traces are those of every queue disc.
 */
class SojournQueueDisc : public SojournAqmQueueDisc
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SojournQueueDisc();
    ~SojournQueueDisc() override;

  protected:
    std::string DescribeAqm() const override;

  private:
    std::string m_aqm; //!< what the user named
};

} // namespace ns3

#endif // SOJOURN_QUEUE_DISC_H
