/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-parameter.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fatal-error.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <set>

namespace ns3
{

namespace
{

/// A number with the digits of a round trip, without an exponent, in any locale.
std::string
Digits(double number, const char* unit)
{
    char text[400]; // the smallest numbers have some 330 digits
    const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr;
    return std::string(text, end) + unit;
}

/// A number of bytes in the AQM's notation: 1514B, 250kB, 1MB.
uint64_t
BytesOf(const std::string& text)
{
    return QueueSize(text).GetValue();
}

/// Whether a text is only a number.
bool
IsNumber(const std::string& text)
{
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == 0;
}

/// A threshold: a QueueSize, or a number in the unit of MaxSize, as in RedQueueDisc.
class ThresholdChecker : public AttributeChecker
{
  public:
    bool Check(const AttributeValue& value) const override
    {
        if (auto* text = dynamic_cast<const StringValue*>(&value))
        {
            return IsNumber(text->Get()) ||
                   QueueSizeValue().DeserializeFromString(text->Get(), this);
        }
        return dynamic_cast<const QueueSizeValue*>(&value) ||
               dynamic_cast<const DoubleValue*>(&value);
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::QueueSizeValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return "QueueSize";
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<QueueSizeValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto& size = dynamic_cast<const QueueSizeValue&>(source);
        if (auto* count = dynamic_cast<DoubleValue*>(&destination))
        {
            count->Set(size.Get().GetValue());
            return true;
        }
        if (auto* text = dynamic_cast<StringValue*>(&destination))
        {
            text->Set(size.SerializeToString(this));
            return true;
        }
        auto* same = dynamic_cast<QueueSizeValue*>(&destination);
        return same && (same->Set(size.Get()), true);
    }
};

/// A QueueSize; for an invalid text the error shows a valid one.
class SizeChecker : public AttributeChecker
{
  public:
    bool Check(const AttributeValue& value) const override
    {
        if (const auto* text = dynamic_cast<const StringValue*>(&value))
        {
            Explain(text->Get());
        }
        return m_checker->Check(value);
    }

    std::string GetValueTypeName() const override
    {
        return m_checker->GetValueTypeName();
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return m_checker->HasUnderlyingTypeInformation();
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return m_checker->GetUnderlyingTypeInformation();
    }

    Ptr<AttributeValue> Create() const override
    {
        return m_checker->Create();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        return m_checker->Copy(source, destination);
    }

  private:
    /// Reports the error in a text. The caller then ends the program with a message of ns-3, or
    /// continues (SetAttributeFailSafe).
    static void Explain(const std::string& text)
    {
        // The units that QueueSize of ns-3.44 reads.
        static const std::set<std::string> units{"p", "kp", "Kp", "Kip", "Mp", "Mip",
                                                 "B", "kB", "KB", "KiB", "MB", "MiB"};
        const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
        const std::string number = text.substr(0, digits);
        const std::string unit = text.substr(digits);
        if (!number.empty() && units.count(unit) > 0)
        {
            return;
        }
        const std::string shown = number.empty() ? "100" : number;
        std::cerr << "Sojourn: `" << text << "` is not a size of a queue"
                  << (unit.empty() && !number.empty() ? ", because it has no unit" : "")
                  << "; write `" << shown << "p` for packets, or `" << shown << "B` for bytes"
                  << std::endl;
    }

    Ptr<const AttributeChecker> m_checker{MakeQueueSizeChecker()}; //!< ns-3's own
};

/// A value that has not been set.
struct Unset
{
    virtual ~Unset() = default;
};

/// An unset value of a given type. ObjectBase passes copies of an attribute's initial value to its
/// accessor, so a copy must be recognisable as unset too.
template <typename V>
class UnsetValue : public V, public Unset
{
  public:
    explicit UnsetValue(const V& value)
        : V(value)
    {
    }

    Ptr<AttributeValue> Copy() const override
    {
        return Create<UnsetValue<V>>(*this);
    }
};

/// Returns the value marked as unset, if it is of that type.
template <typename V>
bool
Unsets(const AttributeValue& value, Ptr<AttributeValue>& unset)
{
    const auto* typed = dynamic_cast<const V*>(&value);
    if (typed)
    {
        unset = Create<UnsetValue<V>>(*typed);
    }
    return typed != nullptr;
}

/// Leaves out values that have not been set.
class AccessorIfSet : public AttributeAccessor
{
  public:
    /// @param accessor sets and gets the others
    explicit AccessorIfSet(Ptr<const AttributeAccessor> accessor)
        : m_accessor(accessor)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        return IsSojournUnset(value) || m_accessor->Set(object, value);
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        return m_accessor->Get(object, value);
    }

    bool HasGetter() const override
    {
        return m_accessor->HasGetter();
    }

    bool HasSetter() const override
    {
        return m_accessor->HasSetter();
    }

  private:
    Ptr<const AttributeAccessor> m_accessor; //!< sets and gets the others
};

} // namespace

Ptr<AttributeValue>
SojournUnset(const AttributeValue& value)
{
    Ptr<AttributeValue> unset;
    if (!(Unsets<TimeValue>(value, unset) || Unsets<DoubleValue>(value, unset) ||
          Unsets<UintegerValue>(value, unset) || Unsets<IntegerValue>(value, unset) ||
          Unsets<DataRateValue>(value, unset) || Unsets<QueueSizeValue>(value, unset) ||
          Unsets<BooleanValue>(value, unset) || Unsets<StringValue>(value, unset)))
    {
        NS_FATAL_ERROR("a type of value that no parameter has");
    }
    return unset;
}

bool
IsSojournUnset(const AttributeValue& value)
{
    return dynamic_cast<const Unset*>(&value) != nullptr;
}

Ptr<const AttributeChecker>
SojournSizeChecker()
{
    return Create<SizeChecker>();
}

Ptr<const AttributeAccessor>
SojournIfSet(Ptr<const AttributeAccessor> accessor)
{
    return Create<AccessorIfSet>(accessor);
}

std::string
SojournParameter::ToText(const AttributeValue& value) const
{
    const bool mayBeAbsent = absent != nullptr;
    const auto orAbsent = [&](bool isAbsent, std::string text) {
        return isAbsent && mayBeAbsent ? std::string(absent) : text;
    };
    switch (kind)
    {
    case TIME: {
        const Time time = dynamic_cast<const TimeValue&>(value).Get();
        const bool isAuto = mayBeAbsent && std::string(absent) == "auto";
        // Time::Max() is rounded as text, so the value read back is slightly smaller.
        const bool isNone = isAuto ? time == Time(0) : time > Time::Max() / 2;
        return orAbsent(isNone, std::to_string(time.GetNanoSeconds()) + "ns");
    }
    case HERTZ:
        return Digits(dynamic_cast<const DoubleValue&>(value).Get(), "hz");
    case NUMBER: {
        const double number = dynamic_cast<const DoubleValue&>(value).Get();
        return orAbsent(number == 0, Digits(number, ""));
    }
    case WHOLE: {
        const uint64_t number = dynamic_cast<const UintegerValue&>(value).Get();
        return orAbsent(number == 0, std::to_string(number));
    }
    case BYTES: {
        const uint64_t bytes = dynamic_cast<const UintegerValue&>(value).Get();
        return orAbsent(bytes == 0, std::to_string(bytes) + "B");
    }
    case SIGNED_BYTES:
        return std::to_string(dynamic_cast<const IntegerValue&>(value).Get()) + "B";
    case RATE: {
        const uint64_t bps = dynamic_cast<const DataRateValue&>(value).Get().GetBitRate();
        return orAbsent(bps == 0, std::to_string(bps) + "bit");
    }
    case LIMIT: {
        const auto* count = dynamic_cast<const DoubleValue*>(&value);
        const auto* text = dynamic_cast<const StringValue*>(&value);
        if (count || (text && IsNumber(text->Get())))
        {
            const double number = count ? count->Get() : std::strtod(text->Get().c_str(), nullptr);
            return orAbsent(number == 0, Digits(number, "")); // its unit follows
        }
        const QueueSize size =
            text ? QueueSize(text->Get()) : dynamic_cast<const QueueSizeValue&>(value).Get();
        const char* unit = size.GetUnit() == QueueSizeUnit::PACKETS ? "p" : "B";
        return orAbsent(size.GetValue() == 0, std::to_string(size.GetValue()) + unit);
    }
    case BOOL:
        return dynamic_cast<const BooleanValue&>(value).Get() ? "true" : "false";
    case WORD:
        return dynamic_cast<const StringValue&>(value).Get();
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

Ptr<AttributeValue>
SojournParameter::FromText(const std::string& text) const
{
    const bool isAbsent = absent && text == absent;
    switch (kind)
    {
    case TIME:
        if (isAbsent)
        {
            return Create<TimeValue>(text == "auto" ? Time(0) : Time::Max());
        }
        return Create<TimeValue>(Time(text));
    case HERTZ: // the unit ends the number
    case NUMBER:
        return Create<DoubleValue>(isAbsent ? 0.0 : std::strtod(text.c_str(), nullptr));
    case WHOLE:
        return Create<UintegerValue>(isAbsent ? 0 : std::strtoull(text.c_str(), nullptr, 10));
    case BYTES:
        return Create<UintegerValue>(isAbsent ? 0 : BytesOf(text));
    case SIGNED_BYTES: {
        const bool isNegative = !text.empty() && text[0] == '-';
        const auto size = static_cast<int64_t>(BytesOf(text.substr(isNegative ? 1 : 0)));
        return Create<IntegerValue>(isNegative ? -size : size);
    }
    case RATE: {
        if (isAbsent)
        {
            return Create<DataRateValue>(DataRate(0));
        }
        // 10mbit is 10Mbps to ns-3
        std::string rate = text.substr(0, text.size() - 2) + "ps";
        const size_t prefix = rate.find_first_of("mg");
        if (prefix != std::string::npos)
        {
            rate[prefix] = rate[prefix] == 'm' ? 'M' : 'G';
        }
        return Create<DataRateValue>(DataRate(rate));
    }
    case LIMIT:
        return Create<QueueSizeValue>(isAbsent ? QueueSize("0p") : QueueSize(text));
    case BOOL:
        return Create<BooleanValue>(text == "true");
    case WORD:
        return Create<StringValue>(text);
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

Ptr<const AttributeChecker>
SojournParameter::MakeChecker() const
{
    switch (kind)
    {
    case TIME:
        return MakeTimeChecker();
    case HERTZ:
    case NUMBER:
        return MakeDoubleChecker<double>();
    case WHOLE:
    case BYTES:
        return MakeUintegerChecker<uint64_t>();
    case SIGNED_BYTES:
        return MakeIntegerChecker<int64_t>();
    case RATE:
        return MakeDataRateChecker();
    case LIMIT:
        return Create<ThresholdChecker>();
    case BOOL:
        return MakeBooleanChecker();
    case WORD:
        return MakeStringChecker();
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

} // namespace ns3
