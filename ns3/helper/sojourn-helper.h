/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_HELPER_H
#define SOJOURN_HELPER_H

#include "ns3/net-device-container.h"
#include "ns3/queue-disc-container.h"

#include <string>

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * Additions to TrafficControlHelper for AQMs by text.
 */
class SojournHelper
{
  public:
    /**
     * Makes an AQM the root queue disc of devices. Any disc that a device has is removed first.
     *
     * @param devices the devices
     * @param aqm the AQM, such as "pi2:target=15ms"
     * @param maxSize the limit, such as "200kB"; "0p" leaves it to the AQM
     * @return the queue discs
     */
    static QueueDiscContainer Install(const NetDeviceContainer& devices,
                                      const std::string& aqm,
                                      const std::string& maxSize = "0p");
    /**
     * Assigns streams to the random variables of AQMs, one after another. Other discs are left
     * alone.
     *
     * @param discs the queue discs
     * @param stream the first stream
     * @return the number of streams assigned
     */
    static int64_t AssignStreams(const QueueDiscContainer& discs, int64_t stream);
};

} // namespace ns3

#endif // SOJOURN_HELPER_H
