//! Pastes from forums, mailing lists and the kernel's own tests of tc: values as the kernel has
//! them, and nothing lost without a word.

mod common;

use sojourn_formats::tc::{TcCircumstances, aqm_of_text, check, read};

use common::{expect, imported, refused};

const ROOT: &str = "tc qdisc add dev eth0 root ";
const SHOWN: &str = "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 500p flows 1024 quantum 1514 \
                     target 5ms interval 100ms ecn";
const TREE: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
                    tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit\n\
                    tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit\n\
                    tc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 10mbit\n";

/// iproute2 6.1 tc/q_pie.c, q_codel.c: zeros are not sent.
#[test]
fn a_zero_that_tc_does_not_send_leaves_the_default() {
    for (options, left) in [
        ("codel limit 0", "\"codel@linux\""),
        ("fq_codel flows 0", "\"fq_codel@linux\""),
        ("pie alpha 0 beta 0", "\"pie@linux\""),
        ("fq_pie ecn_prob 0", "\"fq_pie@linux\""),
        ("cake bandwidth 0", "\"cake:diffserv=diffserv3\""),
    ] {
        let import = imported(&format!("{ROOT}{options}\n"));
        assert!(import.toml.contains(&format!("queue = {left}")), "{options}: {}", import.toml);
        let says = |it: &String| it.contains("does not send it") || it.contains("sets nothing");
        assert!(import.unknown.iter().any(says), "{options}: {:?}", import.unknown);
    }
}

/// iproute2 6.18 tc/q_dualpi2.c.
#[test]
fn the_gains_and_round_trips_of_dualpi2_are_what_tc_sends() {
    let shown = "qdisc dualpi2 1: dev eth0 root refcnt 2 limit 10000p memlimit 30280000B target \
                 15ms tupdate 16ms alpha 0.156250 beta 3.195312 step_thresh 1ms coupling_factor 2";
    let exact = shown.replace("0.156250", "0.160156").replace("3.195312", "3.199219");
    let json = r#"[{"kind":"dualpi2","handle":"1:","dev":"eth0","root":true,"options":{
        "limit":10000,"alpha":0.156250,"ecn-mask":"any-ect","split-gso":null}}]"#;
    let of = |options: &str| format!("{ROOT}dualpi2 {options}\n");
    expect(&[
        (shown, &["alpha=0.16015625hz,beta=3.19921875hz"]),
        (&exact, &["alpha=0.16015625hz,beta=3.19921875hz"]),
        (&of("alpha 0.16 beta 3.2"), &["alpha=0.15625hz,beta=3.19921875hz"]),
        (&of("typical_rtt 20ms"), &["target=20ms,tupdate=20ms,alpha=0.13671875hz,beta=2.5hz"]),
        (
            &of("max_rtt 300ms target 9ms alpha 1"),
            &["target=50ms", "`target 9ms` (line 1): tc derives it", "alpha=0.0546875hz"],
        ),
        (&of("max_rtt 200ms"), &["target=33333us,tupdate=33333us"]),
        (&of("step_thresh 20pkt"), &["`step_thresh 20pkt` (line 1) has no counterpart"]),
        (json, &["`any_ect` (line 1) has no counterpart", "alpha=0.16015625hz"]),
    ]);
    refused(&[(&of("max_rtt 20ms typical_rtt 100ms"), "`typical_rtt` above `max_rtt`")]);
}

/// Linux 6.1 sch_api.c, tc_modify_qdisc, tc_ctl_tclass; sch_htb.c, htb_graft; sch_ets.c,
/// ets_class_change.
#[test]
fn places_and_classes_that_the_kernel_refuses_are_refused() {
    let htb = |rest: &str| {
        format!(
            "{ROOT}handle 1: htb default 10\n\
             tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit\n{rest}"
        )
    };
    let ets = |rest: &str| format!("{ROOT}handle 1: ets strict 5\ntc class {rest}");
    refused(&[
        (&htb("tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit"), "`File exists`"),
        (&htb("tc class change dev eth0 parent 1: classid 1:9 htb rate 2mbit"), "write add"),
        (&htb("tc class add dev eth0 parent 1: classid 2:1 htb rate 1mbit"), "handle 2:"),
        (&htb("tc class add dev eth0 parent 1: classid 1:11 hfsc ls rate 1mbit"), "is a htb"),
        (&htb("tc qdisc add dev eth0 parent 1:11 pie"), "has no such class"),
        (
            &htb("tc class add dev eth0 parent 1:10 classid 1:11 htb rate 1mbit\n\
                 tc qdisc add dev eth0 parent 1:10 pie"),
            "has class 1:11 below it",
        ),
        (
            &format!("{ROOT}handle 1: prio\ntc qdisc add dev eth0 parent 1:4 pie"),
            "has no such class",
        ),
        (
            &format!("{ROOT}handle 1: fq_codel\ntc qdisc add dev eth0 parent 1:1 pie"),
            "below the fq_codel",
        ),
        (&ets("change dev eth0 classid 1:2 ets quantum 1500"), "band 2, which is strict"),
        (&ets("change dev eth0 classid 1:6 ets"), "ets has 5 bands"),
        (&ets("add dev eth0 classid 1:2 ets"), "write change"),
        (&format!("{ROOT}handle 1: ets quanta 1000 0"), "a quantum of 0"),
        (&format!("{ROOT}handle 1: ets bands 17"), "with 17 bands"),
    ]);
}

/// iproute2 6.1 tc/tc_core.c, tc_calc_size_table.
#[test]
fn a_size_table_coarser_than_tcs_own_is_named() {
    let phrase = "rounds sizes up to multiples of 16 B";
    let sqm = "config queue\n option enabled 1\n option interface eth1\n option upload 800\n \
               option script simplest.qos\n option qdisc fq_codel\n option linklayer atm\n \
               option overhead 40\n option tcTSIZE 128\n";
    let json = r#"[{"kind":"pie","handle":"1:","dev":"eth0","root":true,"options":{},"stab":
        {"linklayer":"atm","overhead":10,"mpu":0,"mtu":2047,"tsize":128}}]"#;
    let table = |words: &str| format!("{ROOT}stab {words} overhead 10 fq_codel");
    expect(&[
        (&table("tsize 128 linklayer atm"), &[phrase]),
        (&table("mtu 8191 linklayer ethernet mpu 64"), &[phrase]),
        (sqm, &[phrase]),
        (json, &[phrase]),
    ]);
    for words in ["linklayer atm", "tsize 128 linklayer ethernet"] {
        assert!(!imported(&table(words)).toml.contains("rounds sizes up"), "{words}");
    }
}

/// Linux 6.1 sch_drr.c, drr_classify: a packet of no class is dropped.
#[test]
fn the_only_class_of_drr_holds_the_queue() {
    let class = "tc class add dev eth0 parent 1: classid 1:1 drr\n";
    let second = "tc class add dev eth0 parent 1: classid 1:2 drr\n";
    let leaf = "tc qdisc add dev eth0 parent 1:1 fq_codel\n";
    expect(&[(
        &format!("{ROOT}handle 1: drr\n{class}{leaf}"),
        &["queue = \"fq_codel@linux\"", "the kernel drops packets that no filter names"],
    )]);
    refused(&[
        (&format!("{ROOT}handle 1: drr\n"), "no class of drr"),
        (&format!("{ROOT}handle 1: drr\n{class}{second}{leaf}"), "add one with `matchall`"),
    ]);
}

/// tc-testing: sfb with a rehash below its warm-up; prio with 17 bands; iproute2 6.1 tc/q_prio.c.
#[test]
fn bands_and_bounds_are_those_of_the_kernel() {
    expect(&[
        (&format!("{ROOT}sfb rehash 60"), &["rehash_interval=60ms"]),
        (
            &format!("{ROOT}prio bands 4 priomap 1 1 2 2 3 3 0 0"),
            &["name = \"band-4\"\ndscp = [6, 7, "],
        ),
        (&format!("{ROOT}red limit 1M avpkt 1500 probability 1"), &["(line 1) overflows in tc"]),
        (&format!("{ROOT}red limit 1M avpkt 1500 adaptative"), &["ared@linux", "plain RED"]),
        (
            &format!("{ROOT}red limit 1M avpkt 1500 qevent early_drop block 10 ecn"),
            &["`qevent early_drop block 10` (line 1) has no counterpart", "ecn=true"],
        ),
    ]);
    refused(&[
        (&format!("{ROOT}prio bands 17"), "write 2 to 16"),
        (&format!("{ROOT}prio bands 2"), "band 2 for 2 bands"),
        (&format!("{ROOT}tbf rate 1mbit burst 9k limit 9k peakrate 2mbit"), "without `mtu`"),
        (&format!("{ROOT}tbf rate 1mbit burst 9k limit 9k overhead -4"), "0 to 65535"),
        (&format!("{ROOT}tbf rate 50% burst 9k limit 9k"), "share of the device's own rate"),
        (&format!("{ROOT}netem delay 9ms distribution normal"), "without `jitter`"),
        (&TREE.replace("rate 5mbit ceil", "ceil"), "without `rate`"),
    ]);
    let peak = "tbf rate 500kbit burst 50k peakrate 600kbit mtu 1540 latency 20ms";
    expect(&[(&format!("{ROOT}{peak}"), &["taildrop@bytes:limit=3040B", "`peakrate 600kbit`"])]);
}

/// iproute2 6.1 tc/tc_red.c: several bursts give one weight.
#[test]
fn the_weight_that_tc_shows_of_red_becomes_a_burst() {
    let red = "qdisc red 1: dev eth0 root refcnt 2 limit 400000b min 30000b max 90000b ecn ewma 5 \
               probability 0.02 Scell_log 9";
    let import = imported(red);
    let burst = import.toml.split("burst=").nth(1).and_then(|it| it.split(',').next());
    assert!(burst.is_some_and(|it| (31..=50).contains(&it.parse::<u32>().unwrap())), "{burst:?}");
    assert!(!import.unknown.iter().any(|it| it.contains("ewma")), "{:?}", import.unknown);
    let odd = imported(&red.replace("ewma 5", "ewma 31")).unknown;
    assert!(odd.iter().any(|it| it.contains("`ewma 31` (line 1) has no counterpart")), "{odd:?}");
}

#[test]
fn a_bare_number_of_packets_is_no_time() {
    let given = TcCircumstances { line_bps: None, framing: None, rtt_ns: 40_000_000, load: 4 };
    let codes = |options: &str| {
        let found = check(&read(&format!("{ROOT}{options}")).unwrap(), given);
        found.iter().filter(|it| it.code == "time-without-unit").count()
    };
    assert_eq!([codes("sfb target 100"), codes("codel target 5"), codes("cake rtt 20")], [0, 1, 1]);
    assert_eq!(codes("tbf rate 1mbit burst 9k latency 50"), 1);
}

/// iproute2 6.1 tc/q_netem.c: beginnings of words, signed overheads.
#[test]
fn no_part_of_netem_is_lost() {
    let json = r#"[{"kind":"netem","handle":"1:","dev":"eth0","root":true,"options":{"limit":1000,
        "delay":{"delay":0.1,"jitter":0.01,"correlation":0.25},
        "loss-random":{"loss":0.003,"correlation":0.25},"reorder":{"reorder":0.25},"gap":5,
        "rate":{"rate":125000,"packetoverhead":20,"cellsize":0},"slot":{"min-delay":1}}}]"#;
    let state = r#"[{"kind":"netem","handle":"1:","dev":"eth0","root":true,"options":{"limit":9,
        "loss-state":{"p13":0.01,"p31":0.1,"p32":0.05,"p23":0.7,"p14":0.02},"gap":0}}]"#;
    expect(&[
        (
            json,
            &[
                "loss = { kind = \"bernoulli\", rate = 0.003, correlation = 0.25 }",
                "jitter = { kind = \"uniform\", max = \"20ms\", reorder = false }",
                "framing = \"34B\"",
                "`slot` of netem",
                "reorder = { rate = 0.25, gap = 5 }",
            ],
        ),
        (
            state,
            &["loss = { kind = \"four-state\", p13 = 0.01, p31 = 0.1, p32 = 0.05, p23 = 0.7, \
                 p14 = 0.02 }"],
        ),
        (&format!("{ROOT}netem loss state 1% 20%"), &["\"four-state\", p13 = 0.01, p31 = 0.2 }"]),
        (
            &format!("{ROOT}netem duplicate 1% 25%"),
            &["duplicate = { rate = 0.01, correlation = 0.25 }"],
        ),
        (
            "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 rate 1Mbit packetoverhead 20 \
             cellsize 48",
            &["`packetoverhead 20`", "`cellsize 48`"],
        ),
        (&format!("{ROOT}netem rate 1mbit 28 48 5"), &["framing = \"42B\"\ncells = \"atm\""]),
        (
            &format!("{ROOT}netem rate 1mbit -20 del 9ms dup 3%"),
            &["the framing in", "duplicate = { rate = 0.03 }"],
        ),
        (
            &format!("{ROOT}netem delay 10ms 20ms"),
            &["jitter = { kind = \"netem\", mean = \"10ms\", deviation = \"20ms\", \
                 distribution = \"uniform\", reorder = true }"],
        ),
        (
            &format!("{ROOT}netem delay 100ms 10ms 25% distribution normal"),
            &[
                "delay = \"60ms\"",
                "mean = \"40ms\", deviation = \"10ms\", distribution = \"normal\"",
            ],
        ),
        (
            &format!("{ROOT}netem delay 100ms 10ms distribution experimental"),
            &["delay = \"90ms\"", "max = \"20ms\"", "`distribution experimental` of netem"],
        ),
        (
            &format!("{ROOT}netem delay 50ms reorder 25% 50% gap 3 corrupt 0.1% 10%"),
            &[
                "reorder = { rate = 0.25, correlation = 0.5, gap = 3 }",
                "corrupt = { rate = 0.001, correlation = 0.1 }",
            ],
        ),
        // The rate of netem is before the discipline below it.
        (
            "tc qdisc add dev eth0 root handle 1: netem rate 9mbit\n\
             tc qdisc add dev eth0 parent 1: fq_codel\n",
            &["queue = \"taildrop:limit=1000p\"", "`fq_codel@linux` below it sees none"],
        ),
    ]);
}

#[test]
fn slots_of_netem_are_a_jitter() {
    expect(&[
        (
            &format!("{ROOT}netem slot 800us 1ms packets 42 bytes 64k loss 1%"),
            &[
                "kind = \"slots\", mean = \"900us\", deviation = \"100us\", packets = 42,",
                "bytes = \"65536B\" }",
                "rate = 0.01",
            ],
        ),
        (
            &format!("{ROOT}netem delay 20ms slot distribution normal 5ms 1ms"),
            &[
                "mean = \"5ms\", deviation = \"1ms\", distribution = \"normal\" }",
                "delay = \"20ms\"",
            ],
        ),
        (
            &format!("{ROOT}netem delay 20ms 5ms slot 800us"),
            &["`slot 800us` of netem (line 1) has no counterpart here: packets have"],
        ),
    ]);
}

/// Linux 6.1 sch_api.c, __qdisc_calculate_pkt_len; sch_generic.h, psched_l2t_ns.
#[test]
fn an_overhead_of_the_shaper_counts_on_top_of_the_size_table() {
    let htb = "tc qdisc add dev ppp0 root handle 1: stab linklayer adsl overhead 10 htb default 1\n\
               tc class add dev ppp0 parent 1: classid 1:1 htb rate 800kbit overhead 8 linklayer \
               atm\n";
    let tree = TREE
        .replace("htb default", "stab overhead 20 htb default")
        .replace("bit\n", "bit overhead 8\n");
    expect(&[
        (
            htb,
            &[
                "burst = \"1600B\"",
                "overdraft = true, overhead = \"8B\", cells = \"atm\" }",
                "framing = \"10B\"\ncells = \"atm\"",
            ],
        ),
        (&tree, &["framing = \"34B\"", "default = \"1-20\"\noverhead = \"8B\""]),
    ]);
}

#[test]
fn the_arrivals_of_a_device_without_header_have_none_on_the_ifb() {
    expect(&[
        (
            "tc qdisc add dev ppp0 handle ffff: ingress\n\
             tc filter add dev ppp0 parent ffff: matchall action mirred egress redirect dev ifb0\n\
             tc qdisc add dev ifb0 root tbf rate 9mbit burst 3k latency 50ms\n\
             tc qdisc add dev ppp0 root tbf rate 1mbit burst 3k latency 50ms\n",
            &["framing = \"0B\"\nqueue = \"taildrop@bytes:limit=59322B\""],
        ),
        (
            "config queue\n\toption enabled 1\n\toption interface pppoe-wan\n\toption download \
             16000\n\toption upload 900\n\toption script simplest.qos\n\toption linklayer atm\n\
             \toption overhead 40\n",
            &["[links.down]\nrate = \"16mbit\"\nframing = \"40B\"\ncells = \"atm\""],
        ),
        (
            "tc qdisc add dev wan handle ffff: ingress\n\
             tc filter add dev wan parent ffff: matchall action mirred egress redirect dev veth0\n\
             tc qdisc add dev veth0 root cake bandwidth 80mbit\n\
             tc qdisc add dev wan root cake bandwidth 20mbit\n",
            &["[links.up]\nrate = \"20mbit\"", "[links.down]\nrate = \"80mbit\""],
        ),
    ]);
}

/// The commands of tcconfig: a filter of all packets goes before `default`.
#[test]
fn a_filter_of_all_packets_chooses_the_leaf_that_is_taken() {
    let text = "tc qdisc add dev eth0 root handle 1f87: htb default 1\n\
                tc class add dev eth0 parent 1f87: classid 1f87:1 htb rate 32gbit\n\
                tc class add dev eth0 parent 1f87: classid 1f87:2 htb rate 10mbit ceil 10mbit\n\
                tc qdisc add dev eth0 parent 1f87:2 handle 3b2d: netem delay 100ms loss 1%\n\
                tc filter add dev eth0 protocol ip parent 1f87: prio 5 u32 match ip dst 0.0.0.0/0 \
                match ip src 0.0.0.0/0 flowid 1f87:2\n";
    expect(&[(text, &["rate = \"10mbit\"", "delay = \"100ms\"", "rate = 0.01"])]);
}

/// iproute2 4.17 to 4.20 tc/q_htb.c, htb_print_opt.
#[test]
fn a_default_that_tc_printed_in_decimal_is_told_by_the_classes() {
    let shown = "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 18 direct_packets_stat 0\n\
                 class htb 1:1 root rate 9Mbit ceil 9Mbit burst 1600b cburst 1600b\n\
                 class htb 1:12 parent 1:1 rate 5Mbit ceil 9Mbit burst 1600b cburst 1600b\n\
                 class htb 1:13 parent 1:1 rate 4Mbit ceil 9Mbit burst 1600b cburst 1600b\n";
    expect(&[
        (shown, &["default = \"1-12\"", "`default 18` is taken as decimal"]),
        (&shown.replace("default 18", "default 13"), &["default = \"1-13\""]),
        (&shown.replace("default 18", "default 0"), &["kind = \"htb\"\n\n", "does not shape"]),
    ]);
    let detailed = shown.replace("default 18", "default 0x12").replace("stat 0", "stat 0 ver 3.17");
    let unknown = imported(&detailed).unknown;
    assert!(!unknown.iter().any(|it| it.contains("stab")), "{unknown:?}");
}

#[test]
fn characters_and_marks_of_a_web_page_do_no_harm() {
    let uci = "config queue ‘eth1’\n option enabled ‘1’\n option interface ‘eth1’\n option upload \
               ‘10000’\n option script ‘piece_of_cake.qos’\n";
    expect(&[
        (uci, &["bandwidth=10mbit"]),
        (&uci.replace('\n', " ").replace(['‘', '’'], "'"), &["bandwidth=10mbit"]),
        (&format!("[code]\n{SHOWN}\n[/code]\n"), &["limit=500p"]),
        (&format!("```\n{}\n```", SHOWN.replace(" dev", "\u{200b} dev")), &["limit=500p"]),
        (
            &format!("deleted qdisc cake 1: dev eth0 root bandwidth 9Mbit\n{SHOWN}\n"),
            &["limit=500p"],
        ),
        ("docker exec -it web tc qdisc add dev eth0 root codel limit 9\n", &["limit=9p"]),
        ("➜  ~ sudo tc qdisc add dev eth0 root codel limit 9\n", &["limit=9p"]),
        (
            &format!("2: eth0: <BROADCAST,UP> mtu 1500 qdisc fq_codel state UP\n{SHOWN}\n"),
            &["limit=500p"],
        ),
        ("tc -n ns1 qdisc add dev eth0 root codel limit 9\n", &["limit=9p"]),
        (
            "uci set sqm.@queue[0].enabled='1'\nuci set sqm.@queue[0].interface='wan'\n\
             uci set sqm.@queue[0].upload='9000'\n\
             uci set sqm.@queue[0].script='piece_of_cake.qos'\n\
             uci commit sqm\n/etc/init.d/sqm restart\n",
            &["bandwidth=9mbit"],
        ),
    ]);
    refused(&[
        (&format!("{SHOWN}\n{}", SHOWN.replace("0: dev", "8001: dev")), "both the root"),
        ("qdisc cake 1: root refcnt 2 [Unknown qdisc, optlen=148]", "paste the output of a newer"),
        ("tc qdisc add dev d root fq &amp;&amp; tc -s qdisc", "HTML around the paste"),
        ("# tc qdisc add dev eth0 root codel\nRTNETLINK answers: x", "delete the `#`"),
        ("class htb 1:1 root rate 9Mbit ceil 9Mbit", "has classes alone"),
    ]);
}

#[test]
fn json_may_have_prompts_around_it_and_classes() {
    let one = r#"root@a:~# tc -j qdisc show dev eth0
        [{"kind":"htb","handle":"1:","root":true,"options":{"default":"0x10"}}]
        root@a:~# tc -j class show dev eth0
        [{"class":"htb","handle":"1:10","root":true,"leaf":"0x110","rate":1250000,"ceil":1250000,
        "burst":1600,"cburst":1600}]
        root@a:~# "#;
    let curves = r#"[{"kind":"hfsc","handle":"1:","dev":"eth0","root":true,"options":{
        "default":"0x12"}}]
        [{"class":"hfsc","handle":"1:12","parent":"1:","ls":{"m1":0,"d":0,"m2":500000},
        "ul":{"m1":500000,"d":20000,"m2":250000}}]"#;
    let plain = curves.replacen("{\n        \"default\":\"0x12\"}", "{default 12 }", 1);
    assert!(plain.contains("{default 12 }"));
    let peak = r#"[{"kind":"tbf","handle":"1:","dev":"eth0","root":true,"options":{"rate":62500,
        "burst":5120,"minburst":1540,"lat":70000}}]"#;
    expect(&[
        (one, &["rate = \"10mbit\""]),
        (curves, &["rate = \"2mbit\""]),
        (&plain, &["rate = \"2mbit\""]),
        (peak, &["does not print the peakrate"]),
    ]);
    let two = r#"[{"kind":"cake","handle":"1:","root":true,"options":{}}]
        [{"kind":"codel","handle":"1:","root":true,"options":{}}]"#;
    let alone = r#"[{"class":"htb","handle":"1:10","root":true,"rate":1250000}]"#;
    refused(&[
        (two, "cake and codel are both the root"),
        (alone, "has classes alone"),
        ("[{\"kind\":\"cake\",\n", "line 2: the JSON is cut off"),
    ]);
}

/// Linux 6.1 net/sched/cls_u32.c counts from the IP header; qosmate.sh of 2026, add_tc_filter.
#[test]
fn filters_on_the_first_word_choose_by_dscp() {
    let add = |filter: &str| format!("{TREE}tc filter add dev eth0 parent 1: {filter}\n");
    expect(&[
        (&add("protocol ipv6 u32 match u16 0x0b80 0x0fc0 at 0 classid 1:10"), &["dscp = [46]"]),
        (&add("protocol ip u32 match u8 0xb8 0xfc at 1 flowid 1:10"), &["dscp = [46]"]),
        (&add("protocol ip u32 match u8 0x11 0xff at 9 flowid 1:10"), &["looks at `u8 0x11 0xff"]),
        (&add("protocol all u32 match u8 0xb8 0xfc at 1 flowid 1:10"), &["looks at `u8 0xb8"]),
    ]);
    let deleted = add("protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10")
        + "tc filter del dev eth0 parent 1: prio 1\n";
    assert!(!imported(&deleted).toml.contains("dscp"), "{}", imported(&deleted).toml);
}

/// iproute2 6.1 tc/m_police.c, print_police.
#[test]
fn a_policer_is_read_as_tc_shows_it() {
    let shown = "qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------\n\
                 filter parent ffff: protocol all pref 1 matchall chain 0 handle 0x1 \n\
                 \x20 not_in_hw\n\taction order 1:  police 0x1 rate 10Mbit burst 100Kb mtu 2Kb \
                 action drop overhead 0b \n\tref 1 bind 1 \n";
    expect(&[(shown, &["policer = { rate = \"10mbit\", burst = \"102400B\" }"])]);
    let pipes = shown.replace("action drop", "action pipe");
    refused(&[(&pipes, "has a policer alone")]);
}

/// cake-autorate 3.3 defaults.sh.
#[test]
fn cake_autorate_gives_its_base_rates_and_says_what_it_changes() {
    let config = "dl_if=ifb-wan # download interface\nul_if='wan'\nadjust_dl_shaper_rate=1\n\
                  min_dl_shaper_rate_kbps=5000\nbase_dl_shaper_rate_kbps=60000\n\
                  max_dl_shaper_rate_kbps=80000\nbase_ul_shaper_rate_kbps=9000\n";
    expect(&[
        (
            config,
            &[
                "bandwidth=60mbit",
                "bandwidth=9mbit",
                "between 5000 and 80000 kbit/s",
                "between 5000 and 35000 kbit/s",
                "the options of cake on wan",
            ],
        ),
        (&config.replace("_rate=1", "_rate=0"), &["does not change the rate of ifb-wan"]),
    ]);
}

#[test]
fn several_transmit_queues_are_one_and_what_that_leaves_out_is_said() {
    let mq = "tc qdisc add dev eth0 root handle 1: mq\n\
              tc qdisc add dev eth0 parent 1:1 cake bandwidth 9mbit\n\
              tc qdisc add dev eth0 parent 1:2 cake bandwidth 8mbit\n";
    let cakes = "qdisc cake_mq 1: dev d root bandwidth 9Mbit besteffort rtt 100ms raw overhead 0\n\
                 qdisc cake 0: dev d parent 1:1 bandwidth 9Mbit besteffort rtt 100ms raw\n\
                 qdisc cake 0: dev d parent 1:2 bandwidth 9Mbit besteffort rtt 100ms raw\n";
    let mqprio = "qdisc mqprio 1: dev d root tc 2 map 1 1 0 0\n queues:(0:0) (1:1)\n\
                  qdisc codel 0: dev d parent 1:2 limit 9p target 5ms interval 100ms\n\
                  qdisc codel 0: dev d parent 1:1 limit 9p target 5ms interval 100ms\n";
    expect(&[
        (mq, &["2 transmit queues", "may send more", "line 2, though they differ"]),
        (cakes, &["2 transmit queues", "the busy ones share the rate"]),
        (mqprio, &["flow's priority decides", "limit=9p"]),
    ]);
    assert!(!imported(mqprio).unknown.join(" ").contains("no counterpart"));
    assert!(aqm_of_text("mqprio num_tc 2").is_err());
    let sends = aqm_of_text("red limit 400000 avpkt 1000 adaptive").unwrap();
    assert!(sends.missing.iter().any(|it| it.contains("plain RED")), "{sends:?}");
}

/// POSIX.1-2024, Shell Command Language §2.9.4; `{1..3}`, `((`, `+=` of bash.
#[test]
fn a_script_runs_as_far_as_its_text_decides() {
    let tree = "tc qdisc add dev d root handle 1: htb default 2\n";
    let class = "tc class add dev d parent 1: classid 1:";
    let two = ["name = \"1-1\"\nrate = \"1mbit\"", "name = \"1-2\"\nrate = \"2mbit\""];
    let dispatch = "start()\n{\n tc qdisc add dev d root codel limit 9\n}\nstop() { tc qdisc del \
                    dev d root; }\n";
    expect(&[
        (&format!("{tree}for i in 1 2; do {class}$i htb rate ${{i}}mbit; done"), &two),
        (&format!("{tree}for i in $(seq 2)\ndo\n{class}$i htb rate ${{i}}mbit\ndone"), &two),
        (&format!("add() {{\n{class}$1 htb rate $2\n}}\n{tree}add 1 1mbit\nadd 2 2mbit\n"), &two),
        (dispatch, &["limit=9p"]),
        (
            "for some reason this fails:\ntc qdisc add dev d root codel limit 9\nif I delete it, \
             it works; foo() says so\ncase in point\nwhile testing\n",
            &["limit=9p", "`while` is not a tc command"],
        ),
        (
            &format!(
                "{dispatch}case \"$1\" in\n start|up) start ;;\n restart) stop; start;;\nesac"
            ),
            &["limit=9p", "the commands of `case` under `start|up)` are taken to run"],
        ),
        (
            "if tc qdisc show dev d | grep -q htb; then tc qdisc del dev d root; fi\n\
             run() { echo \"$@\"; \"$@\"; }\nO=nat\nO+=' wash'\nrun tc qdisc add dev d root cake \
             $O\n",
            &["wash=true"],
        ),
        (
            "f() { local d=$1 n=$2; tc qdisc add dev $d root codel limit $n; }\nf d 9\n[ $1 = \
             stop ] && tc qdisc del dev d root\n",
            &["limit=9p", "after `[ $1 = stop ] &&` is left out"],
        ),
        (
            "if tc qdisc replace dev d root codel limit 9; then echo; else tc qdisc replace dev d \
             root fq; fi\n",
            &["limit=9p"],
        ),
        (
            "tc qdisc change dev d root codel limit 9 || tc qdisc add dev d root codel limit 8\n",
            &["limit=8p"],
        ),
    ]);
    refused(&[
        (
            &format!(
                "{tree}i=1\nwhile [ $i -le $N ]; do\n{class}$i htb rate 1mbit\ni=$((i+1))\ndone"
            ),
            "how often `while`",
        ),
        (&format!("{tree}i=$RANDOM\n((i++))\n{class}$i htb rate 1mbit\n"), "`1:$i` is a variable"),
        (&format!("{tree}for i in `ls`; do {class}1 htb rate 1mbit; done"), "write its words"),
        (&format!("{tree}for i in 1 2; do\n{class}$i htb rate 1mbit\n"), "`for` has no end"),
        (
            "if [ $A ]; then\ntc qdisc replace dev d root codel\nelse\ntc qdisc replace dev d root \
             fq\nfi\n",
            "several branches of `if`",
        ),
        ("D=e\nif [ $2 ]; then D=$2; fi\ntc qdisc add dev $D root fq\n", "`$D` is a variable"),
        ("f() { f; tc qdisc add dev d root fq; }\nf\n", "`f` calls itself"),
        (
            "for a in {1..999}; do for b in {1..999}; do tc qdisc del dev d root; done; done\n\
             tc qdisc add dev d root fq\n",
            "runs more than 20000 commands",
        ),
    ]);
}

/// iproute2 6.1 tc/q_*.c: what each kind always prints; tc/q_cake.c prints `rtt 10` of no kind.
#[test]
fn a_line_that_is_cut_off_is_refused() {
    let cut = |end: &str| SHOWN.split(end).next().unwrap().trim().to_owned();
    let cake = "qdisc cake 1: dev eth0 root refcnt 2 bandwidth 9Mbit diffserv3 nat rtt 10";
    let sfq =
        "qdisc sfq 1: dev eth0 root limit 127p quantum 1514b depth 127 divisor 1024 perturb 1";
    refused(&[
        (&cut("quantum"), "line 1: the line of fq_codel lacks `interval`"),
        (&format!("{}\n Sent 9 bytes 1 pkt", cut("p flows")), "lacks `interval`"),
        (cake, "lacks `overhead` or `raw`"),
        (
            &format!("{cake}0ms raw overhead 0 memlimit 3"),
            "ends with `memlimit 3` without its unit",
        ),
        (sfq, "ends with `perturb 1` without its unit"),
        ("qdisc pie 1: dev eth0 root refcnt 2 limit 1000p target 15", "lacks `beta`"),
        ("qdisc tbf 1: dev eth0 root refcnt 2 rate 10Mbit burst 5Kb", "lacks `lat` or `limit`"),
    ]);
}

/// Linux 6.1 sch_fq_codel.c, fq_codel_change; sch_api.c, tc_modify_qdisc.
#[test]
fn what_a_set_up_lacks_or_cannot_have_is_said() {
    let below = "tc qdisc add dev eth0 root handle 1: netem delay 9ms loss 1%\n\
                 tc qdisc add dev eth0 parent 1: netem delay 20ms\n";
    expect(&[
        (below, &["delay = \"20ms\"", "`delay 9ms loss 1%` (line 1) has no counterpart here"]),
        (&TREE.replace("default 20", "default 20 offload"), &["`offload` (line 1)"]),
        (&format!("{ROOT}prio multiqueue"), &["`multiqueue` (line 1) has no counterpart"]),
        ("tc qdisc add dev eth0 ingress_block 1 root codel limit 9\n", &["limit=9p"]),
    ]);
    let twice = |kind: &str| {
        format!("{ROOT}{kind} flows 512\ntc qdisc change dev eth0 root {kind} flows 256\n")
    };
    refused(&[
        (&twice("fq_codel"), "line 2: the kernel refuses `flows 256`"),
        (&twice("fq_pie"), "keeps its number of flows"),
        (&format!("{ROOT}htb default 10"), "the text has no class of htb on eth0"),
        ("qdisc hfsc 1: dev eth0 root refcnt 2 default 0x1", "kernel drops any packet"),
        (&format!("{ROOT}stab overhead 999999999 pie"), "an overhead of 999999999 B"),
        (&format!("{ROOT}mq x\n"), "mq has no options: delete `x`"),
        ("tc qdisc add dev eth0 handle ffff: ingress x\n", "ingress has no options"),
        (&format!("{ROOT}sfq perturb 1000000000"), "too long a time"),
        ("nmcli c modify wan tc.tfilters 'root matchall'", "NetworkManager"),
        ("ipfw add 100 allow ip from any to any", "ipfw: paste its lines"),
        ("tcset eth0 --delay 100ms", "a setting of tcset: paste"),
        ("/queue type add name=a kind=cake", "RouterOS"),
    ]);
}
