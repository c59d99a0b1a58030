//! Wrong set-ups as people post them, and their findings.

use sojourn_aqm::{Cells, Framing, Packing};
use sojourn_formats::tc::{
    TcCircumstances, TcFinding, TcReport, TcWish, check, read, read_shown, report, scenario,
};

const GIVEN: TcCircumstances =
    TcCircumstances { line_bps: None, framing: None, rtt_ns: 40_000_000, load: 4 };

fn findings(text: &str, line_bps: Option<u64>) -> Vec<TcFinding> {
    let setup = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&setup, TcCircumstances { line_bps, ..GIVEN })
}

fn codes(text: &str, line_bps: Option<u64>) -> Vec<&'static str> {
    findings(text, line_bps).iter().map(|it| it.code).collect()
}

const HTB: &str = "tc qdisc add dev eth0 root handle 1: stab overhead 30 htb default 10\n\
                   tc class add dev eth0 parent 1: classid 1:10 htb rate 10mbit ceil 10mbit\n";

fn under_htb(leaf: &str) -> String {
    format!("{HTB}tc qdisc add dev eth0 parent 1:10 {leaf}\n")
}

/// Checks that every text has the finding.
fn expect(cases: &[(&str, Option<u64>, &str)]) {
    for (text, bps, code) in cases {
        let found = codes(text, *bps);
        assert!(found.contains(code), "{code} is not among {found:?} of\n{text}");
    }
}

#[test]
fn transmit_queues_that_differ_are_found() {
    let unlike = "qdisc mq 0: dev eth0 root \n\
                  qdisc pfifo 0: dev eth0 parent :1 limit 10p \n\
                  qdisc pfifo 0: dev eth0 parent :2 limit 20p \n";
    expect(&[(unlike, None, "unlike-queues")]);
}

#[test]
fn wrong_rates_and_orders_are_found() {
    let line = Some(50_000_000);
    let shown = "qdisc fq_codel 1: dev eth0 root refcnt 2 limit 10240p flows 1024 target 5ms \
                 interval 100ms ecn\n Sent 10 bytes 7 pkt (dropped 0, overlimits 0 requeues 0)\n \
                 backlog 0b 0p requeues 0\n maxpacket 22710 drop_overlimit 0\n";
    expect(&[
        ("tc qdisc add dev eth0 root netem delay 100ms rate 500mbit", None, "netem-limit"),
        ("tc qdisc add dev eth0 root netem delay 100ms", None, "netem-limit"),
        (&under_htb("netem delay 20ms"), None, "netem-same-device"),
        (
            "tc qdisc add dev eth0 root handle 1: netem delay 20ms\n\
          tc qdisc add dev eth0 parent 1: fq_codel",
            None,
            "netem-same-device",
        ),
        ("tc qdisc add dev eth0 root netem delay 20ms 5ms", None, "netem-reorders"),
        (shown, None, "no-queue-here"),
        (shown, None, "super-packets"),
        ("tc qdisc add dev eth0 root cake bandwidth 10mbps", None, "bytes-per-second"),
        (
            "tc qdisc add dev eth0 root cake bandwidth 50mbit overhead 44",
            line,
            "not-the-bottleneck",
        ),
        (&under_htb("fq_codel noecn"), None, "ecn-off"),
        (
            "tc qdisc add dev eth0 root cake bandwidth 10mbit\n\
          tc filter add dev eth0 parent ffff: police rate 10mbit",
            None,
            "policer",
        ),
        (&under_htb("cake bandwidth 20mbit"), None, "two-shapers"),
        (
            "tc qdisc add dev eth0 root handle 1: cake bandwidth 10mbit\n\
          tc qdisc add dev eth0 parent 1: fq_codel",
            None,
            "below-cake",
        ),
        ("tc qdisc add dev eth0 root cake diffserv3 diffserv4", None, "contradiction"),
        (&under_htb("red limit 100kb min 30kb max 120kb avpkt 1000"), None, "red-limit"),
    ]);
}

#[test]
fn wrong_queues_are_found() {
    expect(&[
        (&under_htb("red limit 400kb min 30kb max 90kb"), None, "refused"),
        (&under_htb("red limit 400kb avpkt 1000 probability 1"), None, "red-probability"),
        (
            "tc qdisc add dev eth0 root tbf rate 10mbit burst 1000b lat 50ms",
            None,
            "burst-below-packet",
        ),
        ("tc qdisc add dev eth0 root tbf rate 1gbit burst 5kb lat 50ms", None, "burst-below-tick"),
        (&under_htb("sfq"), None, "sfq-perturb"),
        (&under_htb("fq_codel").replace("10mbit", "1mbit"), None, "target-below-packet"),
        (&under_htb("codel target 100ms"), None, "target-above-interval"),
        ("qdisc fq_codel 0: dev wlan0 root limit 10240p flows 1024", None, "wireless"),
        (
            "qdisc mq 0: dev eth0 root\nqdisc pfifo_fast 0: dev eth0 parent :1 bands 3 priomap 1 2 \
             2 2 1 2 0 0 1 1 1 1 1 1 1 1",
            None,
            "no-aqm",
        ),
        (&under_htb("fq_codel").replace("default 10", "default 0"), None, "htb-default"),
        (
            &under_htb("fq_codel").replace("1:10", "1:c").replace("default 10", "default 12"),
            None,
            "htb-default",
        ),
        ("tc qdisc add dev eth0 root cake bandwidth 10mbit rtt 1ms", None, "cake-rtt"),
        ("tc qdisc add dev eth0 root cake bandwidth 10mbit", None, "no-overhead"),
        (
            "tc qdisc add dev eth0 root cake bandwidth 10mbit overhead -4",
            None,
            "overhead-below-packet",
        ),
        ("tc qdisc add dev eth0 root codel\ntc qdisc add dev eth0 root pie", None, "refused"),
        (
            "config queue\n\toption enabled 1\n\toption interface eth0\n\toption upload 9000\n\
          \toption script piece_of_cake.qos\n\toption overhead 44\n\toption linklayer none\n",
            None,
            "ineffective",
        ),
    ]);
}

#[test]
fn a_right_set_up_has_no_finding() {
    let right = "tc qdisc add dev eth0 root cake bandwidth 18mbit docsis nat besteffort\n";
    assert_eq!(codes(right, Some(20_000_000)), Vec::<&str>::new());
    let shown = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 18Mbit besteffort \
                 triple-isolate nat nowash no-ack-filter split-gso rtt 100ms \
                 noatm overhead 18 mpu 64\n";
    assert_eq!(codes(shown, None), Vec::<&str>::new());
    assert_eq!(codes(&under_htb("fq_codel"), None), Vec::<&str>::new());
    for text in [
        "tc qdisc add dev eth0 root cake bandwidth 90mbit\n",
        "tc qdisc replace dev eth0 root fq\n",
        "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms \
         interval 100ms memory_limit 32Mb ecn drop_batch 64\n",
    ] {
        assert_eq!(codes(text, None), Vec::<&str>::new(), "{text}");
    }
}

/// Linux 6.1 sch_htb.c, htb_classify.
#[test]
fn a_default_class_with_classes_below_it_takes_nothing() {
    let text = under_htb("fq_codel").replace("default 10", "default 1").replace(
        "tc class add",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit\ntc class add",
    );
    let text = text.replace("parent 1: classid 1:10", "parent 1:1 classid 1:10");
    let all = findings(&text, None);
    let found = all.iter().find(|it| it.code == "htb-default").expect("it is found");
    assert!(found.reason.contains("names class 1, which has classes below it"), "{found:?}");
}

#[test]
fn a_finding_says_what_why_where_and_what_would_be_right() {
    let all = findings(&under_htb("fq_codel").replace("10mbit", "1mbit"), None);
    let [finding] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(finding.line, 3);
    assert!(
        finding.reason.contains("a frame of 1514 B, 1544 B on the line, takes 12.4 ms"),
        "{}",
        finding.reason
    );
    assert!(
        finding.remedy.contains("target 18528us") && finding.remedy.contains("interval 113528us")
    );
    let trial = finding.trial.as_ref().expect("it can be simulated");
    assert!(trial.before.contains("queue = \"fq_codel@linux\""), "{}", trial.before);
    assert!(trial.after.contains("target=18528us,interval=113528us"), "{}", trial.after);
    for finding in findings("tc qdisc add dev eth0 root cake bandwidth 10mbps", None) {
        assert!(!finding.title.is_empty() && !finding.remedy.is_empty() && finding.line == 1);
    }
}

#[test]
fn a_class_that_decimal_and_hexadecimal_confuse_is_named() {
    let text = under_htb("fq_codel").replace("1:10", "1:c").replace("default 10", "default 12");
    let finding = findings(&text, None).into_iter().find(|it| it.code == "htb-default").unwrap();
    assert!(finding.remedy.contains("`default c`"), "{}", finding.remedy);
}

/// A frame of 1514 B plus 32 B fills 33 cells, 1749 B, which take 13.992 ms.
#[test]
fn the_time_of_a_packet_counts_what_stab_adds() {
    let adsl = "stab linklayer adsl overhead 32 mpu 64";
    let text = under_htb("fq_codel").replace("10mbit", "1mbit").replace("stab overhead 30", adsl);
    let all = findings(&text, None);
    let finding = all.iter().find(|it| it.code == "target-below-packet").unwrap();
    assert!(finding.reason.contains("1749 B on the line, takes 14 ms"), "{}", finding.reason);
    assert!(finding.remedy.contains("target 20988us"), "{}", finding.remedy);
    let bare = text.replace(adsl, "");
    let bare = findings(&bare, None).into_iter().find(|it| it.code == "target-below-packet");
    assert!(bare.unwrap().reason.contains("1514 B takes 12.1 ms"));
}

/// sqm-scripts functions.sh: 2304 kbit/s give a target of 6072 us for a packet of 6072.9 us.
#[test]
fn the_automatic_target_of_sqm_is_not_below_the_time_of_a_packet() {
    let sqm = "config queue\n\toption enabled 1\n\toption interface wan\n\toption upload 2304\n\
               \toption script simplest.qos\n\toption linklayer atm\n\toption overhead 44\n";
    assert!(findings(sqm, None).iter().all(|it| it.code != "target-below-packet"));
    let shown = under_htb("fq_codel target 12.3ms").replace("10mbit", "1mbit");
    assert!(findings(&shown, None).iter().all(|it| it.code != "target-below-packet"), "{shown}");
}

/// The keys of every link of a trial.
fn keys(text: &str, given: TcCircumstances, code: &str) -> [Vec<String>; 2] {
    let setup = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let all = check(&setup, given);
    let finding =
        all.iter().find(|it| it.code == code).unwrap_or_else(|| panic!("{code}: {all:?}"));
    let trial = finding.trial.clone().expect("it can be simulated");
    [trial.before, trial.after].map(|toml| {
        let links = toml.split("[links.").skip(1);
        let keys =
            links.map(|it| it[it.find("framing").unwrap()..it.find("queue").unwrap()].into());
        keys.map(|it: String| it.replace('\n', " ").replace('"', "")).collect()
    })
}

#[test]
fn the_shaper_of_a_trial_counts_packets_as_that_of_the_set_up_does() {
    let atm = "framing = 40B mpu = 64B cells = atm ";
    for (text, expected) in [
        (HTB.to_owned(), "framing = 44B "),
        (HTB.replace("stab overhead 30", ""), "framing = 14B "),
        (HTB.replace("overhead 30", "linklayer atm overhead 26 mpu 64"), atm),
        (
            HTB.replace("overhead 30", "linklayer atm overhead 40 mpu 64").replace("eth0", "ppp0"),
            atm,
        ),
        (
            HTB.replace("stab overhead 30", "")
                .replace("ceil 10mbit", "ceil 10mbit overhead 26 mpu 64 linklayer atm"),
            atm,
        ),
    ] {
        let leaf = if text.contains("ppp0") { "ppp0" } else { "eth0" };
        let text = format!("{text}tc qdisc add dev {leaf} parent 1:10 fq_codel noecn\n");
        assert_eq!(keys(&text, GIVEN, "ecn-off"), [[expected], [expected]], "{text}");
    }
    let cake = "tc qdisc add dev eth0 root cake bandwidth 9mbit rtt 1ms pppoe-ptm";
    let itself = ["framing = 0B ".to_owned()];
    assert_eq!(keys(cake, GIVEN, "cake-rtt"), [itself.clone(), itself]);
    let given = TcCircumstances { line_bps: Some(8_000_000), ..GIVEN };
    let both = ["framing = 30B cells = ptm ".to_owned(), "framing = 30B cells = ptm ".to_owned()];
    assert_eq!(keys(cake, given, "not-the-bottleneck"), [both.clone(), both]);
}

#[test]
fn the_line_that_the_user_names_decides_whether_the_shaper_counts_enough() {
    let adsl = Framing { overhead: 40, packing: Packing { mpu: 0, cells: Cells::Atm } };
    let given = TcCircumstances { framing: Some(adsl), line_bps: Some(10_200_000), ..GIVEN };
    let codes = |stab: &str, given| {
        let text = under_htb("fq_codel").replace("stab overhead 30", stab);
        check(&read(&text).unwrap(), given).iter().map(|it| it.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("stab linklayer atm overhead 26", given), Vec::<&str>::new());
    // Of 1500 B the line sends 33 cells, and the shaper counts 1514 B, 1540 B and 32 cells.
    let wide = TcCircumstances { line_bps: Some(11_500_000), ..given };
    for (less, margin) in [
        ("", &["no-overhead"][..]),
        ("stab overhead 26", &[]),
        ("stab linklayer atm overhead -4", &[]),
    ] {
        assert_eq!(codes(less, given), ["no-overhead"], "{less}");
        assert_eq!(codes(less, wide), margin, "{less}");
    }
    let found = keys(&under_htb("fq_codel"), given, "no-overhead");
    let line = "framing = 40B cells = atm ".to_owned();
    assert_eq!(found, [["framing = 44B ".to_owned(), line.clone()], [line.clone(), line]]);
}

/// A shaper at 95 % of its line leaves 5 %, and ADSL is at most 24 Mbit/s (ITU-T G.992.5).
#[test]
fn the_cost_of_an_overhead_that_is_not_counted_decides() {
    let cake = |rate: &str| format!("tc qdisc add dev eth0 root cake bandwidth {rate}");
    let all = findings(&cake("8mbit"), None);
    assert!(all[0].reason.contains("1500 B takes 16 % more of ADSL"), "{}", all[0].reason);
    assert_eq!(codes(&cake("40mbit"), None), Vec::<&str>::new());
    let codes = |rate: &str, line_bps| {
        let framing =
            Some(Framing { overhead: 18, packing: Packing { mpu: 64, cells: Cells::None } });
        let given = TcCircumstances { framing, line_bps: Some(line_bps), ..GIVEN };
        check(&read(&cake(rate)).unwrap(), given).iter().map(|it| it.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("19mbit", 20_000_000), Vec::<&str>::new());
    assert_eq!(codes("19900kbit", 20_000_000), ["no-overhead"]);
}

/// Linux 6.1 sch_tbf.c, tbf_dequeue, with timers of a nanosecond.
#[test]
fn a_bucket_is_too_small_where_a_late_timer_costs_rate() {
    let tbf = |options: &str| {
        let text = format!("tc qdisc add dev eth0 root tbf {options} lat 50ms");
        codes(&text, None).contains(&"burst-below-tick")
    };
    for enough in ["rate 100mbit burst 5kb", "rate 1gbit burst 15kb", "rate 10mbit burst 1540"] {
        assert!(!tbf(enough), "{enough}");
    }
    assert!(tbf("rate 1gbit burst 5kb") && tbf("rate 200mbit burst 1600"));
}

/// OpenWrt's sqm-scripts; Linux 6.1 sch_htb.c, htb_change_class; tc-cake(8).
#[test]
fn the_set_up_of_a_gateway_is_judged_as_a_whole() {
    let ifb = "tc qdisc add dev eth0 root cake bandwidth 90mbit docsis nat\n\
               tc qdisc add dev ifb0 root cake bandwidth 9mbit docsis nat ingress\n";
    let redirect = "tc qdisc add dev eth0 handle ffff: ingress\n\
                    tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev \
                    ifb0\n";
    let both = format!("{ifb}{redirect}");
    let right = both.replace("90mbit", "9500kbit").replace("9mbit", "90mbit");
    let htb = |first: &str| {
        format!(
            "tc qdisc add dev eth0 root handle 1: stab overhead 30 htb default 20\n\
             tc class add dev eth0 parent 1: classid 1:1 htb rate 900mbit\n\
             tc class add dev eth0 parent 1:1 classid 1:10 htb rate {first} ceil 900mbit\n\
             tc class add dev eth0 parent 1:1 classid 1:20 htb rate 10mbit ceil 900mbit\n\
             tc qdisc add dev eth0 parent 1:10 fq_codel\n\
             tc qdisc add dev eth0 parent 1:20 fq_codel\n"
        )
    };
    let lan = "config queue\n\toption enabled 1\n\toption interface br-lan\n\toption upload \
               90000\n\toption script piece_of_cake.qos\n";
    let by_host = "tc qdisc add dev eth0 root cake bandwidth 18mbit docsis dual-srchost";
    for (text, expected) in [
        (ifb, &["ifb-unused"][..]),
        (&both, &["directions-exchanged"]),
        (&right, &[]),
        (&htb("800mbit"), &["htb-quantum"]),
        (&htb("10mbit"), &[]),
        (&htb("800mbit quantum 9000"), &[]),
        (lan, &["sqm-on-lan"]),
        (by_host, &["cake-without-nat"]),
        (&format!("{by_host} nat"), &[]),
    ] {
        assert_eq!(codes(text, None), expected, "{text}");
    }
}

/// cake and sfb always mark, and dualpi2 does by default.
#[test]
fn the_disciplines_whose_ecn_is_off_by_default_are_named() {
    for (leaf, expected) in [
        ("codel", "the kernel's default of codel, pie, fq_pie, red and choke"),
        ("fq_codel noecn", "though the kernel's default of fq_codel is on"),
    ] {
        let all = findings(&under_htb(leaf), None);
        let finding = all.iter().find(|it| it.code == "ecn-off").unwrap();
        assert!(finding.reason.contains(expected), "{}", finding.reason);
    }
}

#[test]
fn evidence_shows_the_words_of_an_option_once() {
    let of = |text: &str, code: &str| {
        let all = findings(text, None);
        all.iter().find(|it| it.code == code).map(|it| it.evidence.clone())
    };
    let netem = "tc qdisc add dev eth0 root netem delay 100ms 20ms 25%";
    assert_eq!(of(netem, "netem-limit").unwrap(), "netem delay 100ms 20ms 25%");
    let cake = "tc qdisc add dev eth0 root cake bandwidth 10mbit metro atm overhead 44 mpu 64";
    let shown = "cake bandwidth 10mbit metro atm overhead 44 mpu 64";
    assert_eq!(of(cake, "cake-rtt").unwrap(), shown);
}

#[test]
fn a_time_without_a_unit_is_found_and_a_contradiction_once() {
    let all = findings("tc qdisc add dev eth0 root cake bandwidth 9mbit rtt 30 satellite", None);
    let of = |code: &str| all.iter().filter(|it| it.code == code).collect::<Vec<_>>();
    let [contradiction] = of("contradiction")[..] else { panic!("{all:?}") };
    assert_eq!(contradiction.evidence, "rtt 30 satellite");
    let [bare] = of("time-without-unit")[..] else { panic!("{all:?}") };
    assert_eq!(bare.title, "`rtt 30` is 30 us");
    assert!(
        codes("tc qdisc add dev eth0 root cake rtt 100000", None)
            .iter()
            .all(|it| *it != "time-without-unit")
    );
    for (text, titles) in [
        (
            "tc qdisc add dev eth0 root fq_codel target 5 interval 100 ecn",
            &["`target 5` is 5 us", "`interval 100` is 100 us"][..],
        ),
        ("tc qdisc add dev eth0 root pie target 15000 tupdate 15ms", &[]),
    ] {
        let all = findings(text, None);
        let bare = all.iter().filter(|it| it.code == "time-without-unit");
        assert_eq!(bare.map(|it| it.title.as_str()).collect::<Vec<_>>(), titles, "{text}");
    }
}

const SHOWN_FQ_CODEL: &str = "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms \
                              memory_limit 32Mb ecn drop_batch 64";

fn reported(text: &str, wish: &TcWish) -> TcReport {
    let found = read_shown(text).and_then(|setup| report(&setup, wish));
    found.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_report_has_the_same_scenario_and_findings_as_import_and_check() {
    let text = "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 10Mbit besteffort \
                triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0\n";
    let wish = TcWish { name: "line".to_owned(), ..TcWish::default() };
    let (found, setup) = (reported(text, &wish), read(text).unwrap());
    assert_eq!(found.scenario, scenario(&setup, &wish));
    assert_eq!(found.findings, check(&setup, GIVEN));
    let queue = found.queue.unwrap();
    assert_eq!((queue.device.as_str(), queue.kind.as_str()), ("eth0", "cake"));
}

#[test]
fn a_report_names_the_queue_of_a_set_up_without_a_rate() {
    let text = format!("qdisc fq_codel 0: dev eth0 root {SHOWN_FQ_CODEL} wondrous 3\n");
    let text = text.as_str();
    let found = reported(text, &TcWish::default());
    assert_eq!(found.queue.map(|it| it.kind).as_deref(), Some("fq_codel"));
    assert!(found.scenario.unwrap_err().message.contains("--rate 50mbit"));
    assert!(found.unknown.iter().any(|it| it.contains("wondrous")), "{:?}", found.unknown);
}

#[test]
fn a_report_of_several_devices_lists_them_and_takes_the_chosen_one() {
    let line = |device: &str| format!("qdisc fq_codel 0: dev {device} root {SHOWN_FQ_CODEL}\n");
    let text = &(line("eth0") + &line("wlan0"));
    let found = reported(text, &TcWish::default());
    assert_eq!((found.devices, found.queue), (vec!["eth0".to_owned(), "wlan0".to_owned()], None));
    let wish = TcWish { device: Some("wlan0".to_owned()), ..TcWish::default() };
    assert_eq!(reported(text, &wish).queue.map(|it| it.device).as_deref(), Some("wlan0"));
}

#[test]
fn output_of_tc_is_read_alone_as_with_everything_else_and_other_texts_are_refused() {
    let text = format!("qdisc fq_codel 0: dev eth0 root {SHOWN_FQ_CODEL}\n");
    assert_eq!(read_shown(&text), read(&text));
    for other in ["", "hello", "tc qdisc add dev eth0 root fq_codel", "config queue"] {
        let error = read_shown(other).unwrap_err();
        assert!(error.message.contains("`sojourn tc import`"), "{error}");
    }
    assert_eq!(read_shown("<pre>\n").unwrap_err(), read("<pre>\n").unwrap_err());
}
