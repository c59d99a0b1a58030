//! Shapes of networks, with flows over their routes.

use std::fmt::Write;

use crate::storm::choice::Choice;

/// A shape, and a group of flows over it.
pub(super) fn topology(text: &mut String, choice: &mut Choice) {
    let (shape, other, routes): (String, &str, &[&str]) = match choice.below(3) {
        0 => {
            let (hops, two_way) = (2 + choice.below(3), choice.chance(0.5));
            let shape = format!("kind = \"parking-lot\"\nhops = {hops}\ntwo_way = {two_way}");
            (shape, "hop-2", &["1 to last", "each"])
        }
        1 => {
            let shape = format!("kind = \"star\"\nhosts = {}", 2 + choice.below(4));
            (shape, "up-2", &["1 to 2", "all to 1", "each"])
        }
        _ => {
            let shape = format!("kind = \"fat-tree\"\nports = {}", choice.of_these(&["2", "4"]));
            (shape, "host-up-2", &["1 to last", "all to 1", "each"])
        }
    };
    let _ = writeln!(text, "[topology]\n{shape}\nlink = {{ {}, {} }}", rate(choice), queue(choice));
    let _ = writeln!(text, "links = {{ {other} = {{ {} }} }}", rate(choice));
    let route = choice.of_these(routes);
    let rtt = choice.whole(100, 300); // more than the delays of all links
    let _ = writeln!(
        text,
        "[[flows]]\nname = \"routed\"\nroute = \"{route}\"\nrtt = \"{rtt}ms\"\n\
         app = {{ kind = \"bulk\" }}"
    );
}

fn rate(choice: &mut Choice) -> String {
    format!("rate = \"{}bit\"", choice.whole(200_000, 20_000_000))
}

fn queue(choice: &mut Choice) -> String {
    let queue = choice.of_these(&["taildrop", "pie", "fq_codel"]);
    format!("delay = \"{}ms\", queue = \"{queue}\"", choice.below(6))
}
