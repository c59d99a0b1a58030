//! Names of ns-3's own discs for parameters and state of the AQMs that both have, so that a script
//! for one of them also works with ours. The attributes are those of release 3.44 (`GetTypeId` of
//! each disc), and of the proposed `DualPi2QueueDisc` and `PiSquareQueueDisc`, which no release
//! has.

use sojourn_scenario::aqms::AqmInfo;

/// How ns-3's attribute maps to the parameter.
pub enum Form {
    /// It is the same value.
    Same,
    /// A boolean for one of two words.
    Choice(&'static str, &'static str),
    /// The reciprocal of the value.
    Inverse,
    /// It sets the attribute `Rate`, not a parameter.
    Rate,
    /// It sets `MaxSize` in bytes, not a parameter.
    Limit,
    /// A time without effect, because it belongs to a setting that is refused.
    Unused,
}

/// An attribute of one of ns-3's discs.
pub struct Name {
    /// The AQMs whose parameter it names.
    aqms: &'static [&'static str],
    /// The parameter, or the attribute of every disc.
    pub parameter: &'static str,
    /// Its attribute in ns-3.
    pub attribute: &'static str,
    /// How values correspond.
    pub form: Form,
}

const PIE: &[&str] = &["pie", "fq_pie", "pi2", "madpie"];
const CODEL: &[&str] = &["codel", "fq_codel"];
const COBALT: &[&str] = &["cobalt", "fq_cobalt"];
const RED: &[&str] = &["red", "ared"];
const DUALPI2: &[&str] = &["dualpi2"];
const L4S: &[&str] = &["codel", "fq_codel", "pie", "fq_pie", "cobalt", "fq_cobalt"];
const FLOWS: &[&str] = &["fq_codel", "fq_pie", "fq_cobalt"];

const fn same(
    aqms: &'static [&'static str],
    parameter: &'static str,
    attribute: &'static str,
) -> Name {
    Name { aqms, parameter, attribute, form: Form::Same }
}

const NAMES: [Name; 33] = [
    same(PIE, "target", "QueueDelayReference"),
    same(PIE, "alpha", "A"),
    same(PIE, "beta", "B"),
    same(PIE, "max_burst", "MaxBurstAllowance"),
    same(PIE, "mtu_bytes", "MeanPktSize"),
    same(PIE, "mean_packet_bytes", "MeanPktSize"),
    same(PIE, "dq_threshold", "DequeueThreshold"),
    same(PIE, "ecn_mark_limit", "MarkEcnThreshold"),
    same(PIE, "derandomise", "UseDerandomization"),
    same(PIE, "cap_step", "UseCapDropAdjustment"),
    same(PIE, "first_update", "Supdate"),
    Name {
        aqms: PIE,
        parameter: "delay",
        attribute: "UseDequeueRateEstimator",
        form: Form::Choice("rate", "stamps"),
    },
    same(L4S, "l4s", "UseL4s"),
    same(CODEL, "mtu_bytes", "MinBytes"),
    same(COBALT, "p_inc", "Increment"),
    same(COBALT, "p_dec", "Decrement"),
    same(FLOWS, "drop_batch", "DropBatchSize"),
    same(RED, "mean_packet_bytes", "MeanPktSize"),
    same(RED, "w_q", "QW"),
    same(RED, "hard_drop", "UseHardDrop"),
    Name { aqms: RED, parameter: "max_p", attribute: "LInterm", form: Form::Inverse },
    Name { aqms: RED, parameter: "Rate", attribute: "LinkBandwidth", form: Form::Rate },
    Name { aqms: RED, parameter: "QW -1", attribute: "LinkDelay", form: Form::Unused },
    same(DUALPI2, "alpha", "A"),
    same(DUALPI2, "beta", "B"),
    same(DUALPI2, "l_min_th", "L4SMarkThreshold"),
    Name { aqms: DUALPI2, parameter: "MaxSize", attribute: "QueueLimit", form: Form::Limit },
    same(RED, "adapt_interval", "Interval"),
    same(RED, "adapt_alpha", "Alpha"),
    same(RED, "adapt_beta", "Beta"),
    same(RED, "max_p_top", "Top"),
    same(RED, "max_p_bottom", "Bottom"),
    Name {
        aqms: RED,
        parameter: "gap_mode",
        attribute: "Wait",
        form: Form::Choice("wait", "uniform"),
    },
];

/// The names of an AQM's parameters, except those that are the same here.
pub fn of(aqm: &AqmInfo) -> impl Iterator<Item = &'static Name> {
    let of_all = |name: &Name| matches!(name.form, Form::Rate | Form::Limit | Form::Unused);
    let has = move |name: &Name| aqm.params().any(|param| param.name == name.parameter);
    NAMES
        .iter()
        .filter(move |name| name.aqms.contains(&aqm.name.as_str()) && (of_all(name) || has(name)))
}

/// The trace source of ns-3 for a state variable of an AQM, if its name differs.
pub fn trace(aqm: &str, variable: &str) -> Option<&'static str> {
    match (aqm, variable) {
        (_, "dropping") => Some("DropState"),
        ("dualpi2", "drop_prob") => Some("ProbC"),
        ("dualpi2", "coupled_prob") => Some("ProbL"),
        _ => None,
    }
}

const GET_TARGET: &str = "
    /// @return the target, as ns-3's disc of this AQM gives it
    Time GetTarget() const
    {
        return GetTimeOf(\"Target\");
    }

    /// @return the interval, as ns-3's disc of this AQM gives it
    Time GetInterval() const
    {
        return GetTimeOf(\"Interval\");
    }
";

const CODEL_MEMBERS: &str = "
    /// @return when the next packet is dropped, in units of 1024 ns, as CoDelQueueDisc counts
    uint32_t GetDropNext()
    {
        return static_cast<uint32_t>(GetStateTime(\"drop_next\").GetNanoSeconds() >> 10);
    }
";

const COBALT_MEMBERS: &str = "
    /// A mark on the schedule, in the word of CobaltQueueDisc.
    static constexpr const char* FORCED_MARK = SojournReasons::COBALT_MARK;

    /// @return when the next packet is dropped, in nanoseconds, as CobaltQueueDisc gives it
    int64_t GetDropNext()
    {
        return GetStateTime(\"drop_next\").GetNanoSeconds();
    }

    /// @return the drop probability of BLUE
    double GetPdrop()
    {
        return GetStateNumber(\"blue_prob\");
    }

    /// @param time a time @return it as CobaltQueueDisc counts: in nanoseconds
    int64_t Time2CoDel(Time time) const
    {
        return time.GetNanoSeconds();
    }
";

const RED_MEMBERS: &str = "
    /// @param minTh the threshold of early drops, in the unit of MaxSize
    /// @param maxTh the threshold of forced drops, likewise
    void SetTh(double minTh, double maxTh)
    {
        SetOrRefuse(\"MinTh\", DoubleValue(minTh));
        SetOrRefuse(\"MaxTh\", DoubleValue(maxTh));
    }
";

const ARED_MEMBERS: &str = "
    /// @param alpha the step by which the maximum probability grows
    void SetAredAlpha(double alpha)
    {
        SetOrRefuse(\"Alpha\", DoubleValue(alpha));
    }

    /// @return the step by which the maximum probability grows
    double GetAredAlpha() const
    {
        return GetRealOf(\"Alpha\");
    }

    /// @param beta the factor by which the maximum probability shrinks
    void SetAredBeta(double beta)
    {
        SetOrRefuse(\"Beta\", DoubleValue(beta));
    }

    /// @return the factor by which the maximum probability shrinks
    double GetAredBeta() const
    {
        return GetRealOf(\"Beta\");
    }
";

const DUALPI2_MEMBERS: &str = "
    /// @param bytes how much may wait in both queues
    void SetQueueLimit(uint32_t bytes)
    {
        SetLimitInBytes(bytes);
    }

    /// @return bytes that wait in both queues
    uint32_t GetQueueSize() const
    {
        return GetNBytes();
    }
";

const PIE_MEMBERS: &str = "
    /// @return the queue delay that the AQM sees, as PieQueueDisc gives it
    Time GetQueueDelay()
    {
        return GetStateTime(\"delay\");
    }
";

const FLOW_MEMBERS: &str = "
    /// @param quantum bytes that a flow queue may send per round; before the disc is initialized
    void SetQuantum(uint32_t quantum)
    {
        SetAttribute(\"Quantum\", UintegerValue(quantum));
    }

    /// @return bytes that a flow queue may send per round
    uint32_t GetQuantum() const
    {
        return static_cast<uint32_t>(GetNumberOf(\"Quantum\"));
    }
";

/// The members that ns-3's own disc of an AQM has for scripts.
pub fn members(aqm: &str) -> String {
    let parts: &[&str] = match aqm {
        "codel" => &[GET_TARGET, CODEL_MEMBERS],
        "cobalt" => &[GET_TARGET, COBALT_MEMBERS],
        "pie" | "pi2" | "madpie" => &[PIE_MEMBERS],
        "red" => &[RED_MEMBERS],
        "ared" => &[RED_MEMBERS, ARED_MEMBERS],
        "dualpi2" => &[DUALPI2_MEMBERS],
        "fq_codel" | "fq_pie" | "fq_cobalt" => &[FLOW_MEMBERS],
        _ => &[],
    };
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_of_a_parameter_that_some_aqm_has() {
        for name in &NAMES {
            let is_it = |known: &Name| {
                (known.parameter, known.attribute) == (name.parameter, name.attribute)
            };
            let has = |aqm: &AqmInfo| of(aqm).any(is_it);
            assert!(AqmInfo::all().iter().any(has), "{}", name.attribute);
        }
    }
}
