/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_TYPED_QUEUE_DISC_H
#define SOJOURN_TYPED_QUEUE_DISC_H

#include "sojourn-aqm-queue-disc.h"

#include "ns3/attribute.h"

#include <vector>

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
};

/// A state variable of an AQM and the trace source that stands for it.
struct SojournVariable
{
    const char* trace; //!< name of the trace source
    const char* help;  //!< what it means, with its unit
};

/// An AQM: what a subclass of SojournTypedQueueDisc is.
struct SojournAqm
{
    const char* kind;                              //!< its name, such as "pi2"
    const char* dialect;                           //!< its default dialect
    const char* dialects;                          //!< all of them, for people
    const std::vector<SojournParameter> parameters; //!< in the order of their attributes
    const std::vector<SojournVariable> variables;   //!< in the order of the AQM
};

/**
 * @ingroup sojourn
 *
 * One AQM of Sojourn with its parameters as attributes and its state variables as trace sources.
 * The subclasses are generated from the registry of AQMs.
 *
 * A parameter that nobody has set takes the default of the dialect. One counts as set when an
 * attribute of an object was set after it was made, or when its value differs from the default of
 * the default dialect.
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
    TracedCallback<double, double>* GetStateTrace(std::size_t index) override;

  protected:
    /// @param aqm what it is
    explicit SojournTypedQueueDisc(const SojournAqm& aqm);

    /**
     * Adds the attributes and trace sources of an AQM.
     * @param tid the type
     * @param aqm the AQM
     * @return the type
     */
    static TypeId AddTo(TypeId tid, const SojournAqm& aqm);

    std::string DescribeAqm() const override;
    bool IsAnyStateTraced() const override;
    void NotifyConstructionCompleted() override;

  private:
    /// The value of a parameter.
    struct Value
    {
        std::string text;     //!< as the AQM reads it
        bool isSet{false};    //!< whether somebody has set it
    };

    const SojournAqm& m_aqm;     //!< what it is
    std::string m_dialect;       //!< empty: the default
    std::vector<Value> m_values; //!< of the parameters
    bool m_isConstructed;        //!< whether what is set from now on was set by somebody
    std::vector<TracedCallback<double, double>> m_stateTraces; //!< of the state variables
};

} // namespace ns3

#endif // SOJOURN_TYPED_QUEUE_DISC_H
