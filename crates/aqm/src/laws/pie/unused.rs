//! Which parameters have no effect in a dialect, and are refused there.

/// Parameters without effect, by dialect.
pub(in crate::laws) fn unused(dialect: &str) -> &'static [&'static str] {
    match dialect {
        "rfc8033" | "rfc8033_basic" | "ietf_draft" => {
            &["heuristics", "decay_wraps", "byte_mode", "active_threshold", "ce_threshold", "l4s"]
        }
        "paper2013" => &[
            "derandomise",
            "cap_step",
            "idle_decay",
            "delay",
            "on_off",
            "decay_wraps",
            "byte_mode",
            "active_threshold",
            "ce_threshold",
            "l4s",
        ],
        "linux" => &[
            "derandomise",
            "cap_step",
            "idle_decay",
            "rate_weight",
            "tune",
            "on_off",
            "heuristics",
            "decay_wraps",
            "active_threshold",
            "ce_threshold",
            "l4s",
        ],
        "linux2013" => &[
            "derandomise",
            "cap_step",
            "idle_decay",
            "delay",
            "rate_weight",
            "tune",
            "on_off",
            "heuristics",
            "active_threshold",
            "ce_threshold",
            "l4s",
        ],
        "ns2" => {
            &["on_off", "heuristics", "decay_wraps", "active_threshold", "ce_threshold", "l4s"]
        }
        "ns3" => &["on_off", "heuristics", "decay_wraps"],
        "freebsd" => &FREEBSD,
        _ => &[
            "ecn",
            "ecn_mark_limit",
            "derandomise",
            "cap_step",
            "delay",
            "dq_threshold",
            "rate_weight",
            "on_off",
            "heuristics",
            "decay_wraps",
            "byte_mode",
            "active_threshold",
            "ce_threshold",
            "l4s",
        ],
    }
}

const FREEBSD: [&str; 10] = [
    "idle_decay",
    "dq_threshold",
    "rate_weight",
    "tune",
    "heuristics",
    "decay_wraps",
    "byte_mode",
    "active_threshold",
    "ce_threshold",
    "l4s",
];
