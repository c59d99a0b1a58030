/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_RUNNER_INSTRUCTIONS_H
#define SOJOURN_RUNNER_INSTRUCTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sojourn
{

/// Names and values of attributes.
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// Random loss on a wire: probabilities to enter and to leave the bad state, and of loss in each.
struct LossWanted
{
    double enter{0}; //!< the bad state
    double leave{0}; //!< it
    double bad{0};   //!< loss there
    double good{0};  //!< loss in the other
};

/// The radio of a transmitter of a cell.
struct RadioWanted
{
    std::string rate;    //!< Mbit/s, or minstrel
    double snr{0};       //!< signal-to-noise ratio, of powers
    double errorRate{0}; //!< share of frames that are lost whatever their rate
    uint32_t frames{1};  //!< in the driver's queue
};

/// A wireless LAN.
struct WlanWanted
{
    uint32_t attempts{7};   //!< to send a frame
    bool isShortSlot{true}; //!< 9 us, not 20
};

/// A link with its queue disc. Times are in nanoseconds, rates in bit/s, here and below.
struct LinkWanted
{
    uint64_t delayNs{0};                              //!< of its wire
    uint32_t mtuBytes{1500};                          //!< the largest packet
    std::vector<std::pair<uint64_t, uint64_t>> rates; //!< each from a time on
    std::string disc;                                 //!< type of the queue disc
    Attributes attributes;                            //!< of the queue disc
    std::optional<LossWanted> loss;                   //!< behind it
    RadioWanted radio;                                //!< in a cell
    std::optional<uint16_t> capture; //!< its index in the scenario, if packets are captured
};

/// The common settings of a group's flows.
struct GroupWanted
{
    uint64_t accessBps{0};     //!< of each sender's own link
    uint64_t accessDelayNs{0}; //!< of that link
    uint64_t egressDelayNs{0}; //!< of the link to the receivers
    uint64_t receiverBps{0};   //!< of that link; 0 takes no time
    bool isEcnDatagrams{false}; //!< whether its datagrams are ECN-capable
    uint32_t forward{0};       //!< the link that its data pass, whose router is near the senders
    uint32_t reverse{1};       //!< the same for returning packets; 1 if they pass no link
    std::string control;       //!< type of the congestion control; empty for datagrams
    std::string recovery;      //!< type of the recovery
    Attributes attributes;     //!< of its sockets
    std::vector<std::string> mended; //!< parts of ns-3's TCP whose errors are avoided
    uint64_t hystartRiseNs{0}; //!< the rise of delay at which a mended CUBIC leaves slow start
};

/// A transfer over a separate connection.
struct TransferWanted
{
    uint64_t bytes{0};   //!< 0 is unlimited
    uint64_t pauseNs{0}; //!< after it, before the next
};

/// A datagram.
struct DatagramWanted
{
    uint64_t atNs{0};  //!< when it is sent
    uint32_t bytes{0}; //!< payload
};

/// A flow. It has transfers or datagrams.
struct FlowWanted
{
    uint32_t group{0};                     //!< its group
    uint16_t port{0};                      //!< of the receiver
    uint32_t payloadBytes{0};              //!< of a full packet
    uint64_t startNs{0};                   //!< when it starts
    uint64_t stopNs{0};                    //!< when it stops
    std::vector<TransferWanted> transfers; //!< one after the other
    std::vector<DatagramWanted> datagrams; //!< by time
};

/// A complete run.
struct Instructions
{
    uint64_t seed{1};                //!< becomes RngRun
    uint64_t durationNs{0};          //!< simulated time
    uint64_t warmupNs{0};            //!< what is not counted of it
    uint64_t sampleNs{0};            //!< between samples
    bool hasFlowSamples{false};      //!< whether flows are sampled
    bool hasLawSamples{false};       //!< whether state variables of our AQMs are
    uint64_t binNs{0};               //!< width of bins; 0 for none
    std::vector<LinkWanted> links;   //!< forward, reverse; or of the access point and its stations
    std::optional<WlanWanted> wlan;  //!< the links are the transmitters of one
    std::vector<GroupWanted> groups; //!< the groups of flows
    std::vector<FlowWanted> flows;   //!< the flows
};

/**
 * Reads the instructions; invalid ones end the program with a message.
 * @param path the file
 * @return its content
 */
Instructions Read(const std::string& path);

} // namespace sojourn

#endif // SOJOURN_RUNNER_INSTRUCTIONS_H
