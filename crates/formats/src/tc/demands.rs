//! What tc requires of options beyond their form.

/// Options that tc requires, one of each group (iproute2 6.1 tc/q_tbf.c, q_red.c, q_choke.c).
pub(super) const REQUIRED: [(&str, &[&[&str]]); 3] = [
    ("tbf", &[&["rate"], &["burst"], &["limit", "lat"]]),
    ("red", &[&["limit"], &["avpkt"]]),
    ("choke", &[&["limit"], &["bandwidth"]]),
];

/// Options of sfq for RED in its queues; tc requires the first (iproute2 6.1 tc/q_sfq.c).
pub(super) const RED_OF_SFQ: [&str; 8] =
    ["redflowlimit", "min", "max", "avpkt", "burst", "probability", "ecn", "harddrop"];

/// The largest numbers that tc accepts (iproute2 6.1 tc/q_pie.c, q_fq_pie.c).
pub(super) const MOST: [(&str, &str, u64); 4] =
    [("pie", "alpha", 32), ("pie", "beta", 32), ("fq_pie", "alpha", 32), ("fq_pie", "beta", 32)];

/// The last options that tc always prints, of which one must be in the text of a whole line
/// (iproute2 6.1 tc/q_*.c, the `print_qopt` of each kind).
pub(super) const ALWAYS_SHOWN: [(&str, &[&str]); 14] = [
    ("codel", &["interval"]),
    ("fq_codel", &["interval"]),
    ("pie", &["beta"]),
    ("fq_pie", &["beta"]),
    ("red", &["max"]),
    ("choke", &["max"]),
    ("sfq", &["quantum"]),
    ("sfb", &["penalty_burst"]),
    ("fq", &["initial_quantum"]),
    ("tbf", &["lat", "limit"]),
    ("netem", &["limit"]),
    ("htb", &["default"]),
    ("cake", &["overhead", "raw"]),
    ("prio", &["priomap"]),
];

/// Words that tc prints but does not read, by kind (iproute2 6.1 tc/q_red.c, q_choke.c, tc_red.c).
const ONLY_SHOWN: [(&str, &[&str]); 2] =
    [("red", &["ewma", "Scell_log"]), ("choke", &["harddrop", "adaptive", "ewma", "Scell_log"])];

/// Whether tc reads an option, instead of only printing it.
pub(super) fn is_read(kind: &str, word: &str) -> bool {
    !ONLY_SHOWN.iter().any(|(of, words)| *of == kind && words.contains(&word))
}
