//! What ns-3's own discs call the parameters and the state of the AQMs that they share with us, so
//! that a script written for one of them reads the same with ours. The attributes are those of
//! release 3.44 (`GetTypeId` of each disc).

/// How the value of ns-3's attribute stands for that of the parameter.
pub enum Form {
    /// It is the same value.
    Same,
    /// It is true or false, for one of two words.
    Choice(&'static str, &'static str),
    /// It is one over the value.
    Inverse,
}

/// An attribute of ns-3's.
pub struct Name {
    /// The AQMs whose parameter it names.
    aqms: &'static [&'static str],
    /// The parameter.
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
const L4S: &[&str] = &["codel", "fq_codel", "pie", "fq_pie", "cobalt", "fq_cobalt"];
const FLOWS: &[&str] = &["fq_codel", "fq_pie", "fq_cobalt"];

const fn same(
    aqms: &'static [&'static str],
    parameter: &'static str,
    attribute: &'static str,
) -> Name {
    Name { aqms, parameter, attribute, form: Form::Same }
}

const NAMES: [Name; 27] = [
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

/// The names of an AQM's parameters, without those that are the same here.
pub fn of(aqm: &str) -> impl Iterator<Item = &'static Name> {
    NAMES.iter().filter(move |name| name.aqms.contains(&aqm))
}

/// The trace source of ns-3 for a state variable, where it has another name there.
pub fn trace(variable: &str) -> Option<&'static str> {
    (variable == "dropping").then_some("DropState")
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
        "fq_codel" | "fq_pie" | "fq_cobalt" => &[FLOW_MEMBERS],
        _ => &[],
    };
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::aqms::AqmInfo;

    #[test]
    fn every_name_is_of_a_parameter_that_some_aqm_has() {
        for name in &NAMES {
            let has = |aqm: &AqmInfo| {
                name.aqms.contains(&aqm.name.as_str())
                    && aqm.params().any(|param| param.name == name.parameter)
            };
            assert!(AqmInfo::all().iter().any(has), "{}", name.attribute);
        }
    }
}
