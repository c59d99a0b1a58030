//! The traffic of an imported set-up: what a household may do at a time.

/// The flows over the links `up` and `down`, those that exist, as tables of a scenario.
pub(super) fn flows(links: &[&str], rtt: &str) -> String {
    let has = |name: &str| links.contains(&name);
    let mut text =
        String::from("# The traffic is an assumption: what a household may do at a time.\n");
    let mut group = |name: &str, count: u64, link: &str, app: &str| {
        let back = links.iter().find(|it| **it != link);
        let count = if count > 1 { format!("count = {count}\n") } else { String::new() };
        let reverse = back.map(|it| format!("reverse = [\"{it}\"]\n")).unwrap_or_default();
        text.push_str(&format!(
            "[[flows]]\nname = \"{name}\"\n{count}path = [\"{link}\"]\n{reverse}rtt = \"{rtt}\"\n\
             start = \"0s..1s\"\napp = {app}\n\n"
        ));
    };
    let voice = "{ kind = \"voice\", codec = \"g711\" }";
    if has("down") {
        group("download", 2, "down", "{ kind = \"bulk\" }");
        group(
            "video",
            1,
            "down",
            "{ kind = \"chunks\", every = \"4s\", rates = [\"1mbit\", \"3mbit\", \"6mbit\"] }",
        );
        group("web", 1, "down", "{ kind = \"web\", reading = \"5s\" }");
        group("call-in", 1, "down", voice);
    }
    if has("up") {
        group("upload", if has("down") { 1 } else { 2 }, "up", "{ kind = \"bulk\" }");
        group("call-out", 1, "up", voice);
    }
    text.trim_end().to_owned() + "\n"
}
