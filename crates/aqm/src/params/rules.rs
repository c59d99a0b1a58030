//! The rules that parameters use.

use alloc::format;
use alloc::string::String;

use super::Params;

/// A rule for one value: its text, and its test of a magnitude in base units.
#[derive(Clone, Copy)]
pub struct Rule {
    /// `must be positive`
    pub text: &'static str,
    /// Whether a magnitude obeys the rule.
    pub holds: fn(f64) -> bool,
}

/// Every value of the type is legal.
pub const ANY: Rule = Rule { text: "any value", holds: |_| true };
/// Greater than zero.
pub const POSITIVE: Rule = Rule { text: "must be positive", holds: |x| x > 0.0 };
/// Zero or more.
pub const NOT_NEGATIVE: Rule = Rule { text: "must not be negative", holds: |x| x >= 0.0 };
/// A probability.
pub const PROBABILITY: Rule =
    Rule { text: "must be a probability from 0 to 1", holds: |x| (0.0..=1.0).contains(&x) };
/// Greater than zero, at most one.
pub const FRACTION: Rule =
    Rule { text: "must be greater than 0 and at most 1", holds: |x| x > 0.0 && x <= 1.0 };
/// Minimum size of a packet on the link below, with tc's bounds.
pub const FRAMING: Rule =
    Rule { text: "must be at most 256B (iproute2 q_cake.c)", holds: |x| x <= 256.0 };
/// Bytes that the link below adds to a packet, with tc's bounds.
pub const OVERHEAD: Rule = Rule {
    text: "must be from -64B to 256B (iproute2 q_cake.c)",
    holds: |x| (-64.0..=256.0).contains(&x),
};
/// A number of hashed queues, 1 to 65536 (RFC 8290 §5.2.5).
pub const QUEUES: Rule =
    Rule { text: "must be from 1 to 65536", holds: |x| (1.0..=65536.0).contains(&x) };
/// Bytes a flow queue may send per round, with Linux's bounds (`sch_fq_codel.c` raises smaller ones
/// silently; here they are refused).
pub const QUANTUM: Rule = Rule {
    text: "must be from 256B to 1MiB (Linux sch_fq_codel.c)",
    holds: |x| (256.0..=1_048_576.0).contains(&x),
};

/// Bytes a flow queue may send per round: ns-3 and RFC 8290 set no lower bound.
pub const ANY_QUANTUM: Rule =
    Rule { text: "must be from 1B to 1MiB", holds: |x| (1.0..=1_048_576.0).contains(&x) };

/// A message about two parameters that contradict each other: both names and values, the rule and
/// its source.
pub fn contradiction<P: Params>(
    params: &P,
    one: &str,
    rule: &str,
    other: &str,
    source: &str,
) -> String {
    let value = |name: &str| params.get(name).unwrap_or_default();
    format!("{one} `{}` must be {rule} {other} `{}` ({source})", value(one), value(other))
}
