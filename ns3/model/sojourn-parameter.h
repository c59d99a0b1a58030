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

/// A parameter of an AQM and its attribute.
struct SojournParameter
{
    /// The type of the attribute.
    enum Kind
    {
        TIME,   //!< Time; Time::Max() where the parameter is "off", 0 where it is "auto"
        HERTZ,  //!< double: a gain in Hz
        NUMBER, //!< double; 0 where the parameter is "off" or "auto"
        WHOLE,  //!< uint64_t; 0 where the parameter is "off" or "auto"
        BYTES,  //!< uint64_t: bytes; 0 where the parameter is "off" or "auto"
        SIGNED_BYTES, //!< int64_t: bytes
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

    /// @param value a value of the attribute @return the same in the AQM's notation; a bare
    /// threshold has no unit yet
    std::string ToText(const AttributeValue& value) const;
    /// @param text a value in the AQM's notation @return the same for the attribute
    Ptr<AttributeValue> FromText(const std::string& text) const;
    /// @return the checker of the attribute
    Ptr<const AttributeChecker> MakeChecker() const;
};

/**
 * @param value a value of a parameter
 * @return the same value marked as unset, the initial value of an attribute
 */
Ptr<AttributeValue> SojournUnset(const AttributeValue& value);
/**
 * @param value a value that an attribute is given
 * @return whether it is one of SojournUnset, or a copy of one
 */
bool IsSojournUnset(const AttributeValue& value);
/// @return the checker of queue sizes, whose errors show a valid one
Ptr<const AttributeChecker> SojournSizeChecker();
/**
 * For one of several attributes of the same value, whose initial values are SojournUnset.
 * @param accessor sets and gets it
 * @return the same, except that unset values are not set
 */
Ptr<const AttributeAccessor> SojournIfSet(Ptr<const AttributeAccessor> accessor);

} // namespace ns3

#endif // SOJOURN_PARAMETER_H
