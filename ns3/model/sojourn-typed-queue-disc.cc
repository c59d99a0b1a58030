/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * tidy: allow(length) ns-3's style puts every brace and result type on a separate line.
 */

#include "sojourn-typed-queue-disc.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fatal-error.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SojournTypedQueueDisc);

namespace
{

/// Sets and gets the parameter of a number.
class ParameterAccessor : public AttributeAccessor
{
  public:
    explicit ParameterAccessor(std::size_t index)
        : m_index(index)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* disc = dynamic_cast<SojournTypedQueueDisc*>(object);
        return disc && disc->SetParameterValue(m_index, value);
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto* disc = dynamic_cast<const SojournTypedQueueDisc*>(object);
        return disc && disc->GetParameterValue(m_index, value);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    std::size_t m_index; //!< which parameter
};

/// Sets and gets a parameter by the attribute of ns-3's own disc.
class NameAccessor : public AttributeAccessor
{
  public:
    NameAccessor(const SojournNs3Name& name, std::size_t index)
        : m_name(name),
          m_index(index)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* disc = dynamic_cast<SojournTypedQueueDisc*>(object);
        return disc && (IsSojournUnset(value) || disc->SetParameterValue(m_index, *ToOurs(value)));
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto* disc = dynamic_cast<const SojournTypedQueueDisc*>(object);
        return disc && GetTheirs(*disc, value);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    /// The parameter's value for an attribute's value.
    Ptr<AttributeValue> ToOurs(const AttributeValue& value) const
    {
        switch (m_name.form)
        {
        case SojournNs3Name::CHOICE: {
            const bool isTrue = dynamic_cast<const BooleanValue&>(value).Get();
            return Create<StringValue>(isTrue ? m_name.whenTrue : m_name.whenFalse);
        }
        case SojournNs3Name::INVERSE:
            return Create<DoubleValue>(1 / dynamic_cast<const DoubleValue&>(value).Get());
        default:
            return value.Copy();
        }
    }

    /// The attribute's value for a parameter's value.
    bool GetTheirs(const SojournTypedQueueDisc& disc, AttributeValue& value) const
    {
        if (auto* choice = dynamic_cast<BooleanValue*>(&value);
            choice && m_name.form == SojournNs3Name::CHOICE)
        {
            StringValue word;
            const bool isThere = disc.GetParameterValue(m_index, word);
            choice->Set(word.Get() == m_name.whenTrue);
            return isThere;
        }
        if (auto* number = dynamic_cast<DoubleValue*>(&value);
            number && m_name.form == SojournNs3Name::INVERSE)
        {
            const bool isThere = disc.GetParameterValue(m_index, value);
            number->Set(1 / number->Get());
            return isThere;
        }
        return m_name.form == SojournNs3Name::SAME && disc.GetParameterValue(m_index, value);
    }

    const SojournNs3Name m_name; //!< the attribute
    std::size_t m_index;         //!< which parameter
};

/// Connects to the trace of the state variable of a number.
class StateTraceAccessor : public TraceSourceAccessor
{
  public:
    explicit StateTraceAccessor(std::size_t index)
        : m_index(index)
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& cb) const override
    {
        return Listen(object, cb, nullptr, true);
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& cb) const override
    {
        return Listen(object, cb, &context, true);
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& cb) const override
    {
        return Listen(object, cb, nullptr, false);
    }

    bool Disconnect(ObjectBase* object, std::string context, const CallbackBase& cb) const override
    {
        return Listen(object, cb, &context, false);
    }

  private:
    bool Listen(ObjectBase* object,
                const CallbackBase& cb,
                const std::string* context,
                bool on) const
    {
        auto* disc = dynamic_cast<SojournTypedQueueDisc*>(object);
        return disc && disc->Listen(m_index, cb, context, on);
    }

    std::size_t m_index; //!< which variable
};

/// Connects a listener to a trace, or disconnects it, if the type matches.
template <typename T>
bool
ListenAs(TracedCallback<T, T>& trace,
         const CallbackBase& listener,
         const std::string* context,
         bool connects)
{
    if (context)
    {
        if (!Callback<void, std::string, T, T>().CheckType(listener))
        {
            return false;
        }
        connects ? trace.Connect(listener, *context) : trace.Disconnect(listener, *context);
        return true;
    }
    if (!Callback<void, T, T>().CheckType(listener))
    {
        return false;
    }
    connects ? trace.ConnectWithoutContext(listener) : trace.DisconnectWithoutContext(listener);
    return true;
}

/// Fires a trace if the value has changed in its type, like a TracedValue.
template <typename T>
void
Fire(const TracedCallback<T, T>& trace, T before, T after)
{
    if (before != after)
    {
        trace(before, after);
    }
}

/// The number of the parameter of a name.
std::size_t
IndexOf(const SojournAqm& aqm, const std::string& parameter)
{
    std::size_t index = 0;
    while (aqm.parameters.at(index).name != parameter)
    {
        index++;
    }
    return index;
}

/// The initial value of an attribute of ns-3's disc.
Ptr<AttributeValue>
InitialOf(const SojournNs3Name& name, const SojournParameter& parameter)
{
    switch (name.form)
    {
    case SojournNs3Name::CHOICE:
        return Create<BooleanValue>(std::string(parameter.initial) == name.whenTrue);
    case SojournNs3Name::INVERSE:
        return Create<DoubleValue>(1 / std::strtod(parameter.initial, nullptr));
    default:
        return parameter.FromText(parameter.initial);
    }
}

/// The checker of an attribute of ns-3's disc.
Ptr<const AttributeChecker>
CheckerOf(const SojournNs3Name& name, const SojournParameter& parameter)
{
    const bool isChoice = name.form == SojournNs3Name::CHOICE;
    return isChoice ? MakeBooleanChecker() : parameter.MakeChecker();
}

} // namespace

TypeId
SojournTypedQueueDisc::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SojournTypedQueueDisc")
                            .SetParent<SojournAqmQueueDisc>()
                            .SetGroupName("TrafficControl");
    return tid;
}

TypeId
SojournTypedQueueDisc::AddTo(TypeId tid, const SojournAqm& aqm)
{
    AddCommonAttributes(tid).AddAttribute("Dialect",
                                          "Whose form of the AQM; empty for the default",
                                          StringValue(""),
                                          MakeStringAccessor(&SojournTypedQueueDisc::m_dialect),
                                          MakeStringChecker());
    for (std::size_t i = 0; i < aqm.parameters.size(); i++)
    {
        const SojournParameter& parameter = aqm.parameters[i];
        tid.AddAttribute(parameter.attribute,
                         parameter.help,
                         *SojournUnset(*parameter.FromText(parameter.initial)),
                         Create<ParameterAccessor>(i),
                         parameter.MakeChecker());
    }
    for (const SojournNs3Name& name : aqm.names)
    {
        const std::string help = std::string("What ns-3 calls ") + name.parameter;
        if (name.form == SojournNs3Name::RATE)
        {
            tid.AddAttribute(name.attribute,
                             help,
                             *SojournUnset(DataRateValue(DataRate(0))),
                             SojournIfSet(MakeDataRateAccessor(&SojournTypedQueueDisc::SetRate,
                                                               &SojournTypedQueueDisc::GetRate)),
                             MakeDataRateChecker());
            continue;
        }
        if (name.form == SojournNs3Name::LIMIT)
        {
            tid.AddAttribute(
                name.attribute,
                help + ", in bytes",
                *SojournUnset(UintegerValue(0)),
                SojournIfSet(MakeUintegerAccessor(&SojournTypedQueueDisc::SetLimitInBytes,
                                                  &SojournTypedQueueDisc::GetLimitInBytes)),
                MakeUintegerChecker<uint32_t>());
            continue;
        }
        if (name.form == SojournNs3Name::NO_PARAMETER)
        {
            tid.AddAttribute(name.attribute,
                             std::string("Of no effect: what ns-3 uses for ") + name.parameter,
                             TimeValue(Time(0)),
                             MakeTimeAccessor(&SojournTypedQueueDisc::m_unused),
                             MakeTimeChecker());
            continue;
        }
        const std::size_t index = IndexOf(aqm, name.parameter);
        const SojournParameter& parameter = aqm.parameters[index];
        tid.AddAttribute(name.attribute,
                         std::string("What ns-3 calls ") + parameter.attribute,
                         *SojournUnset(*InitialOf(name, parameter)),
                         Create<NameAccessor>(name, index),
                         CheckerOf(name, parameter));
    }
    for (std::size_t i = 0; i < aqm.variables.size(); i++)
    {
        const SojournVariable& variable = aqm.variables[i];
        for (const char* trace : {variable.trace, variable.ns3})
        {
            if (trace)
            {
                tid.AddTraceSource(trace,
                                   variable.help,
                                   Create<StateTraceAccessor>(i),
                                   "ns3::TracedValueCallback::Double");
            }
        }
    }
    return tid;
}

SojournTypedQueueDisc::SojournTypedQueueDisc(const SojournAqm& aqm)
    : m_aqm(aqm),
      m_values(aqm.parameters.size()),
      m_stateTraces(aqm.variables.size())
{
}

SojournTypedQueueDisc::~SojournTypedQueueDisc() = default;

bool
SojournTypedQueueDisc::SetParameterValue(std::size_t index, const AttributeValue& value)
{
    if (IsInitialized())
    {
        return false;
    }
    const SojournParameter& parameter = m_aqm.parameters[index];
    Value& set = m_values[index];
    if (IsSojournUnset(value))
    {
        // The parameter may already have been set by its other name.
        set.text = set.isSet ? set.text : parameter.ToText(value);
        return true;
    }
    set.text = parameter.ToText(value);
    set.isSet = true;
    const auto endsInDigit = [&set] { return std::isdigit(set.text.back()) != 0; };
    set.needsUnit = parameter.kind == SojournParameter::LIMIT && endsInDigit();
    return true;
}

bool
SojournTypedQueueDisc::GetParameterValue(std::size_t index, AttributeValue& value) const
{
    const SojournParameter& parameter = m_aqm.parameters[index];
    // Once the AQM exists, it reports its value itself.
    const std::string used = GetParameter(parameter.name);
    const std::string text = used.empty() ? TextOf(index) : used;
    return parameter.MakeChecker()->Copy(*parameter.FromText(text), value);
}

std::string
SojournTypedQueueDisc::TextOf(std::size_t index) const
{
    const Value& value = m_values[index];
    const bool isBytes = GetLimit().GetUnit() == QueueSizeUnit::BYTES;
    return value.needsUnit ? value.text + (isBytes ? "B" : "p") : value.text;
}

bool
SojournTypedQueueDisc::Listen(std::size_t index,
                              const CallbackBase& listener,
                              const std::string* context,
                              bool connects)
{
    StateTrace& trace = m_stateTraces.at(index);
    const bool isTime = m_aqm.variables[index].isTime;
    return ListenAs(trace.asDouble, listener, context, connects) ||
           ListenAs(trace.asUint, listener, context, connects) ||
           ListenAs(trace.asInt, listener, context, connects) ||
           ListenAs(trace.asBool, listener, context, connects) ||
           (isTime && ListenAs(trace.asTime, listener, context, connects));
}

void
SojournTypedQueueDisc::FireStateTrace(std::size_t index, double before, double after)
{
    StateTrace& trace = m_stateTraces.at(index);
    Fire(trace.asDouble, before, after);
    after = std::isnan(after) ? 0 : after; // other types have no such value
    Fire(trace.asBool, before != 0, after != 0);
    if (!m_aqm.variables[index].isTime)
    {
        Fire(trace.asUint, static_cast<uint32_t>(before), static_cast<uint32_t>(after));
        Fire(trace.asInt, static_cast<int64_t>(before), static_cast<int64_t>(after));
        return;
    }
    const int64_t from = std::llround(before * 1e9);
    const int64_t to = std::llround(after * 1e9);
    Fire(trace.asTime, NanoSeconds(from), NanoSeconds(to));
    Fire(trace.asInt, from, to);
    Fire(trace.asUint, static_cast<uint32_t>(from >> 10), static_cast<uint32_t>(to >> 10));
}

bool
SojournTypedQueueDisc::IsAnyStateTraced() const
{
    for (const StateTrace& trace : m_stateTraces)
    {
        if (!(trace.asDouble.IsEmpty() && trace.asUint.IsEmpty() && trace.asInt.IsEmpty() &&
              trace.asBool.IsEmpty() && trace.asTime.IsEmpty()))
        {
            return true;
        }
    }
    return false;
}

void
SojournTypedQueueDisc::SetOrRefuse(const std::string& attribute, const AttributeValue& value)
{
    if (!SetAttributeFailSafe(attribute, value))
    {
        NS_FATAL_ERROR(GetInstanceTypeId().GetName()
                       << ": " << attribute
                       << " is fixed once the disc is initialized; set it before");
    }
}

void
SojournTypedQueueDisc::SetLimitInBytes(uint32_t bytes)
{
    if (bytes > 0) // otherwise the unit is that of MaxSize
    {
        SetLimit(QueueSize(QueueSizeUnit::BYTES, bytes));
    }
}

uint32_t
SojournTypedQueueDisc::GetLimitInBytes() const
{
    const QueueSize limit = GetLimit();
    return limit.GetUnit() == QueueSizeUnit::BYTES ? limit.GetValue() : 0;
}

double
SojournTypedQueueDisc::GetRealOf(const std::string& attribute) const
{
    DoubleValue value;
    GetAttribute(attribute, value);
    return value.Get();
}

Time
SojournTypedQueueDisc::GetTimeOf(const std::string& attribute) const
{
    TimeValue value;
    GetAttribute(attribute, value);
    return value.Get();
}

uint64_t
SojournTypedQueueDisc::GetNumberOf(const std::string& attribute) const
{
    UintegerValue value;
    GetAttribute(attribute, value);
    return value.Get();
}

double
SojournTypedQueueDisc::GetStateNumber(const std::string& variable)
{
    return IsInitialized() ? GetState(variable) : 0;
}

Time
SojournTypedQueueDisc::GetStateTime(const std::string& variable)
{
    const double seconds = GetStateNumber(variable);
    return std::isnan(seconds) ? Time(0) : NanoSeconds(std::llround(seconds * 1e9));
}

std::string
SojournTypedQueueDisc::DescribeAqm() const
{
    std::string text = m_aqm.kind;
    if (!m_dialect.empty())
    {
        text += "@" + m_dialect;
    }
    char separator = ':';
    for (std::size_t i = 0; i < m_values.size(); i++)
    {
        if (m_values[i].isSet)
        {
            text += separator + std::string(m_aqm.parameters[i].name) + "=" + TextOf(i);
            separator = ',';
        }
    }
    return text;
}

} // namespace ns3
