/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-reasons.h"

#include "sojourn_aqm.h"

#include <initializer_list>

namespace ns3
{

namespace
{

/// The words of a drop and of a mark: by themselves, and as those of a child queue disc.
struct Words
{
    const char* drop;        //!< in one queue
    const char* mark;        //!< in one queue
    const char* childDrop;   //!< under flow queues
    const char* childMark;   //!< under flow queues
};

// ns-3's QueueDisc puts these before the reason of a child: CHILD_QUEUE_DISC_DROP and _MARK.
#define WORDS(name)                                                                               \
    Words                                                                                          \
    {                                                                                              \
        name " drop", name " mark", "(Dropped by child queue disc) " name " drop",                 \
            "(Marked by child queue disc) " name " mark"                                           \
    }

const Words UNFORCED = WORDS("Unforced");
const Words FORCED = WORDS("Forced");
const Words TARGET = WORDS("Target exceeded");
const Words CE_THRESHOLD = WORDS("CE threshold exceeded");
const Words OVERLIMIT = WORDS("Overlimit");
const Words OVERLOAD = WORDS("Overload");
const Words DELAY_BOUND = WORDS("Delay bound exceeded");
const Words BIN_OVERFLOW = WORDS("Bin overflow");
const Words PENALTY = WORDS("Penalty");
const Words MATCH = WORDS("Match");
// CobaltQueueDisc::FORCED_MARK stands for a mark on its schedule, and is written differently.
const char* const COBALT_MARK = "forcedMark";
const char* const COBALT_CHILD_MARK = "(Marked by child queue disc) forcedMark";

#undef WORDS

/// The kind of a text: "fq(codel)@ns3:target=5ms" begins with "fq(codel)".
std::string
KindOf(const std::string& aqm)
{
    return aqm.substr(0, aqm.find_first_of("@:"));
}

bool
IsOneOf(const std::string& law, std::initializer_list<const char*> names)
{
    for (const char* name : names)
    {
        if (law == name)
        {
            return true;
        }
    }
    return false;
}

const Words&
WordsOf(uint8_t cause)
{
    switch (cause)
    {
    case SOJOURN_CAUSE_OVERFLOW:
        return OVERLIMIT;
    case SOJOURN_CAUSE_TARGET:
        return TARGET;
    case SOJOURN_CAUSE_CE_THRESHOLD:
        return CE_THRESHOLD;
    case SOJOURN_CAUSE_FORCED:
        return FORCED;
    case SOJOURN_CAUSE_OVERLOAD:
    case SOJOURN_CAUSE_RANDOM_OVERLOAD:
        return OVERLOAD;
    case SOJOURN_CAUSE_DELAY_BOUND:
        return DELAY_BOUND;
    case SOJOURN_CAUSE_BIN_OVERFLOW:
        return BIN_OVERFLOW;
    case SOJOURN_CAUSE_PENALTY:
        return PENALTY;
    case SOJOURN_CAUSE_MATCH:
        return MATCH;
    default: // SOJOURN_CAUSE_RANDOM, SOJOURN_CAUSE_DETERMINISTIC
        return UNFORCED;
    }
}

} // namespace

SojournReasons::SojournReasons(const std::string& aqm)
{
    std::string law = KindOf(aqm);
    m_hasFlows = law.compare(0, 3, "fq_") == 0 || law.compare(0, 3, "fq(") == 0;
    if (m_hasFlows)
    {
        law = law.substr(3, law.find(')') - 3);
    }
    if (law == "cobalt")
    {
        m_family = Family::COBALT;
    }
    else if (IsOneOf(law, {"pie", "pi2", "madpie"}))
    {
        m_family = Family::PIE;
    }
    else if (IsOneOf(law, {"red", "ared"}))
    {
        m_family = Family::RED;
    }
    else
    {
        m_family = law == "taildrop" && !m_hasFlows ? Family::FIFO : Family::CODEL;
    }
}

const char*
SojournReasons::OfDrop(uint8_t cause) const
{
    if (cause == SOJOURN_CAUSE_OVERFLOW)
    {
        switch (m_hasFlows ? Family::CODEL : m_family)
        {
        case Family::PIE: // PieQueueDisc::FORCED_DROP
            return FORCED.drop;
        case Family::RED: // QueueDisc::INTERNAL_QUEUE_DROP
            return "Dropped by internal queue";
        case Family::FIFO: // FifoQueueDisc::LIMIT_EXCEEDED_DROP
            return "Queue disc limit exceeded";
        default: // OVERLIMIT_DROP of CoDel, COBALT and the discs of flow queues
            return OVERLIMIT.drop;
        }
    }
    // CobaltQueueDisc counts BLUE's drops as those of its schedule.
    const bool isBlue = m_family == Family::COBALT && cause == SOJOURN_CAUSE_RANDOM;
    const Words& words = isBlue ? TARGET : WordsOf(cause);
    return m_hasFlows ? words.childDrop : words.drop;
}

const char*
SojournReasons::OfMark(uint8_t cause) const
{
    if (m_family == Family::COBALT && cause == SOJOURN_CAUSE_TARGET)
    {
        return m_hasFlows ? COBALT_CHILD_MARK : COBALT_MARK;
    }
    const Words& words = WordsOf(cause);
    return m_hasFlows ? words.childMark : words.mark;
}

} // namespace ns3
