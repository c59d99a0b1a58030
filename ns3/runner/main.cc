/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/*
 * Runs one scenario of Sojourn in ns-3: `sojourn-runner run.txt FOLDER`. The text comes from
 * `sojourn run --engine ns3`; the folder receives packets.bin, result.json and status.json, which
 * Sojourn evaluates like its other engines' results, and during the run `progress`.
 */

#include "cell.h"
#include "clock.h"
#include "header_capture.h"
#include "instructions.h"
#include "network.h"
#include "recorder.h"
#include "traffic.h"

#include "ns3/node-list.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <fstream>
#include <iostream>
#include <optional>

using namespace ns3;
using namespace sojourn;

namespace
{

/// How often the reached time is reported, as a fraction of the duration.
constexpr uint64_t TOLD_PARTS = 50;

/// Reports the simulated time repeatedly.
void
Tell(const std::string& path, Time every)
{
    std::ofstream(path) << NowNs();
    Simulator::Schedule(every, &Tell, path, every);
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 3)
    {
        std::cerr << "usage: sojourn-runner run.txt FOLDER\n";
        return 2;
    }
    const std::string folder = argv[2];
    const Instructions run = Read(argv[1]);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run.seed);

    g_origin = run.wlan ? Seconds(Cell::JOINING_S) : Time(0);
    const bool captures = run.links.at(0).capture.has_value();
    if (captures)
    {
        HeaderCapture::EnableChecksums();
    }
    Network network(run);
    std::optional<HeaderCapture> capture;
    if (captures)
    {
        capture.emplace(run, network);
    }
    Recorder recorder(run, network, capture ? &*capture : nullptr);
    Traffic traffic(run, network);
    recorder.SampleFrom(traffic);
    const Time end = NanoSeconds(run.durationNs);
    Simulator::ScheduleNow(&Tell, folder + "/progress", end / TOLD_PARTS);
    Simulator::Stop(Until(run.durationNs));
    Simulator::Run();

    recorder.SampleAtEnd();
    recorder.WritePackets(folder + "/packets.bin");
    if (capture)
    {
        capture->Write(folder + "/links.headers");
    }
    network.WriteFrames(folder + "/frames.bin");
    recorder.WriteResult(folder + "/result.json", traffic, network);
    std::ofstream(folder + "/status.json") << R"({"ok":true,"failure":""})" << "\n";
    Simulator::Destroy();
    return 0;
}
