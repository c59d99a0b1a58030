/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_AQM_QUEUE_DISC_H
#define SOJOURN_AQM_QUEUE_DISC_H

#include "sojourn-flow-queue-disc.h"
#include "sojourn-flow-table.h"
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
 * An AQM of Sojourn; the subclass determines which.
 *
 * The packets are in one internal queue, from which the AQM takes any of them. If each flow queue
 * has its own law, the packets of each are in a child queue disc, as in ns-3's discs of flow
 * queues; the AQM decides in either case. The disc itself may be the child of another.
 *
 * MaxSize, by the attribute or by SetMaxSize, may change at any time, unless the AQM's limit is
 * fixed.
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

    // Reasons, named as in ns-3's own discs.
    static constexpr const char* UNCLASSIFIED_DROP =
        SojournReasons::UNCLASSIFIED_DROP; //!< No packet filter recognised the packet
    static constexpr const char* OVERLIMIT_DROP =
        SojournReasons::OVERLIMIT_DROP; //!< There was no room
    static constexpr const char* LIMIT_EXCEEDED_DROP =
        SojournReasons::LIMIT_EXCEEDED_DROP; //!< There was no room: a tail drop
    static constexpr const char* UNFORCED_DROP = SojournReasons::UNFORCED_DROP; //!< By chance
    static constexpr const char* UNFORCED_MARK = SojournReasons::UNFORCED_MARK; //!< By chance
    static constexpr const char* FORCED_DROP =
        SojournReasons::FORCED_DROP; //!< RED: above the maximum threshold; PIE: there was no room
    static constexpr const char* FORCED_MARK =
        SojournReasons::FORCED_MARK; //!< RED: above the maximum threshold
    static constexpr const char* TARGET_EXCEEDED_DROP =
        SojournReasons::TARGET_EXCEEDED_DROP; //!< Sojourn times stay above the target
    static constexpr const char* TARGET_EXCEEDED_MARK =
        SojournReasons::TARGET_EXCEEDED_MARK; //!< Sojourn times stay above the target
    static constexpr const char* CE_THRESHOLD_EXCEEDED_MARK =
        SojournReasons::CE_THRESHOLD_EXCEEDED_MARK; //!< The sojourn time is above the CE threshold

    /**
     * Assigns a fixed random variable stream number to the random variable of the AQM.
     * @param stream first stream index to use
     * @return the number of stream indices assigned
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Sets the link's rate, or, before the simulation starts, its initial rate.
     * @param rate the rate; zero is refused while the simulation runs
     */
    void SetRate(DataRate rate);
    /// @return the rate that was set last
    DataRate GetRate() const;

    /**
     * @param name a parameter of the AQM, such as "target"
     * @return its value with its unit, such as "15ms"; empty if it has no such parameter, or the
     *     disc is not initialized
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
    /**
     * Adds the attributes of every disc to a concrete type: Config::SetDefault and the command line
     * look for an attribute only in that type, not in its parents.
     * @param tid the type
     * @return the type
     */
    static TypeId AddCommonAttributes(TypeId tid);
    void NotifyConstructionCompleted() override;
    void DoDispose() override;

    /**
     * @return the AQM as text, without its limit
     */
    virtual std::string DescribeAqm() const = 0;
    /**
     * Fires the traces of one state variable.
     * @param index its number
     * @param before its value before
     * @param after its value now
     */
    virtual void FireStateTrace(std::size_t index, double before, double after);
    /// @return whether a trace of a single state variable has a listener
    virtual bool IsAnyStateTraced() const;

    /**
     * @return whether the disc has been initialized, so that its parameters are fixed
     */
    bool IsInitialized() const;

    /**
     * @param size the limit; before the disc is initialized zero leaves it to the AQM
     * @return false if the disc is initialized and size is zero or the limit of the AQM is fixed
     */
    bool SetLimit(QueueSize size);
    /// @return the limit; zero if it is left to an AQM that is not initialized yet
    QueueSize GetLimit() const;

  private:
    /// A drop or a mark that the AQM has reported.
    struct Signal
    {
        uint64_t id;   //!< which packet
        uint8_t stage; //!< SOJOURN_STAGE_...
        uint8_t cause; //!< SOJOURN_CAUSE_...
        bool isMark;   //!< else a drop
    };

    /// The position of a packet; packed into its number.
    struct Whereabouts
    {
        SojournFlowQueueDisc* flow;        //!< its flow queue; null: the disc has one queue
        SojournInternalQueue& queue;       //!< the queue
        SojournInternalQueue::Place place; //!< its place there
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

    /// @return the next random number of ns-3
    double Draw();
    /// @return the text of the AQM with the limit that was set
    std::string FullText() const;
    /// Adopts the AQM's limit.
    void AdoptLimit();
    /// Passes a changed limit to the AQM. @return false if the AQM's limit is fixed
    bool FollowLimit();
    /// Called before every call of the AQM: creates it, sets its limit, and runs its timers.
    void Prepare();
    /// The table of flow queues, if each has its own law; checks its attributes.
    void MakeFlowTable();
    /**
     * @param queue the number of a flow queue
     * @return the number, plus 1, of its class, which is created if new
     */
    uint32_t ClassOf(uint32_t queue);
    /// @param id the number of a packet @return its position
    Whereabouts Find(uint64_t id) const;
    /// @return the largest packet of the link in bytes: as set, of the device, or 1500
    uint32_t FindMtu() const;
    /**
     * The AQM's description of a packet.
     * @param item the packet
     * @param packet filled in, its number with its class alone
     * @return false if no packet filter recognises it
     */
    bool Describe(Ptr<QueueDiscItem> item, sojourn_packet& packet);
    /**
     * Enqueues or drops the packet that arrives, as the AQM has decided.
     * @param item the packet
     * @param id its number
     * @param drop the signal that drops it; null: it is accepted
     */
    void Admit(Ptr<QueueDiscItem> item, uint64_t id, const Signal* drop);
    /// Carries out a signal about a queued packet. @param signal the signal
    void CarryOut(const Signal& signal);
    /**
     * Marks a packet that the AQM has found to be ECN-capable.
     * @param item the packet
     * @param flow its flow queue, or null
     * @param cause why
     */
    void MarkFor(Ptr<QueueDiscItem> item, SojournFlowQueueDisc* flow, uint8_t cause);
    /// Runs the timers of the AQM that are due.
    void CatchUp();
    /// The event for the next timer of the AQM.
    void ScheduleTimer();
    /// A timer of the AQM is due.
    void OnTimer();
    /// A shaper releases the next packet: asks the receiving object to take it.
    void ScheduleWake();
    /// Fires the traces of state variables that have changed.
    void TraceState();

    QueueSize m_limit;            //!< that the AQM knows
    uint32_t m_mtu;               //!< as set; zero: of the device
    DataRate m_rate;              //!< as set; zero: unknown
    uint64_t m_seed;              //!< of hashes, and of random numbers of Sojourn's own
    bool m_useNs3Random;          //!< whether random numbers come from m_uniform
    uint32_t m_perturbation;      //!< salt of QueueDiscItem::Hash
    bool m_isSetAssociative;      //!< whether flow queues are chosen within a set
    uint32_t m_setWays;           //!< queues of a set

    std::unique_ptr<sojourn_qdisc, Free> m_qdisc; //!< the AQM; null before initialization
    std::unique_ptr<SojournReasons> m_reasons;    //!< the words of its causes
    Ptr<SojournInternalQueue> m_queue;            //!< the packets, unless they are in classes
    std::unique_ptr<SojournFlowTable> m_table;    //!< of flow queues; null: the disc has none
    std::vector<uint32_t> m_classOf;              //!< of flow queues: number plus 1; 0: none yet
    Ptr<UniformRandomVariable> m_uniform;         //!< source of random numbers; null: none yet
    bool m_needsFlows;                            //!< whether the AQM asks for flows
    bool m_mayMark;                               //!< whether the AQM may mark packets
    std::vector<Signal> m_signals;                //!< of the call that runs
    Time m_lastCall;                              //!< when the AQM was asked last
    EventId m_timer;                              //!< next timer of the AQM
    EventId m_wake;                               //!< end of a shaper's pause
    std::vector<double> m_state;                  //!< values last traced
    std::vector<double> m_newState;               //!< values read now
    TracedCallback<std::string, double> m_stateTrace; //!< every change of a state variable
};

} // namespace ns3

#endif // SOJOURN_AQM_QUEUE_DISC_H
