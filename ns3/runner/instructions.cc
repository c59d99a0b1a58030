/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "instructions.h"

#include "ns3/fatal-error.h"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace sojourn
{

namespace
{

/// The version of the text that this runner reads.
constexpr uint32_t FORM = 2;

/// One line after its first word.
using Words = std::istringstream;

/// An element of a list, which grows if it is the next one.
template <typename T>
T&
At(std::vector<T>& list, std::size_t index)
{
    if (index == list.size())
    {
        list.emplace_back();
    }
    return list.at(index);
}

/// The next word of a line as a value.
template <typename T>
T
Next(Words& words)
{
    T value{};
    words >> value;
    return value;
}

/// A name, and the rest of the line.
std::pair<std::string, std::string>
NamedValue(Words& words)
{
    std::pair<std::string, std::string> pair;
    words >> pair.first >> std::ws;
    std::getline(words, pair.second);
    return pair;
}

/// The link of that number.
LinkWanted&
LinkOf(Instructions& run, Words& words)
{
    return At(run.links, Next<std::size_t>(words));
}

/// The handler of each instruction.
const std::map<std::string, std::function<void(Instructions&, Words&)>> INSTRUCTIONS = {
    {"form",
     [](Instructions&, Words& words) {
         const auto form = Next<uint32_t>(words);
         if (form != FORM)
         {
             NS_FATAL_ERROR("this runner reads form " << FORM << ", not " << form
                                                      << "; `sojourn ns3 build` makes a new one");
         }
     }},
    {"seed", [](Instructions& run, Words& words) { words >> run.seed; }},
    {"times",
     [](Instructions& run, Words& words) {
         words >> run.durationNs >> run.warmupNs >> run.sampleNs;
     }},
    {"samples",
     [](Instructions& run, Words& words) { words >> run.hasFlowSamples >> run.hasLawSamples; }},
    {"bins", [](Instructions& run, Words& words) { words >> run.binNs; }},
    {"link",
     [](Instructions& run, Words& words) {
         LinkWanted& link = LinkOf(run, words);
         words >> link.delayNs >> link.mtuBytes;
     }},
    {"rate",
     [](Instructions& run, Words& words) {
         LinkWanted& link = LinkOf(run, words);
         const auto at = Next<uint64_t>(words);
         link.rates.emplace_back(at, Next<uint64_t>(words));
     }},
    {"loss",
     [](Instructions& run, Words& words) {
         LossWanted& loss = LinkOf(run, words).loss.emplace();
         words >> loss.enter >> loss.leave >> loss.bad >> loss.good;
     }},
    {"wlan",
     [](Instructions& run, Words& words) {
         WlanWanted& wlan = run.wlan.emplace();
         words >> wlan.attempts >> wlan.isShortSlot;
     }},
    {"radio",
     [](Instructions& run, Words& words) {
         RadioWanted& radio = LinkOf(run, words).radio;
         words >> radio.rate >> radio.snr >> radio.errorRate >> radio.frames;
     }},
    {"disc",
     [](Instructions& run, Words& words) {
         LinkWanted& link = LinkOf(run, words);
         words >> link.disc;
     }},
    {"disc_attribute",
     [](Instructions& run, Words& words) {
         LinkWanted& link = LinkOf(run, words);
         link.attributes.push_back(NamedValue(words));
     }},
    {"capture",
     [](Instructions& run, Words& words) {
         LinkWanted& link = LinkOf(run, words);
         link.capture = Next<uint16_t>(words);
     }},
    {"group",
     [](Instructions& run, Words& words) {
         GroupWanted& group = At(run.groups, Next<std::size_t>(words));
         words >> group.accessBps >> group.accessDelayNs >> group.egressDelayNs >>
             group.receiverBps >> group.isEcnDatagrams >> group.forward >> group.reverse;
     }},
    {"tcp",
     [](Instructions& run, Words& words) {
         GroupWanted& group = At(run.groups, Next<std::size_t>(words));
         words >> group.control >> group.recovery;
     }},
    {"tcp_attribute",
     [](Instructions& run, Words& words) {
         GroupWanted& group = At(run.groups, Next<std::size_t>(words));
         group.attributes.push_back(NamedValue(words));
     }},
    {"mend",
     [](Instructions& run, Words& words) {
         GroupWanted& group = At(run.groups, Next<std::size_t>(words));
         group.mended.push_back(Next<std::string>(words));
         words >> group.hystartRiseNs;
     }},
    {"flow",
     [](Instructions& run, Words& words) {
         FlowWanted& flow = run.flows.emplace_back();
         words >> flow.group >> flow.port >> flow.payloadBytes >> flow.startNs >> flow.stopNs;
     }},
    {"transfer",
     [](Instructions& run, Words& words) {
         FlowWanted& flow = run.flows.at(Next<std::size_t>(words));
         TransferWanted& transfer = flow.transfers.emplace_back();
         words >> transfer.bytes >> transfer.pauseNs;
     }},
    {"datagram",
     [](Instructions& run, Words& words) {
         FlowWanted& flow = run.flows.at(Next<std::size_t>(words));
         DatagramWanted& datagram = flow.datagrams.emplace_back();
         words >> datagram.atNs >> datagram.bytes;
     }},
};

} // namespace

Instructions
Read(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        NS_FATAL_ERROR(path << ": cannot be read");
    }
    Instructions run;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); number++)
    {
        Words words(line);
        const auto found = INSTRUCTIONS.find(Next<std::string>(words));
        if (found != INSTRUCTIONS.end())
        {
            found->second(run, words);
        }
        if (found == INSTRUCTIONS.end() || words.fail())
        {
            NS_FATAL_ERROR(path << ":" << number << ": `" << line << "` is not an instruction");
        }
    }
    return run;
}

} // namespace sojourn
