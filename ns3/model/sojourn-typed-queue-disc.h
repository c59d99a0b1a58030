/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_TYPED_QUEUE_DISC_H
#define SOJOURN_TYPED_QUEUE_DISC_H

#include "sojourn-aqm-queue-disc.h"
#include "sojourn-parameter.h"

#include "ns3/attribute.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/// An attribute by which ns-3's own disc names a parameter.
struct SojournNs3Name
{
    /// How its value maps to that of the parameter.
    enum Form
    {
        SAME,    //!< it is the same
        CHOICE,  //!< bool: one of two words
        INVERSE, //!< double: one over it
        RATE,    //!< of no parameter, but the attribute Rate
        LIMIT,   //!< of no parameter, but MaxSize: uint32_t, in bytes
        NO_PARAMETER, //!< Time: it changes nothing. UNUSED is a macro of ns-3's openflow
    };

    const char* attribute; //!< name of the attribute
    const char* parameter; //!< name of the parameter, or of the attribute
    Form form;             //!< how the values correspond
    const char* whenTrue;  //!< the word of true, else null
    const char* whenFalse; //!< the word of false, else null
};

/// A state variable of an AQM and its trace source.
struct SojournVariable
{
    const char* trace; //!< name of the trace source
    const char* ns3;   //!< its name in ns-3's own disc, where that is another; else null
    bool isTime;       //!< whether it is a time, in seconds
    const char* help;  //!< what it means, with its unit
};

/// The AQM of a subclass of SojournTypedQueueDisc.
struct SojournAqm
{
    const char* kind;                              //!< its name, such as "pi2"
    const char* dialect;                           //!< its default dialect
    const char* dialects;                          //!< all of them, for people
    const std::vector<SojournParameter> parameters; //!< in the order of their attributes
    const std::vector<SojournNs3Name> names;        //!< other names of some of them
    const std::vector<SojournVariable> variables;   //!< in the order of the AQM
};

/**
 * @ingroup sojourn
 *
 * One AQM of Sojourn with its parameters as attributes and its state variables as trace sources.
 * The subclasses are generated from the registry of AQMs.
 *
 * A parameter that has not been set by an attribute, a factory or Config::SetDefault has the
 * default of the dialect.
 *
 * Parameters also have the names of ns-3's own discs, such as QueueDelayReference, and a threshold
 * may be a number of packets or bytes, whichever MaxSize counts. A listener gets a state variable
 * in the type of its callback: double, uint32_t, int64_t, bool or Time.
 */
class SojournTypedQueueDisc : public SojournAqmQueueDisc
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    ~SojournTypedQueueDisc() override;

    /**
     * @param index the number of a parameter
     * @param value its value, of the type of its kind
     * @return false if the disc has been initialized
     */
    bool SetParameterValue(std::size_t index, const AttributeValue& value);
    /**
     * @param index the number of a parameter
     * @param value filled in
     * @return false if the value cannot be given
     */
    bool GetParameterValue(std::size_t index, AttributeValue& value) const;
    /**
     * Connects a listener to a state variable, or disconnects it.
     * @param index the number of the variable
     * @param listener takes the value before and after, in any of the types above
     * @param context passed to it first; null: none
     * @param connects whether to connect it
     * @return false if its type does not match
     */
    bool Listen(std::size_t index,
                const CallbackBase& listener,
                const std::string* context,
                bool connects);

  protected:
    /// @param aqm the AQM
    explicit SojournTypedQueueDisc(const SojournAqm& aqm);

    /**
     * Adds the attributes and trace sources of an AQM.
     * @param tid the type
     * @param aqm the AQM
     * @return the type
     */
    static TypeId AddTo(TypeId tid, const SojournAqm& aqm);

    /**
     * Sets a parameter; fails with a message if the disc has been initialized.
     * @param attribute its attribute
     * @param value its value
     */
    void SetOrRefuse(const std::string& attribute, const AttributeValue& value);
    /// @param bytes the limit; 0 leaves it as it is
    void SetLimitInBytes(uint32_t bytes);
    /// @return the limit, if it is in bytes; else 0
    uint32_t GetLimitInBytes() const;
    /// @param attribute a number @return its value
    double GetRealOf(const std::string& attribute) const;
    /// @param attribute a time @return its value
    Time GetTimeOf(const std::string& attribute) const;
    /// @param attribute a whole number @return its value
    uint64_t GetNumberOf(const std::string& attribute) const;
    /// @param variable a state variable @return its value; 0 before the disc is initialized
    double GetStateNumber(const std::string& variable);
    /// @param variable a state variable in seconds @return its value, likewise
    Time GetStateTime(const std::string& variable);

    std::string DescribeAqm() const override;
    void FireStateTrace(std::size_t index, double before, double after) override;
    bool IsAnyStateTraced() const override;

  private:
    /// @param index the number of a parameter @return its value in the AQM's notation
    std::string TextOf(std::size_t index) const;

    /// The value of a parameter.
    struct Value
    {
        std::string text;     //!< as the AQM reads it
        bool isSet{false};    //!< whether somebody has set it
        bool needsUnit{false}; //!< whether it is a bare number of what MaxSize counts
    };

    /// Listeners of a state variable, by type.
    struct StateTrace
    {
        TracedCallback<double, double> asDouble;   //!< as it is
        TracedCallback<uint32_t, uint32_t> asUint; //!< a time: in units of 1024 ns, as CoDel counts
        TracedCallback<int64_t, int64_t> asInt;    //!< a time: in nanoseconds
        TracedCallback<bool, bool> asBool;         //!< whether it is not 0
        TracedCallback<Time, Time> asTime;         //!< a time
    };

    const SojournAqm& m_aqm;     //!< what it is
    std::string m_dialect;       //!< empty: the default
    Time m_unused;               //!< what an attribute of ns-3's was set to that changes nothing
    std::vector<Value> m_values; //!< of the parameters
    std::vector<StateTrace> m_stateTraces; //!< of the state variables
};

} // namespace ns3

#endif // SOJOURN_TYPED_QUEUE_DISC_H
