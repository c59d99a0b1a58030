//! Applications of every kind.

use crate::storm::choice::Choice;

/// The table of an application.
pub(super) fn app(choice: &mut Choice) -> String {
    let bytes = choice.whole(1, 2_000_000);
    let millis = choice.whole(1, 1_000);
    match choice.below(19) {
        0 => format!(r#"{{ kind = "bulk", bytes = "{bytes}B" }}"#),
        1 | 2 => {
            let sizes = sizes(bytes, choice);
            format!(r#"{{ kind = "files", sizes = {sizes}, think = "{millis}ms" }}"#)
        }
        3 | 4 => web(millis, choice),
        5 => {
            let more = choice.of_these(&[
                "",
                r#", buffer = "4s""#,
                r#", buffer = "4s", adaptation = "buffer""#,
                r#", adaptation = "throughput""#,
            ]);
            format!(r#"{{ kind = "chunks", every = "500ms", rates = ["100kbit", "3mbit"]{more} }}"#)
        }
        6 => {
            let (sizes, arrivals) = (sizes(bytes, choice), arrivals(choice));
            format!(
                "{{ kind = \"transfers\", sizes = {sizes}, every = \"{millis}ms\", \
                 arrivals = \"{arrivals}\" }}"
            )
        }
        7 => r#"{ kind = "transfers", file = "amounts.csv" }"#.to_owned(),
        8..16 => datagrams(millis, choice),
        _ => r#"{ kind = "bulk" }"#.to_owned(),
    }
}

fn arrivals(choice: &mut Choice) -> &'static str {
    choice.of_these(&["poisson", "uniform", "constant"])
}

/// A list of sizes or a distribution.
fn sizes(most: u64, choice: &mut Choice) -> String {
    let max = most.max(2_000);
    let (mean, deviation) = (choice.whole(1_000, max), choice.whole(1_000, max));
    match choice.below(8) {
        0 => format!(r#"{{ kind = "uniform", min = "1B", max = "{max}B" }}"#),
        1 => {
            format!(r#"{{ kind = "exponential", mean = "{mean}B", min = "40B", max = "{max}B" }}"#)
        }
        2 => format!(
            "{{ kind = \"lognormal\", mean = \"{mean}B\", deviation = \"{deviation}B\", \
             min = \"40B\", max = \"{max}B\" }}"
        ),
        3 => {
            let shape = choice.between(0.5, 3.0);
            format!(r#"{{ kind = "pareto", shape = {shape:.3}, min = "40B", max = "{max}B" }}"#)
        }
        _ => format!(r#"["1B", "{most}B"]"#),
    }
}

fn web(millis: u64, choice: &mut Choice) -> String {
    let mut keys = format!(r#"kind = "web", reading = "{millis}ms", parsing = "{millis}ms""#);
    if choice.chance(0.5) {
        let (main, object) = (sizes(20_000, choice), sizes(50_000, choice));
        let (objects, parallel) = (choice.below(40), choice.whole(1, 32));
        let request = choice.whole(1, 1_500);
        keys += &format!(
            ", main = {main}, object = {object}, objects = {objects}, parallel = {parallel}, \
             request = \"{request}B\""
        );
    }
    format!("{{ {keys} }}")
}

fn datagrams(millis: u64, choice: &mut Choice) -> String {
    let (size, bps) = (choice.whole(50, 1400), choice.whole(10_000, 8_000_000));
    match choice.below(8) {
        0 => format!(
            "{{ kind = \"cbr\", rate = \"{bps}bit\", packet = \"{size}B\", \
             arrivals = \"{}\" }}",
            arrivals(choice)
        ),
        1 => r#"{ kind = "cbr", rate = "80kbit", packet = "200B", voice = true }"#.to_owned(),
        2 => {
            let codec = choice.of_these(&["g711", "g729"]);
            format!(r#"{{ kind = "voice", codec = "{codec}" }}"#)
        }
        3 => format!(
            "{{ kind = \"onoff\", rate = \"{bps}bit\", packet = \"{size}B\", on = \"{millis}ms\", \
             off = \"{millis}ms\" }}"
        ),
        4 => format!(
            "{{ kind = \"bursts\", rate = \"{bps}bit\", packet = \"{size}B\", \
             at = [\"100ms\", \"1s\"], length = \"90ms\" }}"
        ),
        5 => {
            let frames = sizes(20_000, choice);
            format!(
                "{{ kind = \"video\", frames = {frames}, interval = \"40ms\", \
                 packet = \"{size}B\" }}"
            )
        }
        6 => format!(r#"{{ kind = "replay", file = "amounts.csv", packet = "{size}B" }}"#),
        _ => format!(r#"{{ kind = "echo", interval = "{millis}ms", packet = "{size}B" }}"#),
    }
}
