//! The options and settings that `tc qdisc change`, and `replace` of the same kind, keep.

use super::tree::{TcNoteKind, TcOption, TcOverhead, TcSetup, TcValue};

/// Kinds that the kernel cannot change in place (Linux 6.1 net/sched: no `change`).
const FIXED: [&str; 3] = ["htb", "mq", "mqprio"];
/// Kinds whose options are sent even if none is given (iproute2 6.1 tc/q_netem.c, q_prio.c).
const ALWAYS_SENT: [&str; 2] = ["netem", "prio"];

/// Whether an option that the command omits keeps its value (Linux 6.1 net/sched: the `change` of
/// each kind). Other options get tc's default.
fn keeps(kind: &str, option: &str) -> bool {
    match kind {
        "codel" | "fq_codel" | "pie" | "fq_pie" | "fq" | "cake" | "cake_mq" | "dualpi2" => true,
        "sfq" => !matches!(option, "perturb" | "headdrop"),
        "netem" => matches!(
            option,
            "corrupt"
                | "reorder"
                | "rate"
                | "rate_overhead"
                | "slot"
                | "distribution"
                | "delay_correlation"
                | "loss_correlation"
                | "duplicate_correlation"
                | "corrupt_correlation"
                | "reorder_correlation"
        ),
        _ => false,
    }
}

/// Changes a discipline in place (Linux 6.1 sch_fq_codel.c, fq_codel_change; sch_fq_pie.c,
/// fq_pie_change). If the command omits the size table, it is removed (Linux 6.1
/// sch_api.c, qdisc_change).
pub(super) fn change(
    setup: &mut TcSetup,
    at: usize,
    options: Vec<TcOption>,
    stab: Option<TcOverhead>,
    line: usize,
) {
    let changed = &mut setup.qdiscs[at];
    let kind = changed.kind.clone();
    if FIXED.contains(&kind.as_str()) {
        let text = format!(
            "the kernel cannot change the {kind} of line {} in place; delete it first",
            changed.line
        );
        setup.note(TcNoteKind::Refused, line, text);
        return;
    }
    let flows = options.iter().find(|it| it.name == "flows" && it.value != TcValue::Count(0));
    if let Some(option) = flows.filter(|_| matches!(kind.as_str(), "fq_codel" | "fq_pie")) {
        let text = format!(
            "the kernel refuses `{}`, as the {kind} of line {} keeps its number of flows; delete \
             it first",
            option.text, changed.line
        );
        setup.note(TcNoteKind::Refused, line, text);
        return;
    }
    if !options.is_empty() || ALWAYS_SENT.contains(&kind.as_str()) {
        changed
            .options
            .retain(|old| keeps(&kind, old.name) && options.iter().all(|new| new.name != old.name));
        changed.options.extend(options);
    }
    changed.stab = stab;
}

/// A handle as the kernel prints it, `1:`; `None` if tc refuses it (iproute2 6.1 tc/tc_util.c,
/// get_qdisc_handle).
pub(super) fn handle(text: &str) -> Option<String> {
    let major = text.split(':').next().unwrap_or("");
    number(major).map(|major| format!("{major:x}:"))
}

/// A class or place as the kernel prints it, `1:10`; `None` if tc refuses it (iproute2 6.1
/// tc/tc_util.c, get_tc_classid).
pub(super) fn class_id(text: &str) -> Option<String> {
    let (major, minor) = text.split_once(':')?;
    let part = |text: &str| if text.is_empty() { Some(0) } else { number(text) };
    let (major, minor) = (part(major)?, part(minor)?);
    let minor = if minor == 0 { String::new() } else { format!("{minor:x}") };
    Some(format!("{major:x}:{minor}"))
}

/// A hexadecimal number of 16 bits.
fn number(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_plain.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}
