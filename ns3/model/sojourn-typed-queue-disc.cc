/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sojourn-typed-queue-disc.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fatal-error.h"
#include "ns3/nstime.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <cstdio>
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
        auto* trace = TraceOf(object);
        return trace && (trace->ConnectWithoutContext(cb), true);
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& cb) const override
    {
        auto* trace = TraceOf(object);
        return trace && (trace->Connect(cb, context), true);
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& cb) const override
    {
        auto* trace = TraceOf(object);
        return trace && (trace->DisconnectWithoutContext(cb), true);
    }

    bool Disconnect(ObjectBase* object, std::string context, const CallbackBase& cb) const override
    {
        auto* trace = TraceOf(object);
        return trace && (trace->Disconnect(cb, context), true);
    }

  private:
    TracedCallback<double, double>* TraceOf(ObjectBase* object) const
    {
        auto* disc = dynamic_cast<SojournTypedQueueDisc*>(object);
        return disc ? disc->GetStateTrace(m_index) : nullptr;
    }

    std::size_t m_index; //!< which variable
};

/// A number with the digits that read back as the same number.
std::string
Digits(double number, const char* unit)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.17g%s", number, unit);
    return text;
}

/// An attribute's value as the AQM reads it.
std::string
ToText(const SojournParameter& parameter, const AttributeValue& value)
{
    const bool mayBeAbsent = parameter.absent != nullptr;
    const auto orAbsent = [&](bool isAbsent, std::string text) {
        return isAbsent && mayBeAbsent ? std::string(parameter.absent) : text;
    };
    switch (parameter.kind)
    {
    case SojournParameter::TIME: {
        const Time time = dynamic_cast<const TimeValue&>(value).Get();
        const bool isAuto = mayBeAbsent && std::string(parameter.absent) == "auto";
        const Time absent = isAuto ? Time(0) : Time::Max();
        return orAbsent(time == absent, std::to_string(time.GetNanoSeconds()) + "ns");
    }
    case SojournParameter::HERTZ:
        return Digits(dynamic_cast<const DoubleValue&>(value).Get(), "hz");
    case SojournParameter::NUMBER: {
        const double number = dynamic_cast<const DoubleValue&>(value).Get();
        return orAbsent(number == 0, Digits(number, ""));
    }
    case SojournParameter::WHOLE: {
        const uint64_t number = dynamic_cast<const UintegerValue&>(value).Get();
        return orAbsent(number == 0, std::to_string(number));
    }
    case SojournParameter::BYTES: {
        const uint64_t bytes = dynamic_cast<const UintegerValue&>(value).Get();
        return orAbsent(bytes == 0, std::to_string(bytes) + "B");
    }
    case SojournParameter::RATE: {
        const uint64_t bps = dynamic_cast<const DataRateValue&>(value).Get().GetBitRate();
        return orAbsent(bps == 0, std::to_string(bps) + "bit");
    }
    case SojournParameter::LIMIT: {
        const QueueSize size = dynamic_cast<const QueueSizeValue&>(value).Get();
        const char* unit = size.GetUnit() == QueueSizeUnit::PACKETS ? "p" : "B";
        return orAbsent(size.GetValue() == 0, std::to_string(size.GetValue()) + unit);
    }
    case SojournParameter::BOOL:
        return dynamic_cast<const BooleanValue&>(value).Get() ? "true" : "false";
    case SojournParameter::WORD:
        return dynamic_cast<const StringValue&>(value).Get();
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

/// A number of bytes as the AQM writes it: 1514B, 250kB, 1MB.
uint64_t
BytesOf(const std::string& text)
{
    return QueueSize(text).GetValue();
}

/// A value as the AQM writes it, as a value for the attribute.
Ptr<AttributeValue>
FromText(const SojournParameter& parameter, const std::string& text)
{
    const bool isAbsent = parameter.absent && text == parameter.absent;
    switch (parameter.kind)
    {
    case SojournParameter::TIME:
        if (isAbsent)
        {
            return Create<TimeValue>(text == "auto" ? Time(0) : Time::Max());
        }
        return Create<TimeValue>(Time(text));
    case SojournParameter::HERTZ: // the unit behind the number ends it
    case SojournParameter::NUMBER:
        return Create<DoubleValue>(isAbsent ? 0.0 : std::strtod(text.c_str(), nullptr));
    case SojournParameter::WHOLE:
        return Create<UintegerValue>(isAbsent ? 0 : std::strtoull(text.c_str(), nullptr, 10));
    case SojournParameter::BYTES:
        return Create<UintegerValue>(isAbsent ? 0 : BytesOf(text));
    case SojournParameter::RATE: // 10mbit is 10mb/s to ns-3
        return Create<DataRateValue>(
            isAbsent ? DataRate(0) : DataRate(text.substr(0, text.size() - 2) + "ps"));
    case SojournParameter::LIMIT:
        return Create<QueueSizeValue>(isAbsent ? QueueSize("0p") : QueueSize(text));
    case SojournParameter::BOOL:
        return Create<BooleanValue>(text == "true");
    case SojournParameter::WORD:
        return Create<StringValue>(text);
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

Ptr<const AttributeChecker>
CheckerOf(SojournParameter::Kind kind)
{
    switch (kind)
    {
    case SojournParameter::TIME:
        return MakeTimeChecker();
    case SojournParameter::HERTZ:
    case SojournParameter::NUMBER:
        return MakeDoubleChecker<double>();
    case SojournParameter::WHOLE:
    case SojournParameter::BYTES:
        return MakeUintegerChecker<uint64_t>();
    case SojournParameter::RATE:
        return MakeDataRateChecker();
    case SojournParameter::LIMIT:
        return MakeQueueSizeChecker();
    case SojournParameter::BOOL:
        return MakeBooleanChecker();
    case SojournParameter::WORD:
        return MakeStringChecker();
    }
    NS_FATAL_ERROR("a kind that is not listed");
}

} // namespace

TypeId
SojournTypedQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SojournTypedQueueDisc")
            .SetParent<SojournAqmQueueDisc>()
            .SetGroupName("TrafficControl")
            .AddAttribute("Dialect",
                          "Whose form of the AQM; empty for the default",
                          StringValue(""),
                          MakeStringAccessor(&SojournTypedQueueDisc::m_dialect),
                          MakeStringChecker());
    return tid;
}

TypeId
SojournTypedQueueDisc::AddTo(TypeId tid, const SojournAqm& aqm)
{
    for (std::size_t i = 0; i < aqm.parameters.size(); i++)
    {
        const SojournParameter& parameter = aqm.parameters[i];
        tid.AddAttribute(parameter.attribute,
                         parameter.help,
                         *FromText(parameter, parameter.initial),
                         Create<ParameterAccessor>(i),
                         CheckerOf(parameter.kind));
    }
    for (std::size_t i = 0; i < aqm.variables.size(); i++)
    {
        const SojournVariable& variable = aqm.variables[i];
        tid.AddTraceSource(variable.trace,
                           variable.help,
                           Create<StateTraceAccessor>(i),
                           "ns3::TracedValueCallback::Double");
    }
    return tid;
}

SojournTypedQueueDisc::SojournTypedQueueDisc(const SojournAqm& aqm)
    : m_aqm(aqm),
      m_values(aqm.parameters.size()),
      m_isConstructed(false),
      m_stateTraces(aqm.variables.size())
{
}

SojournTypedQueueDisc::~SojournTypedQueueDisc() = default;

void
SojournTypedQueueDisc::NotifyConstructionCompleted()
{
    SojournAqmQueueDisc::NotifyConstructionCompleted();
    m_isConstructed = true;
}

bool
SojournTypedQueueDisc::SetParameterValue(std::size_t index, const AttributeValue& value)
{
    if (IsInitialized())
    {
        return false;
    }
    const SojournParameter& parameter = m_aqm.parameters[index];
    const std::string initial = ToText(parameter, *FromText(parameter, parameter.initial));
    m_values[index].text = ToText(parameter, value);
    m_values[index].isSet = m_isConstructed || m_values[index].text != initial;
    return true;
}

bool
SojournTypedQueueDisc::GetParameterValue(std::size_t index, AttributeValue& value) const
{
    const SojournParameter& parameter = m_aqm.parameters[index];
    // Once the AQM is there it says itself what it uses.
    const std::string used = GetParameter(parameter.name);
    const std::string& text = used.empty() ? m_values[index].text : used;
    return CheckerOf(parameter.kind)->Copy(*FromText(parameter, text), value);
}

TracedCallback<double, double>*
SojournTypedQueueDisc::GetStateTrace(std::size_t index)
{
    return index < m_stateTraces.size() ? &m_stateTraces[index] : nullptr;
}

bool
SojournTypedQueueDisc::IsAnyStateTraced() const
{
    for (const auto& trace : m_stateTraces)
    {
        if (!trace.IsEmpty())
        {
            return true;
        }
    }
    return false;
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
            text += separator + std::string(m_aqm.parameters[i].name) + "=" + m_values[i].text;
            separator = ',';
        }
    }
    return text;
}

} // namespace ns3
