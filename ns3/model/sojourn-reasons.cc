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

/// The words of a drop and of a mark for one cause.
struct Words
{
    const char* drop; //!< of a drop
    const char* mark; //!< of a mark
};

const Words UNFORCED{SojournReasons::UNFORCED_DROP, SojournReasons::UNFORCED_MARK};
const Words FORCED{SojournReasons::FORCED_DROP, SojournReasons::FORCED_MARK};
const Words TARGET{SojournReasons::TARGET_EXCEEDED_DROP, SojournReasons::TARGET_EXCEEDED_MARK};
const Words CE_THRESHOLD{"CE threshold exceeded drop", SojournReasons::CE_THRESHOLD_EXCEEDED_MARK};
const Words OVERLIMIT{SojournReasons::OVERLIMIT_DROP, "Overlimit mark"};
const Words OVERLOAD{"Overload drop", "Overload mark"};
const Words DELAY_BOUND{"Delay bound exceeded drop", "Delay bound exceeded mark"};
const Words BIN_OVERFLOW{"Bin overflow drop", "Bin overflow mark"};
const Words PENALTY{"Penalty drop", "Penalty mark"};
const Words MATCH{"Match drop", "Match mark"};
const Words FLOW_LIMIT{"Flow limit drop", "Flow limit mark"};
const Words HORIZON{"Horizon drop", "Horizon mark"};

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
    case SOJOURN_CAUSE_FLOW_LIMIT:
        return FLOW_LIMIT;
    case SOJOURN_CAUSE_HORIZON:
        return HORIZON;
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
    m_mayDraw = !IsOneOf(law, {"taildrop", "codel", "step"});
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
            return FORCED_DROP;
        case Family::RED: // QueueDisc::INTERNAL_QUEUE_DROP
            return "Dropped by internal queue";
        case Family::FIFO: // FifoQueueDisc::LIMIT_EXCEEDED_DROP
            return LIMIT_EXCEEDED_DROP;
        default: // OVERLIMIT_DROP of CoDel, COBALT and the discs of flow queues
            return OVERLIMIT_DROP;
        }
    }
    // CobaltQueueDisc counts BLUE's drops as those of its schedule.
    const bool isBlue = m_family == Family::COBALT && cause == SOJOURN_CAUSE_RANDOM;
    return isBlue ? TARGET_EXCEEDED_DROP : WordsOf(cause).drop;
}

const char*
SojournReasons::OfMark(uint8_t cause) const
{
    const bool isCobalt = m_family == Family::COBALT && cause == SOJOURN_CAUSE_TARGET;
    return isCobalt ? COBALT_MARK : WordsOf(cause).mark;
}

bool
SojournReasons::MayMark() const
{
    return m_family != Family::FIFO;
}

bool
SojournReasons::MayDraw() const
{
    return m_mayDraw;
}

bool
SojournReasons::HasFlowQueues() const
{
    return m_hasFlows;
}

} // namespace ns3
