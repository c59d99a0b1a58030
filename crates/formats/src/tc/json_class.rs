//! A class in the output of `tc -j class show`, as the words that tc prints without `-j` (iproute2
//! 6.18 tc/q_htb.c, q_hfsc.c).

use serde_json::Value;

/// The words of a class.
pub(super) fn words(kind: &str, class: &Value) -> Vec<String> {
    if kind == "hfsc" { hfsc(class) } else { htb(class) }
}

fn htb(class: &Value) -> Vec<String> {
    const RATES: [&str; 2] = ["rate", "ceil"];
    // Their units: bytes, or none.
    const NUMBERS: [(&str, &str, &str); 7] = [
        ("prio", "prio", ""),
        ("quantum", "quantum", ""),
        ("burst", "burst", "b"),
        ("cburst", "cburst", "b"),
        ("overhead", "overhead", ""),
        ("mpu_rate", "mpu", "b"),
        ("level", "level", ""),
    ];
    let number = |key: &str| class.get(key).and_then(Value::as_f64);
    let mut all = Vec::new();
    for key in RATES {
        all.extend(number(key).into_iter().flat_map(|it| [key.to_owned(), bits(it)]));
    }
    for (key, word, unit) in NUMBERS {
        let found = number(key).map(|it| [word.to_owned(), format!("{it}{unit}")]);
        all.extend(found.into_iter().flatten());
    }
    let layer = class.get("linklayer").and_then(Value::as_str);
    all.extend(layer.into_iter().flat_map(|it| ["linklayer".to_owned(), it.to_owned()]));
    all
}

fn hfsc(class: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for name in ["sc", "rt", "ls", "ul"] {
        let Some(curve) = class.get(name) else { continue };
        let number = |key: &str| curve.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        let d = format!("{}us", number("d"));
        let of = ["m1", &bits(number("m1")), "d", &d, "m2", &bits(number("m2"))].map(str::to_owned);
        all.push(name.to_owned());
        all.extend(of);
    }
    all
}

/// JSON has bytes per second.
fn bits(bytes: f64) -> String {
    format!("{}bit", bytes * 8.0)
}
