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
 * What the statistics of a queue disc call its drops and marks. An AQM that ns-3 has too uses the
 * words of ns-3's own disc; the others use the words that ns-3 has for the same rule elsewhere.
 */
class SojournReasons
{
  public:
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

  private:
    /// Whose words are used where ns-3's own discs differ.
    enum class Family
    {
        CODEL,  //!< CoDel, and what has no other family
        COBALT, //!< COBALT
        PIE,    //!< PIE and what follows from it
        RED,    //!< RED and Adaptive RED
        FIFO,   //!< a tail drop
    };

    Family m_family;    //!< the family of the law
    bool m_hasFlows;    //!< whether the law sits under flow queues, as a child disc does in ns-3
};

} // namespace ns3

#endif // SOJOURN_REASONS_H
