use serde_json::json;

use super::*;
use crate::{Scenario, Source};

fn load(text: &str, sets: &[(&str, &str)]) -> Result<Scenario, String> {
    let sets: Vec<(String, String)> =
        sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let source = Source { origin: "demo", sets: &sets, ..Source::default() };
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(text, &source, &no_files).map_err(|error| error.to_string())
}

fn text(topology: &str, flows: &str) -> String {
    format!(
        "name = \"demo\"\nduration = \"1s\"\n[topology]\n{topology}\n\
         link = {{ rate = \"10mbit\", delay = \"1ms\", buffer = \"100p\" }}\n\
         [[flows]]\nname = \"x\"\nrtt = \"100ms\"\napp = {{ kind = \"bulk\" }}\n{flows}\n"
    )
}

/// Name, class, number of flows, path and way back of every group.
fn flows(scenario: &Scenario) -> Vec<(String, String, u32, String, String)> {
    let resolved = scenario.resolved();
    let names = |path: &[usize]| {
        let names: Vec<&str> = path.iter().map(|&i| resolved.links[i].name.as_str()).collect();
        names.join(" ")
    };
    let row = |group: &crate::resolved::FlowGroup| {
        let (path, reverse) = (names(&group.path), names(&group.reverse));
        (group.name.clone(), group.class.clone(), group.count, path, reverse)
    };
    resolved.flows.iter().map(row).collect()
}

fn row(name: &str, count: u32, path: &str, reverse: &str) -> (String, String, u32, String, String) {
    (name.to_owned(), "x".to_owned(), count, path.to_owned(), reverse.to_owned())
}

#[test]
fn a_parking_lot_has_a_group_over_each_link_or_one_over_all() {
    let lot = "kind = \"parking-lot\"\nhops = 3";
    let each = load(&text(lot, "route = \"each\"\ncount = 2"), &[]).unwrap();
    let expected =
        [("x-1-2", "hop-1"), ("x-2-3", "hop-2"), ("x-3-4", "hop-3")].map(|(n, p)| row(n, 2, p, ""));
    assert_eq!(flows(&each), expected);
    assert_eq!(each.resolved().links.len(), 3);
    let through = load(&text(lot, "route = \"1 to last\""), &[]).unwrap();
    assert_eq!(flows(&through), [row("x", 1, "hop-1 hop-2 hop-3", "")]);
    let last = load(&text(lot, "route = \"all to last\""), &[]).unwrap();
    assert_eq!(flows(&last).len(), 3);
}

#[test]
fn a_two_way_parking_lot_returns_acks_over_its_links() {
    let lot = "kind = \"parking-lot\"\nhops = 3\ntwo_way = true";
    let back = load(&text(lot, "route = \"4 to 2\""), &[]).unwrap();
    assert_eq!(flows(&back), [row("x", 1, "back-3 back-2", "hop-2 hop-3")]);
    let forth = load(&text(lot, "route = \"2 to 4\""), &[]).unwrap();
    assert_eq!(flows(&forth), [row("x", 1, "hop-2 hop-3", "back-3 back-2")]);
}

#[test]
fn a_star_joins_every_pair_over_two_links() {
    let star = "kind = \"star\"\nhosts = 3";
    let each = load(&text(star, "route = \"each\""), &[]).unwrap();
    let expected = [(1, 2), (2, 3), (3, 1)].map(|(a, b)| {
        row(&format!("x-{a}-{b}"), 1, &format!("up-{a} down-{b}"), &format!("up-{b} down-{a}"))
    });
    assert_eq!(flows(&each), expected);
    let incast = load(&text(star, "route = \"all to 2\""), &[]).unwrap();
    let senders: Vec<String> = flows(&incast).into_iter().map(|flow| flow.0).collect();
    assert_eq!(senders, ["x-1-2", "x-3-2"]);
}

fn paths(shape: &dyn Shape, from: u32, to: u32) -> Vec<ShapePath> {
    (0..shape.path_count(from, to)).map(|number| shape.path(from, to, number)).collect()
}

#[test]
fn a_fat_tree_has_the_shortest_paths_of_its_layers() {
    let tree = FatTreeShape { ports: 4 };
    assert_eq!(tree.places(), 16);
    // 16 hosts, and 16 links in each of the two layers above, in both directions.
    assert_eq!(tree.links().len(), 96);
    let lengths =
        |to| -> Vec<usize> { paths(&tree, 1, to).iter().map(|path| path.path.len()).collect() };
    assert_eq!(lengths(2), [2]);
    assert_eq!(lengths(3), [4, 4]);
    assert_eq!(lengths(16), [6; 4]);
    let last = tree.path(1, 16, 3);
    let forth =
        "host-up-1 edge-up-1-1-2 core-up-1-2-2 core-down-4-2-2 edge-down-4-2-2 host-down-16";
    assert_eq!(last.path.join(" "), forth);
    let back = "host-up-16 edge-up-4-2-2 core-up-4-2-2 core-down-1-2-2 edge-down-1-1-2 host-down-1";
    assert_eq!(last.reverse.join(" "), back);
}

#[test]
fn every_path_of_every_shape_has_links_that_exist_once() {
    let shapes: [Box<dyn Shape>; 3] = [
        Box::new(ParkingLotShape { hops: 5, is_two_way: true }),
        Box::new(StarShape { hosts: 5 }),
        Box::new(FatTreeShape { ports: 6 }),
    ];
    for shape in shapes {
        let links = shape.links();
        let known: std::collections::BTreeSet<&String> = links.iter().collect();
        assert_eq!(known.len(), links.len());
        for (from, to) in shape.each() {
            assert_ne!(from, to);
            for path in paths(shape.as_ref(), from, to) {
                assert!(path.path.iter().chain(&path.reverse).all(|link| known.contains(link)));
                assert_eq!(path.path.len(), path.reverse.len());
            }
        }
    }
}

#[test]
fn flows_of_a_fat_tree_spread_over_its_paths_and_stay_on_them() {
    let tree = "kind = \"fat-tree\"\nports = 4";
    let one = load(&text(tree, "route = \"1 to 16\"\ncount = 400"), &[]).unwrap();
    let found = flows(&one);
    assert_eq!(found.iter().map(|flow| flow.2).sum::<u32>(), 400);
    assert_eq!(found.len(), 4);
    // Binomial with a mean of 100: four standard deviations are 35.
    assert!(found.iter().all(|flow| (65..=135).contains(&flow.2)), "{found:?}");
    assert_eq!(flows(&load(&text(tree, "route = \"1 to 16\"\ncount = 400"), &[]).unwrap()), found);
    let each = load(&text(tree, "route = \"each\""), &[]).unwrap();
    assert_eq!(flows(&each).len(), 16);
}

#[test]
fn links_may_differ_and_be_added_and_overridden() {
    let lot = text("kind = \"parking-lot\"\nhops = 3", "route = \"1 to last\"")
        + "[topology.links.hop-2]\nrate = \"5mbit\"\n[links.side]\nrate = \"1mbit\"\n";
    let sets = [("links.hop-3.rate", "7mbit"), ("topology.hops", "4"), ("flows.x.count", "2")];
    let found = load(&lot, &sets).unwrap();
    let rates: Vec<String> = found
        .resolved()
        .links
        .iter()
        .map(|link| format!("{} {}", link.name, link.capacity.initial_rate()))
        .collect();
    let expected = ["hop-1 10mbit", "hop-2 5mbit", "hop-3 7mbit", "hop-4 10mbit", "side 1mbit"];
    assert_eq!(rates, expected);
    let delays: Vec<_> = found.resolved().links.iter().map(|link| link.delay).collect();
    assert_eq!(delays[1], delays[0], "the other keys are those of all links");
    assert_eq!(flows(&found)[0].2, 2);
}

#[test]
fn the_document_has_what_was_generated_and_loads_to_the_same() {
    let lot = text("kind = \"star\"\nhosts = 3", "route = \"each\"");
    let first = load(&lot, &[]).unwrap();
    let changed = first.with_queue("up-2", "codel").unwrap();
    let source = Source { format: crate::Format::Json, ..Source::default() };
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    for scenario in [first, changed] {
        let again = Scenario::load(&scenario.document_json(), &source, &no_files).unwrap();
        assert_eq!(again.resolved(), scenario.resolved());
        assert!(scenario.document().topology.is_some() && again.document().topology.is_none());
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_line_with_the_remedy() {
    let lot = "kind = \"parking-lot\"\nhops = 3";
    let cases = [
        (
            "kind = \"ring\"\nhops = 3",
            "route = \"each\"",
            "demo:4: topology.kind: unknown kind `ring`",
        ),
        ("kind = \"star\"\nhops = 3", "", "demo:5: topology.hops: unknown key `hops`"),
        ("kind = \"star\"", "", "demo:3: topology.hosts: this key is missing"),
        ("kind = \"star\"\nhosts = 1", "", "demo:5: topology.hosts: 1 is not from 2 to 10000"),
        ("kind = \"star\"\nhosts = -1", "", "demo:5: topology.hosts: "),
        (
            "kind = \"star\"\nhosts = 10001",
            "",
            "demo:5: topology.hosts: 10001 is not from 2 to 10000",
        ),
        (
            "kind = \"parking-lot\"\nhops = 0",
            "",
            "demo:5: topology.hops: 0 is not from 1 to 100000",
        ),
        ("hosts = 3", "", "topology.kind: this key is missing; write for example kind = \"star\""),
        ("kind = \"fat-tree\"\nports = 5", "", "demo:5: topology.ports: 5 is not even"),
        ("kind = \"fat-tree\"\nports = 34", "", "demo:5: topology.ports: 34 is not from 2 to 32"),
        (
            lot,
            "route = \"each\"\ncount = 400000",
            "demo:12: flows[0].count: 400000 flows for each of 3",
        ),
        (
            lot,
            "[links.hop-2]\nrate = \"1mbit\"",
            "demo:11: links.hop-2: the topology generates a link",
        ),
        (
            lot,
            "[links]\nhop-1 = 3",
            "links.hop-1: the topology generates a link of this name; rename",
        ),
        (
            lot,
            "[topology.links.hop-4]\nrate = \"1mbit\"",
            "demo:11: topology.links.hop-4: the topology has no such link; it has 3, such as hop-1",
        ),
        (
            lot,
            "route = \"each\"\n[topology.links.hop-2]\nrate = \"fast\"",
            "demo:13: topology.links.hop-2.rate: ",
        ),
        (lot, "route = \"2 to 1\"", "flows[0].route: no link leads from 2 to 1; two_way = true"),
        (lot, "route = \"2 to 2\"", "flows[0].route: begins and ends at 2; name two places"),
        (lot, "route = \"1 to 5\"", "demo:11: flows[0].route: 5 is not from 1 to 4"),
        (lot, "route = \"0 to 2\"", "flows[0].route: 0 is not from 1 to 4"),
        (lot, "route = \"all to 1\"", "flows[0].route: no link leads to 1; two_way = true"),
        (lot, "route = \"through\"", "`through` is not a route; write `1 to last`"),
        (lot, "route = \"1 to x\"", "`1 to x` is not a route; write `1 to last`"),
        (lot, "route = 3", "flows[0].route: "),
        (lot, "route = \"each\"\npath = [\"hop-1\"]", "`path` follows from the route; remove"),
        (lot, "route = \"each\"\nreverse = []", "`reverse` follows from the route; remove"),
        (lot, "", "flows[0].path: this key is missing; write for example path"),
        (lot, "path = []", "flows[0].path: the path is empty; name at least one link"),
        (lot, "route = \"each\"\ncount = 0", "demo:12: flows[0].count: must be at least 1"),
    ];
    for (topology, flows, said) in cases {
        let error = load(&text(topology, flows), &[]).expect_err(said);
        assert!(error.contains(said), "{error} lacks {said}");
    }
}

#[test]
fn an_error_of_a_generated_table_names_the_written_one() {
    let two = text("kind = \"parking-lot\"\nhops = 2", "route = \"each\"");
    let broken = two.replace("rate = \"10mbit\"", "rate = \"10mbits\"");
    let error = load(&broken, &[]).expect_err("the rate is malformed");
    assert!(error.starts_with("demo:6: topology.link.rate: "), "{error}");
    let queue = two.replace("buffer", "queue = \"codl\", buffer");
    let error = load(&queue, &[]).expect_err("the AQM is unknown");
    assert!(error.starts_with("demo:6: topology.link.queue"), "{error}");
    let second = two + "[[flows]]\npath = [\"hop-9\"]\nrtt = \"9ms\"\napp = { kind = \"bulk\" }\n";
    let error = load(&second, &[]).expect_err("the link is unknown");
    assert!(error.starts_with("demo:13: flows[1].path"), "{error}");
    let error = load(&second.replace("hop-9", "hop-2"), &[("links.hop-9.rate", "1mbit")]);
    assert!(error.expect_err("no such link").contains("unknown link `hop-9`"));
}

#[test]
fn a_route_without_a_topology_is_refused() {
    let plain = "name = \"demo\"\nduration = \"1s\"\n[links.a]\nrate = \"1mbit\"\nbuffer = \"9p\"\n\
                 [[flows]]\nroute = \"each\"\nrtt = \"9ms\"\napp = { kind = \"bulk\" }\n";
    let error = load(plain, &[]).expect_err("there is no topology");
    assert!(error.starts_with("demo:7: flows[0].route: needs a [topology]"), "{error}");
    let error = load(plain, &[("topologies", "3")]).expect_err("there is no topology");
    assert!(error.contains("flows[0].route: needs a [topology]"), "{error}");
    let again = load(plain, &[("topology.hops", "3")]).expect_err("it has no kind");
    assert!(again.contains("topology.kind: this key is missing"), "{again}");
}

#[test]
fn a_topology_may_come_from_an_override() {
    let plain = text("kind = \"star\"\nhosts = 3", "route = \"each\"");
    let head = plain.split("[topology]").next().unwrap().to_owned();
    let tail = plain.split("[[flows]]").nth(1).unwrap();
    let table = "{ kind = \"star\", hosts = 4, link = { rate = \"1mbit\", buffer = \"9p\" } }";
    let found = load(&format!("{head}[[flows]]{tail}"), &[("topology", table)]).unwrap();
    assert_eq!(flows(&found).len(), 4);
}

#[test]
fn the_low_bits_of_hashes_are_even() {
    let ones = (0..4_096).filter(|i| hash(&format!("x 1 16 {i}")) % 2 == 1).count();
    // The bound is four standard deviations, of 32 each.
    assert!((1_920..=2_176).contains(&ones), "{ones}");
    assert_ne!(hash("a"), hash("b"));
    let empty = json!({}).as_object().cloned().unwrap_or_default();
    assert_eq!(counts(&empty, (1, 2), 1), [(0, json!(1))]);
}
