//! Features of set-ups from posts and from the kernel's own tests of tc: each gives the values that
//! the kernel would have, or names the part that is lost.

use sojourn_formats::tc::{TcImport, TcWish, aqm_of_text, lines, read, scenario};

fn imported(text: &str) -> TcImport {
    let wish =
        TcWish { name: "t".to_owned(), rate: Some("50mbit".to_owned()), ..TcWish::default() };
    let setup = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    scenario(&setup, &wish).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Whether the scenario has every part.
fn expect(cases: &[(&str, &[&str])]) {
    for (text, parts) in cases {
        let toml = imported(text).toml;
        for part in *parts {
            assert!(toml.contains(part), "`{part}` is not in the import of\n{text}\n{toml}");
        }
    }
}

fn aqm(text: &str) -> String {
    aqm_of_text(text).unwrap_or_else(|error| panic!("{text}: {error}")).text
}

/// Linux 6.1 sch_api.c, tc_modify_qdisc; tc-testing 9283, 2342, 3785, 3549.
#[test]
fn replace_of_the_same_kind_keeps_what_the_kind_keeps() {
    expect(&[
        (
            "tc qdisc add dev d handle 1: root fq_codel limit 1000 flows 256 drop_batch 100\n\
             tc qdisc replace dev d handle 1: root fq_codel noecn\n",
            &["limit=1000p,flows=256,drop_batch=100,ecn=false"],
        ),
        (
            "tc qdisc add dev d root cake overhead 128 mpu 256\n\
             tc qdisc replace dev d root cake mpu 128\n",
            &["overhead=128B,mpu=128B"],
        ),
        (
            "tc qdisc add dev d root netem delay 100ms 10ms loss 1% rate 20mbit\n\
             tc qdisc replace dev d root netem delay 200ms\n",
            &["rate = \"20mbit\"", "delay = \"200ms\""],
        ),
        (
            "tc qdisc add dev d root handle 1: stab overhead 26 tbf limit 9000 burst 9000 rate \
             20000\n\
             tc qdisc replace dev d root handle 1: tbf limit 9000 burst 9000 rate 30000\n",
            &["framing = \"14B\"", "rate = \"30kbit\""],
        ),
    ]);
    let netem = imported(
        "tc qdisc add dev d root netem delay 100ms loss 1%\n\
         tc qdisc replace dev d root netem delay 200ms\n",
    );
    assert!(!netem.toml.contains("loss ="), "{}", netem.toml);
}

#[test]
fn a_new_handle_or_kind_makes_a_new_discipline() {
    expect(&[(
        "tc qdisc add dev d handle 1: root codel target 20ms\n\
         tc qdisc replace dev d handle 2: root codel limit 50\n",
        &["queue = \"codel@linux:limit=50p\""],
    )]);
}

#[test]
fn a_deletion_with_another_handle_leaves_the_discipline() {
    let import =
        imported("tc qdisc add dev d handle 1: root codel\ntc qdisc del dev d handle 2: root\n");
    assert!(import.unknown.iter().any(|it| it.contains("line 2") && it.contains("stays")));
}

#[test]
fn a_class_may_be_changed_without_its_parent_and_has_an_mtu() {
    expect(&[(
        "tc qdisc add dev d root handle 1: htb default 1\n\
         tc class add dev d parent 1: classid 1:1 htb rate 20Kbit mtu 2048\n\
         tc class change dev d classid 1:1 htb rate 40kbit\n",
        &["rate = \"40kbit\""],
    )]);
}

#[test]
fn a_script_with_variables_quotes_and_keywords_is_read() {
    expect(&[(
        "#!/bin/sh\nexport IF=eth0\nUP=9000\nOPTS=\"besteffort dual-srchost nat\"\n\
         if true; then\n  $TC qdisc replace dev \"$IF\" root cake bandwidth ${UP}kbit $OPTS\nfi\n",
        &["bandwidth=9mbit", "isolation=src"],
    )]);
}

/// Linux 6.1 sch_cake.c, cake_calc_overhead: the header is omitted only if an overhead is given.
#[test]
fn cells_of_cake_without_an_overhead_count_from_the_frame() {
    expect(&[
        ("tc qdisc add dev eth0 root cake besteffort atm", &["framing = \"14B\"", "cells=atm"]),
        (
            "qdisc cake 1: dev eth0 root bandwidth 9Mbit besteffort triple-isolate nonat nowash \
             no-ack-filter split-gso rtt 100ms raw ptm overhead 0 memlimit 10000b \n",
            &["framing = \"14B\"", "cells=ptm,limit=10000B"],
        ),
        ("tc qdisc add dev eth0 root cake raw overhead 10", &["framing = \"14B\"", "overhead=10B"]),
        ("tc qdisc add dev eth0 root cake overhead 0", &["framing = \"0B\"", "overhead=0B"]),
        ("tc qdisc add dev eth0 root cake overhead -4", &["framing = \"0B\"", "overhead=-4B"]),
    ]);
    assert_eq!(aqm("cake besteffort raw"), "cake");
}

/// iproute2 6.1 tc/q_sfb.c: the values sent, as captured from tc.
#[test]
fn tc_derives_one_bound_of_sfb_from_the_other() {
    for (text, right) in [
        ("sfb max 100", "bin_target=80,bin_max=100"),
        ("sfb target 100", "bin_max=125,bin_target=100"),
        ("sfb max 4", "bin_target=3,bin_max=4"),
    ] {
        assert!(aqm(text).ends_with(right), "{text}: {}", aqm(text));
    }
    let says = |words: &str| {
        let import = imported(&format!("tc qdisc add dev d root {words}"));
        import.read.join(" ").contains("33/65535")
    };
    assert!(says("sfb limit 1000"), "tc's steps, not the kernel's");
    assert!(!says("sfb increment 0.1 decrement 0.01"));
}

/// tc-testing 2130 and 90c1: the kernel shows 1/256 less than tc sends.
#[test]
fn the_round_trips_of_dualpi2_set_target_and_gains() {
    for (text, right) in [
        ("dualpi2 typical_rtt 20ms max_rtt 200ms", "target=20ms,tupdate=20ms,alpha=0.046875hz"),
        ("dualpi2 max_rtt 300ms", "target=50ms,tupdate=50ms,alpha=0.0546875hz,beta=1hz"),
    ] {
        let found = aqm_of_text(text).unwrap();
        assert!(found.text.contains(right) && found.missing.is_empty(), "{text}: {found:?}");
    }
    let step = aqm_of_text("dualpi2 step_thresh 3p").unwrap();
    assert!(step.missing[0].contains("step_thresh 3p"), "{step:?}");
}

#[test]
fn sfq_with_red_is_sfq_red() {
    let sent = "sfq redflowlimit 100000 min 8000 max 60000 probability 0.20 ecn headdrop";
    let right = "sfq_red:red_flow_limit=100000B,min_th=8000B,max_th=60000B,max_p=0.2,ecn=true,\
                 headdrop=true";
    assert_eq!(aqm(sent), right);
    let shown = aqm_of_text("sfq limit 127p depth 127 divisor 1024 ewma 6 min 8000b max 60000b");
    let shown = shown.unwrap();
    assert!(shown.text.starts_with("sfq_red:") && shown.missing[0].contains("ewma 6"));
}

#[test]
fn what_tc_refuses_for_another_option_is_refused() {
    for (options, word) in [
        ("sfq ecn", "without `redflowlimit`"),
        ("tbf rate 1mbit burst 9k latency 2ms limit 9k", "`limit` with `latency`"),
        ("netem gap 5", "without `reorder`"),
        ("netem reorder 25%", "without `delay`"),
        ("netem ecn", "without `loss`"),
    ] {
        let setup = read(&format!("tc qdisc add dev eth0 root {options}")).unwrap();
        let error = scenario(&setup, &TcWish::default()).unwrap_err().to_string();
        assert!(error.starts_with("line 1") && error.contains(word), "{options}: {error}");
    }
    let wish = TcWish { rate: Some("9mbit".to_owned()), ..TcWish::default() };
    let mq = scenario(&read("tc qdisc add dev eth0 root mq").unwrap(), &wish).unwrap_err();
    assert!(mq.to_string().contains("paste what `tc qdisc show` prints"), "{mq}");
    expect(&[
        ("tc qdisc add dev eth0 root pfifo limit 1k", &["limit=1024p"]),
        ("tc qdisc add dev eth0 root netem limit 10k", &["limit=10240p"]),
    ]);
}

#[test]
fn changes_from_a_state_that_exceed_100_percent_are_refused() {
    for (states, keys) in [("80% 20% 0% 1% 30%", "p13 and p14"), ("70% 30% 80%", "p31 and p32")] {
        let text = format!("\ntc qdisc add dev eth0 root netem loss state {states}");
        let error = read(&text).unwrap_err().to_string();
        assert!(error.starts_with("line 2") && error.contains(keys), "{error}");
    }
}

/// `tc -d` prints a size table of Ethernet without `tsize`.
#[test]
fn a_size_table_is_read_from_text_and_json() {
    expect(&[
        (
            "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 4 ver \
             3.17 direct_qlen 1000\n linklayer ethernet overhead 30 \n\
             class htb 1:10 root leaf 110: prio 0 quantum 1514 rate 9Mbit ceil 9Mbit linklayer \
             ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0 \n",
            &["framing = \"44B\""],
        ),
        (
            "qdisc tbf 1: dev eth0 root refcnt 2 rate 1Mbit burst 5Kb/1 mpu 0b lat 50ms linklayer \
             ethernet \n linklayer ethernet overhead 20 \n",
            &["framing = \"34B\""],
        ),
        (
            r#"[{"kind":"tbf","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":
            {"rate":125000,"burst":"5Kb/1","mpu":0,"lat":50000,"linklayer":"ethernet"},
            "stab":{"linklayer":"ethernet","overhead":-4}}]"#,
            &["framing = \"10B\""],
        ),
    ]);
}

#[test]
fn what_tc_prints_twice_is_one_discipline() {
    let text = "tc -d qdisc\n\
                qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 ver 3.17 direct_qlen 3\n \
                linklayer atm overhead -4 mtu 2047 tsize 512 \n\
                qdisc fq_codel 110: dev eth0 parent 1:10 limit 1001p flows 1024 quantum 1526 \
                target 17.7ms interval 112.7ms memory_limit 32Mb \n\
                tc -s qdisc\n\
                qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_qlen 3\n \
                Sent 11639966 bytes 9027 pkt (dropped 1414, overlimits 17052 requeues 0) \n \
                backlog 8003b 6p requeues 0\n\
                qdisc fq_codel 110: dev eth0 parent 1:10 limit 1001p flows 1024 quantum 1526 \
                target 17.7ms interval 112.7ms memory_limit 32Mb \n \
                Sent 11632016 bytes 9021 pkt (dropped 1414, overlimits 0 requeues 0) \n \
                backlog 8003b 6p requeues 0\n";
    let setup = read(text).unwrap();
    assert_eq!(setup.qdiscs.len(), 2);
    assert_eq!(setup.qdiscs[1].counters.dropped, Some(1414));
    let import = imported(text);
    assert!(import.toml.contains("framing = \"10B\""), "{}", import.toml);
    assert!(import.unknown.iter().any(|it| it.contains("only `tc class show` prints")));
}

#[test]
fn a_post_around_the_output_does_no_harm() {
    expect(&[(
        "My tc -s qdisc output is this, with config from /etc/config/sqm:\n\
         config queue 'eth0'\n\toption upload '900'\n\
         ==== Queues ====\n\
         qdisc cake 8021: root refcnt 2 bandwidth 831Kbit besteffort dual-srchost nonat nowash \
         ack-filter split-gso rtt 100.0ms atm overhead 10 \n Sent 381 bytes 77 pkt (dropped 0, \
         overlimits 1 requeues 12) \n backlog 10156b 7p requeues 12\n",
        &["bandwidth=831kbit", "isolation=src,ack_filter=on,overhead=10B,cells=atm"],
    )]);
}

#[test]
fn the_link_share_of_hfsc_limits_nothing() {
    expect(&[(
        "tc qdisc add dev eth0 root handle 1: hfsc default 12\n\
         tc class add dev eth0 parent 1: classid 1:1 hfsc ls m2 20mbit ul m2 20mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:12 hfsc ls m2 5mbit\n\
         tc qdisc add dev eth0 parent 1:12 fq_codel\n",
        &["rate = \"20mbit\"", "queue = \"fq_codel@linux\""],
    )]);
    expect(&[(
        "tc qdisc add dev eth0 root handle 1: hfsc default 1\n\
         tc class add dev eth0 parent 1: classid 1:1 hfsc rt m2 3mbit\n",
        &["rate = \"3mbit\""],
    )]);
}

#[test]
fn a_curve_of_hfsc_and_the_mark_of_cake_are_not_lost() {
    let import = imported(
        "tc qdisc add dev eth0 root handle 1: hfsc default 2\n\
         tc class add dev eth0 parent 1: classid 1:1 hfsc ls m2 9mbit ul m2 9mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:2 hfsc ls m1 1mbit d 25ms m2 4mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:3 hfsc ls m2 4mbit\n",
    );
    for part in [
        "rate = \"50mbit\"",
        "kind = \"hfsc\"\ndefault = \"1-2\"\n",
        "name = \"1-1\"\nls = { m2 = \"9mbit\" }\nul = { m2 = \"9mbit\" }\n",
        "parent = \"1-1\"\nls = { m1 = \"1mbit\", d = \"25ms\", m2 = \"4mbit\" }\n",
    ] {
        assert!(import.toml.contains(part), "{part}\nis not in\n{}", import.toml);
    }
    let cake = r#"[{"kind":"cake","handle":"1:","dev":"eth0","root":true,"options":{"bandwidth":
        2250000,"diffserv":"besteffort","raw":true,"overhead":0,"fwmark":"0"}}]"#;
    let unknown = imported(cake).unknown;
    assert!(!unknown.iter().any(|it| it.contains("not known") || it.contains("mark")));
}

/// A tree of qosmate with `hfsc`, and a line whose rate is limited by no class.
#[test]
fn a_tree_of_hfsc_keeps_its_curves() {
    let text = "tc qdisc replace dev eth1 stab mtu 2047 tsize 512 mpu 68 overhead 44 linklayer atm \
                handle 1: root hfsc default 13\n\
                tc class add dev eth1 parent 1: classid 1:1 hfsc ls m2 9000kbit ul m2 9000kbit\n\
                tc class add dev eth1 parent 1:1 classid 1:11 \
                hfsc rt m1 4000kbit d 20ms m2 2000kbit\n\
                tc class add dev eth1 parent 1:1 classid 1:12 \
                hfsc ls m1 6300kbit d 25ms m2 2700kbit\n\
                tc class add dev eth1 parent 1:1 classid 1:13 \
                hfsc ls m1 1800kbit d 25ms m2 4050kbit\n\
                tc class add dev eth1 parent 1:1 classid 1:14 \
                hfsc sc umax 1500b dmax 30ms rate 500kbit\n\
                tc qdisc add dev eth1 parent 1:11 handle 10: pfifo limit 60\n\
                tc qdisc add dev eth1 parent 1:12 fq_codel\n\
                tc qdisc add dev eth1 parent 1:13 fq_codel\n\
                tc qdisc add dev eth1 parent 1:14 fq_codel\n\
                tc filter add dev eth1 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc \
                classid 1:11\n";
    expect(&[(
        text,
        &[
            "rate = \"50mbit\"\nframing = \"58B\"\nmpu = \"68B\"\ncells = \"atm\"",
            "kind = \"hfsc\"\ndefault = \"1-13\"",
            "rt = { m1 = \"4mbit\", d = \"20ms\", m2 = \"2mbit\" }\ndscp = [46]",
            // 1500 B in 30 ms fit into 500 kbit/s, but are 6 ms late.
            "name = \"1-14\"\nparent = \"1-1\"\nrt = { d = \"6ms\", m2 = \"500kbit\" }\n",
        ],
    )]);
    let free = text.replace(" ul m2 9000kbit", "");
    expect(&[(&free, &["rate = \"50mbit\"\nframing", "ls = { m2 = \"9mbit\" }\n"])]);
    let refused = scenario(&read(&free).unwrap(), &TcWish::default()).unwrap_err();
    assert!(refused.message.contains("--rate 50mbit"), "{refused}");
}

/// qosmate.sh and qosmate.d of 2026; the default rates are those of its file.
#[test]
fn the_configuration_of_qosmate_becomes_its_tree() {
    let file = "config global 'global'\n\toption enabled '1'\n\nconfig settings 'settings'\n\
                \toption WAN 'eth1'\n\toption DOWNRATE '90000'\n\toption UPRATE '45000'\n\
                \toption ROOT_QDISC 'hfsc'\n\nconfig hfsc 'hfsc'\n\toption gameqdisc 'pfifo'\n\
                \toption GAMEUP ''\n\nconfig rule\n\toption name 'x'\n\tlist ip '1.2.3.4'\n";
    expect(&[(
        file,
        &[
            "[links.up]\nrate = \"50mbit\"\nframing = \"54B\"\n",
            "[links.down.scheduler]\nkind = \"hfsc\"\ndefault = \"1-13\"\n",
            "name = \"1-1\"\nls = { m2 = \"45mbit\" }\nul = { m2 = \"45mbit\" }\n",
            // 45,000 x 15 / 100 + 400 kbit/s.
            "rt = { m1 = \"43650kbit\", d = \"25ms\", m2 = \"7150kbit\" }\ndscp = [40, 46, 48, 56]",
            "queue = \"taildrop:limit=305p\"",
            "ls = { m1 = \"31500kbit\", d = \"25ms\", m2 = \"13500kbit\" }\ndscp = [32, 34, 36]",
        ],
    )]);
    let hybrid = file.replace("'hfsc'\n\nconfig", "'hybrid'\n\nconfig");
    expect(&[(&hybrid, &["name = \"1-13\"", "name = \"1-15\"", "queue = \"cake:"])]);
    let cake = "qosmate.settings=settings\nqosmate.settings.WAN='wan'\n\
                qosmate.settings.DOWNRATE='90000'\nqosmate.settings.UPRATE='5000'\n\
                qosmate.settings.ROOT_QDISC='cake'\n";
    expect(&[(cake, &["bandwidth=5mbit", "bandwidth=90mbit", "ack_filter=on", "diffserv4"])]);
    let htb = read(&file.replace("ROOT_QDISC 'hfsc'", "ROOT_QDISC 'htb'")).unwrap_err();
    assert!(htb.message.contains("`htb` is not read"), "{htb}");
    let off = read(&file.replace("enabled '1'", "enabled '0'")).unwrap_err();
    assert!(off.message.contains("not enabled"), "{off}");
}

#[test]
fn a_tree_keeps_its_classes_and_says_what_is_lost() {
    let import = imported(
        "tc qdisc add dev eth0 root handle 1: htb default 30\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 6mbit burst 15k\n\
         tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit burst 15k\n\
         tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit ceil 6mbit prio 3 quantum \
         1514\n\
         tc qdisc add dev eth0 parent 1:10 handle 10: sfq perturb 10\n\
         tc qdisc add dev eth0 parent 1:30 handle 30: sfq perturb 10\n\
         tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 22 0xffff flowid \
         1:10\n",
    );
    let lost = "the filter looks at `ip dport`";
    assert!(import.unknown.iter().any(|it| it.contains(lost)), "{:?}", import.unknown);
    for part in [
        "default = \"1-30\"",
        "name = \"1-1\"\nrate = \"6mbit\"\nburst = \"15360B\"",
        "parent = \"1-1\"\nrate = \"1mbit\"\nceil = \"6mbit\"\nquantum = \"1514B\"\nprio = 3",
    ] {
        assert!(import.toml.contains(part), "{part}\nis not in\n{}", import.toml);
    }
    let alone = imported(
        "tc qdisc add dev eth0 root handle 1: htb\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 20kbit mpu 64\n",
    );
    let found = alone.unknown.iter().any(|it| it.contains("no default class"));
    assert!(found && alone.toml.contains("mpu = \"64B\""), "{:?} {}", alone.unknown, alone.toml);
    let prio = imported("tc qdisc add dev eth0 root prio");
    // Type of service: minimal delay, then bulk (Linux 6.1 net/ipv4/route.c, ip_tos2prio).
    for part in
        ["kind = \"prio\"\ndefault = \"band-2\"", "dscp = [4, 5, 12, ", "dscp = [2, 3, 10, "]
    {
        assert!(prio.toml.contains(part), "{part}\nis not in\n{}", prio.toml);
    }
    let peak = "tc qdisc add dev eth0 root tbf limit 9000 burst 9000 rate 20000 mtu 1510 peakrate \
                30000";
    assert!(imported(peak).unknown.iter().any(|it| it.contains("`peakrate 30000`")));
}

#[test]
fn a_burst_of_several_frames_is_a_token_bucket() {
    expect(&[
        (
            "tc qdisc add dev eth0 root tbf rate 8mbit burst 10kb latency 50ms",
            &["kind = \"bucket\"", "burst = \"10240B\", line = \"50mbit\", overdraft = false"],
        ),
        (
            "tc qdisc add dev eth0 root handle 1: htb default 1\n\
             tc class add dev eth0 parent 1: classid 1:1 htb rate 8mbit burst 9k cburst 9k\n",
            &["burst = \"9216B\", line = \"50mbit\", overdraft = true"],
        ),
        (
            "tc qdisc add dev eth0 root tbf rate 8mbit burst 1540 latency 50ms",
            &["rate = \"8mbit\""],
        ),
    ]);
}

#[test]
fn cake_mq_is_read_as_one_cake_and_says_so() {
    let import = imported("tc qdisc add dev eth0 root cake_mq bandwidth 1gbit besteffort");
    assert!(import.toml.contains("queue = \"cake:bandwidth=1gbit\""), "{}", import.toml);
    assert!(import.unknown.iter().any(|it| it.contains("busy transmit queues")));
}

/// sqm-scripts 1.6 src/functions.sh, simple.qos.
#[test]
fn sqm_is_read_from_uci_and_from_variables() {
    let shown = "sqm.eth1=queue\nsqm.eth1.enabled='1'\nsqm.eth1.interface='eth1'\n\
                 sqm.eth1.download='0'\nsqm.eth1.upload='10000'\nsqm.eth1.qdisc='fq_codel'\n\
                 sqm.eth1.script='simple.qos'\nsqm.eth1.linklayer='ethernet'\n\
                 sqm.eth1.overhead='44'\n";
    expect(&[
        (
            shown,
            &[
                "framing = \"58B\"",
                "default = \"1-12\"",
                "rate = \"128kbit\"\nceil = \"3333kbit\"\nburst = \"1749B\"\ncburst = \"1749B\"\n\
                 quantum = \"1749B\"\nprio = 1\ndscp = [4, 20, 36, 46, 48, 52]\n",
                "rate = \"1666kbit\"\nceil = \"9984kbit\"",
                "prio = 3\ndscp = [8]\n",
                "quantum=300B",
            ],
        ),
        (
            "UPLINK=10000\nDOWNLINK=0\nSCRIPT=piece_of_cake.qos\nLINKLAYER=atm\nOVERHEAD=44\n",
            &["bandwidth=10mbit", "overhead=44B,cells=atm"],
        ),
        (
            &shown.replace("simple.qos", "piece_of_cake.qos"),
            &["bandwidth=10mbit", "overhead=44B", "framing = \"0B\""],
        ),
        (
            &(shown.replace("simple.qos", "piece_of_cake.qos")
                + "sqm.eth1.linklayer_adaptation_mechanism='tc_stab'\n"),
            &["bandwidth=10mbit", "framing = \"58B\""],
        ),
    ]);
    let of_cake = shown.to_owned() + "sqm.eth1.eqdisc_opts='nat dual-srchost'\n";
    let refused = read(&of_cake).unwrap_err();
    assert!(refused.place == "line 10" && refused.message.contains("no option `nat`"), "{refused}");
    for etarget in ["20", "20m\u{e9}", "20ms\u{d691a}"] {
        let import = imported(&format!("{shown}sqm.eth1.etarget='{etarget}'\n"));
        assert!(!import.toml.contains("target="), "{}", import.toml);
        assert!(import.unknown.iter().any(|it| it.contains("has no unit")), "{:?}", import.unknown);
    }
}

/// A script with variables named like those of sqm-scripts used to be read as their configuration.
#[test]
fn a_script_is_read_with_its_variables_and_what_it_computes() {
    let script = "UPLINK=950\nDEV=ppp0\ntc qdisc del dev $DEV root 2> /dev/null > /dev/null\n\
                  tc qdisc add dev $DEV root handle 1: htb default 20\n\
                  tc class add dev $DEV parent 1: classid 1:1 htb rate ${UPLINK}kbit burst 6k\n\
                  tc class add dev $DEV parent 1:1 classid 1:10 htb rate ${UPLINK}kbit prio 1\n\
                  tc class add dev $DEV parent 1:1 classid 1:20 htb rate $[9*$UPLINK/10]kbit \
                  ceil $((UPLINK - 10))kbit prio 2\n\
                  tc qdisc add dev $DEV parent 1:20 handle 20: sfq perturb 10\n";
    let import = imported(script);
    for part in
        ["queue = \"sfq:perturb=10s\"", "rate = \"950kbit\"", "rate = \"855kbit\"", "940kbit"]
    {
        assert!(import.toml.contains(part), "{part}: {}", import.toml);
    }
    let refused = read(&script.replace("950", "$(cat rate)")).unwrap_err();
    assert!(refused.message.contains("variable of a shell"), "{refused}");
    let interfaces = "iface eth0 inet dhcp\n  post-up tc qdisc add dev eth0 root cake bandwidth \
                      20mbit ethernet\n";
    assert!(imported(interfaces).toml.contains("bandwidth=20mbit"));
}

/// The script wondershaper 1.1, and `action police` as the manual page tc-police(8) has it.
#[test]
fn a_policer_of_arrivals_becomes_that_of_the_link_down() {
    let ingress = "tc qdisc add dev eth0 handle ffff: ingress\n";
    let wondershaper = "tc filter add dev eth0 parent ffff: protocol ip prio 50 u32 match ip src \
                        0.0.0.0/0 police rate 800kbit burst 10k drop flowid :1\n";
    let action = "tc filter add dev eth0 ingress matchall action police rate 800kbit burst 10k \
                  mtu 64kb conform-exceed drop\n";
    let shaper = "tc qdisc add dev eth0 root tbf rate 2mbit burst 5k latency 50ms\n";
    let policer = "queue = \"taildrop:limit=1000p\"\npolicer = { rate = \"800kbit\", burst = \
                   \"10240B\" }\n";
    for filter in [wondershaper, action] {
        let both = imported(&format!("{shaper}{ingress}{filter}")).toml;
        assert!(both.contains("[links.up]") && both.contains(policer), "{both}");
        assert!(both.contains("[links.down]\nrate = \"50mbit\"\nframing = \"0B\""), "{both}");
        let alone = imported(&format!("{ingress}{filter}")).toml;
        assert!(!alone.contains("[links.up]") && alone.contains(policer), "{alone}");
    }
    let redirect = action.replace(
        "conform-exceed drop",
        "conform-exceed drop/pipe action mirred \
                                   egress redirect dev ifb0",
    );
    let ifb =
        format!("{shaper}{ingress}{redirect}tc qdisc add dev ifb0 root cake bandwidth 5mbit\n");
    let ifb = imported(&ifb);
    assert!(ifb.toml.contains("\"\npolicer = { rate = \"800kbit\""), "{}", ifb.toml);
    let egress = "tc qdisc add dev eth0 clsact\ntc filter add dev eth0 egress matchall action \
                  police rate 1mbit burst 20k conform-exceed drop\n";
    let egress = imported(&format!("{shaper}{egress}")).toml;
    assert!(egress.contains("policer = { rate = \"1mbit\", burst = \"20480B\" }"), "{egress}");
}

/// iproute2 6.1 tc/m_police.c, parse_police.
#[test]
fn what_a_policer_here_cannot_do_leaves_it_out_in_words() {
    for (filter, why) in [
        ("matchall action police rate 1mbit burst 10k peakrate 2mbit drop", "`peakrate 2mbit`"),
        ("matchall action police avrate 1mbit drop", "`avrate 1mbit`"),
        ("matchall action police rate 1mbit burst 10k mtu 1000 drop", "`mtu 1000`"),
        ("matchall action police rate 1mbit burst 10k", "does not drop"),
        ("matchall action police rate 1mbit drop", "without burst"),
        ("u32 match ip src 10.0.0.1 police rate 1mbit burst 10k drop", "`ip src 10.0.0.1`"),
        ("u32 match ip dsfield 0xb8 0xfc police rate 1mbit burst 10k drop", "the DSCP"),
    ] {
        let text = format!(
            "tc qdisc add dev eth0 ingress\ntc filter add dev eth0 parent ffff: {filter}\n"
        );
        let setup = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let note = setup.notes.iter().find(|it| it.text.contains("the policer is left out"));
        assert!(note.is_some_and(|it| it.text.contains(why)), "{filter}: {:?}", setup.notes);
        let refused = scenario(&setup, &TcWish::default()).unwrap_err();
        assert!(refused.message.contains("a policer alone"), "{refused}");
    }
}

#[test]
fn a_whole_line_may_follow_the_prefix_of_an_aqm() {
    assert_eq!(
        aqm("qdisc codel 8001: dev eth0 root refcnt 2 limit 1000p target 5ms interval 100ms ecn"),
        "codel@linux:limit=1000p,target=5ms,interval=100ms,ecn=true"
    );
    assert_eq!(aqm("tc qdisc add dev eth0 root pie target 20ms"), "pie@linux:target=20ms");
}

#[test]
fn every_device_of_a_post_has_a_line() {
    let text = "qdisc noqueue 0: dev lo root refcnt 2 \nqdisc mq 0: dev eth0 root \n\
                qdisc fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024 quantum 1514 target \
                5ms interval 100ms memory_limit 4Mb ecn drop_batch 64 \n\
                qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target \
                5ms interval 100ms memory_limit 4Mb ecn drop_batch 64 \n";
    let setup = read(text).unwrap();
    let all = lines(&setup);
    assert_eq!(
        all.iter().map(|it| it.chain.join(">")).collect::<Vec<_>>(),
        ["noqueue", "mq>fq_codel"]
    );
}

/// Filters by DSCP: the first match decides, and lower priority numbers are tried first.
#[test]
fn filters_by_dscp_choose_the_class() {
    let tree = "tc qdisc add dev eth0 root handle 1: htb default 12\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:11 htb rate 1mbit ceil 3mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:12 htb rate 1mbit ceil 9mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:13 htb rate 1mbit ceil 9mbit\n";
    let add = "tc filter add dev eth0 parent 1: protocol ip";
    let of = |filters: &str| imported(&format!("{tree}{}", filters.replace("ADD", add))).toml;
    let has = |toml: &str, class: &str, ceil: &str, dscp: &str| {
        let text = format!(
            "name = \"{class}\"\nparent = \"1-1\"\nrate = \"1mbit\"\nceil = \
                            \"{ceil}\"\n{dscp}"
        );
        assert!(toml.contains(&text), "{text}\nis not in\n{toml}");
    };
    let toml = of("ADD prio 1 u32 match ip tos 0xb8 0xfc flowid 1:11\n\
                   ADD prio 2 u32 match ip dsfield 0xa0 0xe0 classid 1:13\n");
    has(&toml, "1-11", "3mbit", "dscp = [46]\n");
    has(&toml, "1-13", "9mbit", "dscp = [40, 41, 42, 43, 44, 45, 47]\n");
    let toml = of("ADD pref 9 flower ip_tos 0x20/0xfc classid 1:11\n\
                   ADD prio 10 matchall classid 1:13\n");
    has(&toml, "1-11", "3mbit", "dscp = [8]\n");
    has(&toml, "1-13", "9mbit", "dscp = [0, 1, 2, 3, 4, 5, 6, 7, 9, ");
    // Without a number, the last filter is tried first.
    let toml = of("ADD u32 match ip protocol 0 0x00 flowid 1:11\n\
                   ADD u32 match ip tos 0x10 0xff flowid 1:13\n");
    has(&toml, "1-13", "9mbit", "dscp = [4]\n");
    has(&toml, "1-11", "3mbit", "dscp = [0, 1, 2, 3, 5, ");
}

#[test]
fn classes_as_tc_prints_them_are_a_tree() {
    let import = imported(
        "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x12 direct_packets_stat 0\n\
         qdisc fq_codel 111: dev eth0 parent 1:11 limit 1001p flows 1024 quantum 300 target 5ms \
         interval 100ms memory_limit 4Mb ecn\n\
         qdisc fq_codel 112: dev eth0 parent 1:12 limit 1001p flows 1024 quantum 300 target 5ms \
         interval 100ms memory_limit 4Mb ecn\n\
         class htb 1:11 parent 1:1 leaf 111: prio 1 quantum 300 rate 128Kbit ceil 3333Kbit burst \
         1749b cburst 1749b\n\
         class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b\n\
         class htb 1:12 parent 1:1 leaf 112: prio 2 quantum 300 rate 1666Kbit ceil 9984Kbit burst \
         1749b cburst 1749b\n",
    );
    let toml = &import.toml;
    for part in [
        "default = \"1-12\"",
        "name = \"1-1\"\nrate = \"10mbit\"\nceil = \"10mbit\"\n\n",
        "name = \"1-11\"\nparent = \"1-1\"\nrate = \"128kbit\"\nceil = \"3333kbit\"\nburst = \
         \"1749B\"\ncburst = \"1749B\"\nquantum = \"300B\"\nprio = 1\n",
    ] {
        assert!(toml.contains(part), "{part}\nis not in\n{toml}");
    }
}

/// Linux 6.1 sch_netem.c, tabledist: the remainders of correlated draws are independent.
#[test]
fn the_correlation_of_delays_has_no_effect_and_needs_no_counterpart() {
    let text = "tc qdisc add dev eth0 root netem delay 100ms 20ms 25% loss 0.3% 25% rate 20mbit";
    let found = imported(text);
    assert!(found.toml.contains("rate = 0.003, correlation = 0.25"), "{}", found.toml);
    assert!(!found.unknown.iter().any(|it| it.contains("correl")), "{:?}", found.unknown);
    let found = imported(&text.replace("20ms 25%", "20ms 99.5%"));
    let known = "the correlation 99.5% in `delay 100ms 20ms 99.5%` of netem (line 1)";
    assert!(found.unknown.iter().any(|it| it.starts_with(known)), "{:?}", found.unknown);
}
