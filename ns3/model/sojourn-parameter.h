/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_PARAMETER_H
#define SOJOURN_PARAMETER_H

#include "ns3/attribute.h"
#include "ns3/ptr.h"

#include <string>

namespace ns3
{

/// A parameter of an AQM and the attribute that stands for it.
struct SojournParameter
{
    /// What type the attribute has.
    enum Kind
    {
        TIME,   //!< Time; Time::Max() where the parameter is "off", 0 where it is "auto"
        HERTZ,  //!< double: a gain in Hz
        NUMBER, //!< double; 0 where the parameter is "off" or "auto"
        WHOLE,  //!< uint64_t; 0 where the parameter is "off" or "auto"
        BYTES,  //!< uint64_t: bytes; 0 where the parameter is "off" or "auto"
        RATE,   //!< DataRate; 0 where the parameter is "off" or "auto"
        LIMIT,  //!< QueueSize; 0p where the parameter is "off" or "auto"
        BOOL,   //!< bool
        WORD    //!< std::string
    };

    const char* attribute;     //!< name of the attribute
    const char* name;          //!< name of the parameter
    Kind kind;                 //!< what type it has
    const char* initial;       //!< default in the default dialect, as the AQM writes it
    const char* absent;        //!< "off" or "auto" where that is a value, else null
    const char* help;          //!< what it means

    /// @param value a value of the attribute @return the same as the AQM reads it; a threshold
    /// that is a bare number has no unit yet
    std::string ToText(const AttributeValue& value) const;
    /// @param text a value as the AQM writes it @return the same for the attribute
    Ptr<AttributeValue> FromText(const std::string& text) const;
    /// @return what checks values of the attribute
    Ptr<const AttributeChecker> MakeChecker() const;
};

/**
 * @param value a value of a parameter
 * @return the same value as one that nobody has set: what an attribute has at first
 */
Ptr<AttributeValue> SojournUnset(const AttributeValue& value);
/**
 * @param value a value that an attribute is given
 * @return whether it is one of SojournUnset, or a copy of one
 */
bool IsSojournUnset(const AttributeValue& value);
/// @return what checks sizes of queues, and says of a text that is none what would be one
Ptr<const AttributeChecker> SojournSizeChecker();
/**
 * For one of several attributes of the same value, whose initial values are SojournUnset.
 * @param accessor sets and gets it
 * @return the same, but what nobody has set is not set
 */
Ptr<const AttributeAccessor> SojournIfSet(Ptr<const AttributeAccessor> accessor);

} // namespace ns3

#endif // SOJOURN_PARAMETER_H
