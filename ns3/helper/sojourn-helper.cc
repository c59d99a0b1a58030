/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-helper.h"

#include "ns3/node.h"
#include "ns3/queue-size.h"
#include "ns3/sojourn-aqm-queue-disc.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"

namespace ns3
{

QueueDiscContainer
SojournHelper::Install(const NetDeviceContainer& devices,
                       const std::string& aqm,
                       const std::string& maxSize)
{
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::SojournQueueDisc",
                            "Aqm",
                            StringValue(aqm),
                            "MaxSize",
                            QueueSizeValue(QueueSize(maxSize)));
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        Ptr<NetDevice> device = devices.Get(i);
        auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
        if (layer && layer->GetRootQueueDiscOnDevice(device))
        {
            layer->DeleteRootQueueDiscOnDevice(device);
        }
    }
    return helper.Install(devices);
}

int64_t
SojournHelper::AssignStreams(const QueueDiscContainer& discs, int64_t stream)
{
    int64_t used = 0;
    for (std::size_t i = 0; i < discs.GetN(); i++)
    {
        if (auto disc = DynamicCast<SojournAqmQueueDisc>(discs.Get(i)))
        {
            used += disc->AssignStreams(stream + used);
        }
    }
    return used;
}

} // namespace ns3
