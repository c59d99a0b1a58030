/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_REASONS_H
#define SOJOURN_REASONS_H

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup sojourn
 *
 * The names of drops and marks in the statistics of a queue disc. An AQM that ns-3 also has uses
 * the names of ns-3's disc; the others use ns-3's names for the same rule elsewhere. ns-3 itself
 * attributes a drop or mark in a flow queue to a child.
 */
class SojournReasons
{
  public:
    // Reasons of ns-3's own discs, under their names.
    static constexpr const char* UNCLASSIFIED_DROP =
        "Unclassified drop"; //!< No packet filter recognised the packet
    static constexpr const char* OVERLIMIT_DROP = "Overlimit drop"; //!< There was no room
    static constexpr const char* LIMIT_EXCEEDED_DROP =
        "Queue disc limit exceeded"; //!< There was no room: a tail drop
    static constexpr const char* UNFORCED_DROP = "Unforced drop"; //!< By chance
    static constexpr const char* UNFORCED_MARK = "Unforced mark"; //!< By chance
    static constexpr const char* FORCED_DROP =
        "Forced drop"; //!< RED: above the maximum threshold; PIE: there was no room
    static constexpr const char* FORCED_MARK = "Forced mark"; //!< RED: above the maximum threshold
    static constexpr const char* TARGET_EXCEEDED_DROP =
        "Target exceeded drop"; //!< Sojourn times stay above the target
    static constexpr const char* TARGET_EXCEEDED_MARK =
        "Target exceeded mark"; //!< Sojourn times stay above the target
    static constexpr const char* CE_THRESHOLD_EXCEEDED_MARK =
        "CE threshold exceeded mark"; //!< The sojourn time is above the CE threshold
    /// CobaltQueueDisc::FORCED_MARK: a mark on its schedule
    static constexpr const char* COBALT_MARK = "forcedMark";

    /**
     * @param aqm the AQM as text, such as "fq_codel@ns3:target=5ms"
     */
    explicit SojournReasons(const std::string& aqm);

    /**
     * @param cause a number SOJOURN_CAUSE_...
     * @return the reason, which lives as long as the program
     */
    const char* OfDrop(uint8_t cause) const;
    /**
     * @param cause a number SOJOURN_CAUSE_...
     * @return the reason, which lives as long as the program
     */
    const char* OfMark(uint8_t cause) const;
    /// @return false for an AQM that only drops
    bool MayMark() const;
    /// @return false for an AQM that never draws a random number
    bool MayDraw() const;
    /// @return whether the AQM is a law in every flow queue
    bool HasFlowQueues() const;

  private:
    /// The disc whose names are used if ns-3's own discs differ.
    enum class Family
    {
        CODEL,  //!< CoDel, and what has no other family
        COBALT, //!< COBALT
        PIE,    //!< PIE and what follows from it
        RED,    //!< RED and Adaptive RED
        FIFO,   //!< a tail drop
    };

    Family m_family;    //!< the family of the law
    bool m_hasFlows;    //!< whether the law sits under flow queues
    bool m_mayDraw;     //!< whether the law may draw random numbers
};

} // namespace ns3

#endif // SOJOURN_REASONS_H
