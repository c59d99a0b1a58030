/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_AQM_QUEUE_DISC_H
#define SOJOURN_AQM_QUEUE_DISC_H

#include "sojourn-internal-queue.h"
#include "sojourn-reasons.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/queue-disc.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

struct sojourn_qdisc;
struct sojourn_packet;

namespace ns3
{

/**
 * @defgroup sojourn The AQMs of Sojourn as queue discs
 */

/**
 * @ingroup sojourn
 *
 * An AQM of Sojourn. What AQM it is, subclasses say.
 *
 * The packets wait in one internal queue, from which the AQM takes any of them. Flow queues are
 * inside the AQM: there are neither classes nor child queue discs, and the disc itself may be the
 * child of another.
 */
class SojournAqmQueueDisc : public QueueDisc
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    SojournAqmQueueDisc();
    ~SojournAqmQueueDisc() override;

    /// No packet filter recognised the packet. The word of FqCoDelQueueDisc.
    static constexpr const char* UNCLASSIFIED_DROP = "Unclassified drop";

    /**
     * Assigns a fixed random variable stream number to the random variable of the AQM.
     * @param stream first stream index to use
     * @return the number of stream indices assigned
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Tells the AQM that the rate of the link is another one now, or, before the simulation
     * starts, what it is at first.
     * @param rate the rate; zero is refused while the simulation runs
     */
    void SetRate(DataRate rate);
    /// @return the rate that was set last
    DataRate GetRate() const;

    /**
     * @param name a parameter of the AQM, such as "target"
     * @return its value with its unit, such as "15ms"; empty if it has none of that name, or the
     * disc is not initialized
     */
    std::string GetParameter(const std::string& name) const;
    /// @return the names of the state variables of the AQM
    std::vector<std::string> GetStateNames() const;
    /**
     * @param name a state variable, such as "drop_prob"
     * @return its value now
     */
    double GetState(const std::string& name);

    /**
     * TracedCallback signature for a state variable that changed.
     * @param name the name of the state variable
     * @param value its new value
     */
    typedef void (*StateTracedCallback)(std::string name, double value);

  protected:
    void DoDispose() override;

    /**
     * @return the AQM as text, without its limit
     */
    virtual std::string DescribeAqm() const = 0;
    /**
     * @param index the number of a state variable
     * @return a trace of that variable alone, or null
     */
    virtual TracedCallback<double, double>* GetStateTrace(std::size_t index);
    /// @return whether anyone listens to a trace of a single state variable
    virtual bool IsAnyStateTraced() const;

    /**
     * @return whether the disc has been initialized, so that its parameters are fixed
     */
    bool IsInitialized() const;

    /**
     * @param size the limit
     * @return false if it is zero or the disc is initialized
     */
    bool SetLimit(QueueSize size);
    /// @return the limit
    QueueSize GetLimit() const;

  private:
    /// A drop or a mark that the AQM has reported.
    struct Signal
    {
        SojournInternalQueue::Place place; //!< which packet
        uint8_t stage;                     //!< SOJOURN_STAGE_...
        uint8_t cause;                     //!< SOJOURN_CAUSE_...
        bool isMark;                       //!< else a drop
    };

    /// Frees an AQM.
    struct Free
    {
        /// @param qdisc the AQM
        void operator()(sojourn_qdisc* qdisc) const;
    };

    /// Called by the AQM for each drop and each mark.
    /// @param context the disc @param packet the packet @param enqueuedNs when it was accepted
    /// @param stage SOJOURN_STAGE_... @param cause SOJOURN_CAUSE_...
    template <bool isMark>
    static void Note(void* context,
                     const sojourn_packet* packet,
                     uint64_t enqueuedNs,
                     uint8_t stage,
                     uint8_t cause);

    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    /// @return the text of the AQM with the limit that was set
    std::string FullText() const;
    /// Takes over the limit that the AQM has.
    void AdoptLimit();
    /// @return the largest packet of the link in bytes: as set, of the device, or 1500
    uint32_t FindMtu() const;
    /**
     * What the AQM needs to know of a packet.
     * @param item the packet
     * @param packet filled in
     * @return false if no packet filter recognises it
     */
    bool Describe(Ptr<QueueDiscItem> item, sojourn_packet& packet);
    /// Carries out a signal about a packet that waits.
    /// @param signal the signal
    void CarryOut(const Signal& signal);
    /**
     * Marks a packet that the AQM has found to be ECN-capable.
     * @param item the packet
     * @param cause why
     */
    void MarkFor(Ptr<QueueDiscItem> item, uint8_t cause);
    /// Runs the timers of the AQM that are due.
    void CatchUp();
    /// The event for the next timer of the AQM.
    void ScheduleTimer();
    /// A timer of the AQM is due.
    void OnTimer();
    /// A shaper lets the next packet go: asks the receiving object to take it.
    void ScheduleWake();
    /// Fires the traces of state variables that have changed.
    void TraceState();

    QueueSize m_limit;            //!< as set; zero: that of the AQM
    uint32_t m_mtu;               //!< as set; zero: of the device
    DataRate m_rate;              //!< as set; zero: unknown
    uint64_t m_seed;              //!< of hashes, and of random numbers of Sojourn's own
    bool m_useNs3Random;          //!< whether random numbers come from m_uniform
    uint32_t m_perturbation;      //!< salt of QueueDiscItem::Hash

    std::unique_ptr<sojourn_qdisc, Free> m_qdisc; //!< the AQM; null before initialization
    std::unique_ptr<SojournReasons> m_reasons;    //!< the words of its causes
    Ptr<SojournInternalQueue> m_queue;            //!< the packets
    Ptr<UniformRandomVariable> m_uniform;         //!< source of random numbers
    bool m_needsFlows;                            //!< whether the AQM asks for flows
    std::vector<Signal> m_signals;                //!< of the call that runs
    EventId m_timer;                              //!< next timer of the AQM
    EventId m_wake;                               //!< end of a shaper's pause
    std::vector<double> m_state;                  //!< values last traced
    std::vector<double> m_newState;               //!< values read now
    TracedCallback<std::string, double> m_stateTrace; //!< every change of a state variable
};

} // namespace ns3

#endif // SOJOURN_AQM_QUEUE_DISC_H
