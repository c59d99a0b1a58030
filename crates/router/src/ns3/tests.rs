use sojourn_scenario::{Scenario, Source};

use super::*;

/// A scenario with lines for its link, for its flows, and at the end.
fn scenario(link: &str, flows: &str, more: &str) -> Resolved {
    let text = format!(
        "name = \"x\"\nduration = \"4s\"\n[links.b]\nrate = \"10mbit\"\n{link}\n[[flows]]\n\
         path = [\"b\"]\nrtt = \"20ms\"\n{flows}\n{more}\n"
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(&text, &Source::default(), &none).unwrap().resolved().clone()
}

const BULK: &str = "app = { kind = \"bulk\" }";
const STEPS: &str =
    "delay = { kind = \"schedule\", steps = [[\"0s\", \"1ms\"], [\"1s\", \"2ms\"]] }";
const ECHO: &str = "app = { kind = \"echo\", interval = \"1s\" }";
const CBR: &str = "app = { kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }";
const LIBRARY: &str = "transport = \"quic\"\napp = { kind = \"bulk\" }";
const THEIRS: &str = "[engine.ns3]\nbottleneck = \"ns3\"";

fn planned(link: &str, flows: &str, more: &str) -> Planned<Ns3Run> {
    plan_of(&scenario(link, flows, more))
}

fn plan_of(scenario: &Resolved) -> Planned<Ns3Run> {
    let rules = SocketRules {
        sack: true,
        limited_transmit: true,
        is_gradual: true,
        initial_window: 10,
        ack_every: 2,
        ack_delay: Span::from_millis(40),
        initial_rto: Span::from_secs(1),
        least_rto: Span::from_millis(200),
        least_variation: Span::from_millis(150),
    };
    plan(scenario, &vec![Some(rules); scenario.flows.len()], false)
}

/// The lines that begin with a word.
fn lines(run: &Ns3Run, word: &str) -> Vec<String> {
    let begin = format!("{word} ");
    let found = run.text.lines().filter_map(|line| line.strip_prefix(&begin));
    found.map(str::to_owned).collect()
}

#[test]
fn a_link_has_its_own_aqm_with_the_rate_and_the_largest_packet() {
    let run = planned("queue = \"pi2:target=20ms\"\nbuffer = \"200p\"", BULK, "").unwrap();
    assert_eq!(lines(&run, "disc"), ["0 ns3::SojournQueueDisc"]);
    let expected = ["0 Aqm pi2:target=20ms,limit=200p", "0 Mtu 1500", "0 Rate 10000000bps"];
    assert_eq!(lines(&run, "disc_attribute"), expected);
    assert_eq!(lines(&run, "rate"), ["0 0 10000000"]);
}

#[test]
fn a_disc_of_ns3_has_every_parameter_in_its_words() {
    let run = planned("queue = \"pie@ns3:target=20ms,limit=100p\"", BULK, THEIRS).unwrap();
    assert_eq!(lines(&run, "disc"), ["0 ns3::PieQueueDisc"]);
    let attributes = lines(&run, "disc_attribute");
    for expected in
        ["0 QueueDelayReference 20ms", "0 A 0.125", "0 MeanPktSize 1000", "0 MaxSize 100p"]
    {
        assert!(attributes.iter().any(|line| line == expected), "{expected}: {attributes:?}");
    }
}

#[test]
fn what_ns3_cannot_do_is_refused_with_its_place() {
    let cases = [
        ("queue = \"pi2\"", BULK, THEIRS, "links.b.queue", "no `pi2`"),
        ("queue = \"pie\"", BULK, THEIRS, "links.b.queue", "write `pie@ns3`"),
        ("queue = \"codel@ns3:count=3\"", BULK, THEIRS, "links.b.queue", "no `count = 3`"),
        ("framing = \"14B\"", BULK, "", "links.b.framing", "\"2B\""),
        ("", "cc = \"prague\"\napp = { kind = \"bulk\" }", "", "flows[0].cc", "no `prague`"),
        ("", "cc = \"cubic:beta=0.5\"\napp = { kind = \"bulk\" }", "", "flows[0].cc", "\"cubic\""),
        ("", "app = { kind = \"web\" }", "", "flows[0].app", "use engine sim"),
        ("", ECHO, "", "flows[0].app", "use engine sim"),
        ("", &format!("ecn = \"ect1\"\n{CBR}"), "", "flows[0].ecn", "use engine sim"),
        ("", &format!("dscp = \"ef\"\n{BULK}"), "", "flows[0].dscp", "use engine sim"),
        ("", LIBRARY, "", "flows[0].transport", "inside engine sim"),
        (STEPS, BULK, "", "links.b.delay", "use engine sim"),
        ("", BULK, "[record]\nlatency = true", "record.latency", "use engine sim"),
    ];
    for (link, flows, more, place, words) in cases {
        let Err(error) = planned(link, flows, more) else { panic!("{place} was accepted") };
        assert_eq!(error.place, place, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

/// A cell whose second station is far away; the arguments are lines for the LAN, for the access
/// point's link and for the far station's rate.
fn cell(lan: &str, access_point: &str, far: &str) -> Planned<Ns3Run> {
    let text = format!(
        "name = \"x\"\nduration = \"4s\"\n[wlans.home]\n{lan}\n[links.ap]\n\
         rate = {{ kind = \"wireless\", wlan = \"home\" }}\nqueue = \"codel\"\n{access_point}\n\
         [links.near]\nrate = {{ kind = \"wireless\", wlan = \"home\" }}\n[links.far]\n\
         rate = {{ kind = \"wireless\", wlan = \"home\"{far} }}\n[[flows]]\npath = [\"ap\"]\n\
         reverse = [\"far\"]\nrtt = \"20ms\"\n{BULK}\n[[flows]]\npath = [\"near\"]\n\
         reverse = [\"ap\"]\nrtt = \"20ms\"\n{BULK}\n"
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    plan_of(Scenario::load(&text, &Source::default(), &none).unwrap().resolved())
}

#[test]
fn a_wireless_lan_is_a_cell_whose_access_point_comes_first() {
    let run = cell("error_rate = 0.01", "device = { packets = 50 }", ", rate = \"6mbit\"").unwrap();
    assert_eq!(lines(&run, "wlan"), ["7 1"]);
    // Links are in the order of their names, so the far station comes before the near one.
    let radios = ["0 54 1000000 0.01 50", "1 6 1000000 0.01 1", "2 54 1000000 0.01 1"];
    assert_eq!(lines(&run, "radio"), radios);
    let ways: Vec<String> = lines(&run, "group")
        .iter()
        .map(|line| line.split(' ').skip(6).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(ways, ["0 1", "2 0"]);
    assert_eq!(run.plan.router_links().map(|link| link.index).collect::<Vec<_>>(), [0, 1, 2]);
}

const POLICER: &str = "policer = { rate = \"1mbit\", burst = \"9kB\" }";

#[test]
fn what_a_cell_of_ns3_does_not_have_is_refused_with_its_place() {
    let fair = "[links.more]\nrate = \"1mbit\"";
    let minstrel = ", rate = \"minstrel\", snr = \"20dB\"";
    let cases = [
        (("slot = \"10us\"", "", ""), "wlans.home.slot", "9us or 20us"),
        (("eifs = \"100us\"", "", ""), "wlans.home.eifs", "leave it out"),
        (("", "delay = \"1ms\"", ""), "links.ap.delay", "rtt"),
        (("", "device = { bytes = \"9kB\" }", ""), "links.ap.device", "packets"),
        (("", "loss = { kind = \"bernoulli\", rate = 0.1 }", ""), "links.ap.loss", "engine sim"),
        (("", POLICER, ""), "links.ap.policer", "engine sim"),
        (("", "duplicate = { rate = 0.1 }", ""), "links.ap.duplicate", "engine sim"),
        (("", fair, ""), "links.more.rate", "no links besides"),
        (("", "", minstrel), "wlans.home.rate", "`minstrel` for all or none"),
    ];
    for ((lan, access_point, far), place, words) in cases {
        let Err(error) = cell(lan, access_point, far) else { panic!("{place} was accepted") };
        assert_eq!(error.place, place, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn loss_on_the_wire_is_a_chain_of_two_states() {
    let bursts =
        "loss = { kind = \"gilbert-elliott\", enter = 0.01, leave = 0.2, bad = 0.5, good = 0.1 }";
    let of = |loss: &str| lines(&planned(loss, BULK, "").unwrap(), "loss");
    assert_eq!(of("loss = { kind = \"bernoulli\", rate = 0.02 }"), ["0 0 1 0 0.02"]);
    assert_eq!(of(bursts), ["0 0.01 0.2 0.5 0.1"]);
}

#[test]
fn the_floor_of_the_timeout_is_where_the_profile_has_it() {
    let attributes = lines(&planned("", BULK, "").unwrap(), "tcp_attribute");
    for expected in ["0 MinRto 200000000ns", "0 ClockGranularity 150000000ns"] {
        assert!(attributes.iter().any(|line| line == expected), "{expected}: {attributes:?}");
    }
}

/// Linux 6.1 `tcp_cubic.c`: an eighth of 20 ms is less than the 4 ms that the delay has to rise.
#[test]
fn a_mended_tcp_is_named_part_by_part() {
    let mended = "[engine.ns3]\ntcp = \"mended\"";
    let named = |cc: &str| {
        let flows = format!("cc = \"{cc}\"\n{BULK}");
        planned("", &flows, mended).map(|run| lines(&run, "mend"))
    };
    let cubic = ["0 prr 4000000", "0 threshold 4000000", "0 hystart 4000000"];
    assert_eq!(named("cubic").unwrap(), cubic);
    assert_eq!(named("reno").unwrap(), cubic[..2]);
    assert_eq!(named("dctcp").unwrap(), cubic[..1]);
    let error = named("bbr").unwrap_err();
    assert_eq!(error.place, "flows[0].cc");
    assert!(error.message.contains("as-is"), "{error}");
    assert!(lines(&planned("", BULK, "").unwrap(), "mend").is_empty());
}

/// 1000 B at 1 Mbit/s, header included: one datagram every 8 ms.
#[test]
fn datagrams_leave_when_the_simulator_sends_them() {
    let flows = "start = \"1s\"\nstop = \"1020ms\"\n\
                 app = { kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }";
    let run = planned("", flows, "").unwrap();
    let expected = ["0 1000000000 972", "0 1008000000 972", "0 1016000000 972"];
    assert_eq!(lines(&run, "datagram"), expected);
}

/// Each is a flow with one transfer, at the times and with the sizes of the simulator.
#[test]
fn transfers_begin_whether_or_not_earlier_ones_have_ended() {
    let flows = "count = 3\nstart = \"1s\"\napp = { kind = \"transfers\", sizes = [\"20kB\"], \
                 every = \"500ms\", arrivals = \"constant\" }";
    let run = planned("", flows, "").unwrap();
    assert_eq!(lines(&run, "transfer"), ["0 20000 0", "1 20000 0", "2 20000 0"]);
    let starts: Vec<String> = lines(&run, "flow");
    let at = |line: &String| line.split(' ').nth(3).unwrap().to_owned();
    let starts: Vec<String> = starts.iter().map(at).collect();
    assert_eq!(starts, ["1500000000", "2000000000", "2500000000"]);
}

#[test]
fn a_user_has_more_files_than_there_is_time_for() {
    let flows = "app = { kind = \"files\", sizes = [\"10kB\"], think = \"200ms\" }";
    let run = planned("", flows, "").unwrap();
    let pauses: Vec<u64> = lines(&run, "transfer")
        .iter()
        .map(|line| line.split(' ').nth(2).unwrap().parse().unwrap())
        .collect();
    let on_link_ns = 8_000_000;
    let sum: u64 = pauses.iter().map(|pause| pause + on_link_ns).sum();
    assert!(sum >= 4_000_000_000, "{pauses:?}");
    assert!(pauses.len() > 1, "{pauses:?}");
}
