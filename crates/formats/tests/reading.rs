//! Texts of every format as people post them, and their results.

use sojourn_formats::tc::{
    TcNoteKind, TcSetup, TcValue, TcWish, aqm_of_text, lines, looks_like_tc, read, scenario,
};

fn setup(text: &str) -> TcSetup {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> String {
    let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
    match read(text).and_then(|setup| scenario(&setup, &wish)) {
        Ok(import) => panic!("{text} became\n{}", import.toml),
        Err(error) => error.to_string(),
    }
}

/// The queue and rate of the only line.
fn line(text: &str) -> (Option<u64>, String) {
    let setup = setup(text);
    let all = lines(&setup);
    let [line] = all.as_slice() else { panic!("{} lines in {text}", all.len()) };
    let aqm = line.aqm.as_ref().map(|it| it.text.clone());
    (line.bps(), aqm.unwrap_or_else(|| format!("{:?}", line.refused)))
}

fn imported(text: &str) -> sojourn_formats::tc::TcImport {
    let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
    scenario(&setup(text), &wish).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const SHOWN: &str = "\
qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 1001p flows 1024 quantum 300 \
target 14.0ms interval 109.0ms memory_limit 4Mb ecn drop_batch 64 
 Sent 123456 bytes 789 pkt (dropped 12, overlimits 0 requeues 3) 
 backlog 1514b 1p requeues 3
  maxpacket 1514 drop_overlimit 0 new_flow_count 42 ecn_mark 0
  new_flows_len 0 old_flows_len 1
";
const FQ_CODEL: &str = "fq_codel@linux:ecn=true,limit=1001p,flows=1024,quantum=300B,\
                        target=14ms,interval=109ms,memory_limit=4194304B,drop_batch=64";

fn normal(aqm: &str) -> Vec<String> {
    let (head, settings) = aqm.split_once(':').unwrap_or((aqm, ""));
    let mut all: Vec<String> = settings.split(',').map(str::to_owned).collect();
    all.sort();
    all.insert(0, head.to_owned());
    all
}

#[test]
fn a_shown_discipline_is_read_with_its_counters() {
    let (_, aqm) = line(SHOWN);
    assert_eq!(normal(&aqm), normal(FQ_CODEL));
    let counters = setup(SHOWN).qdiscs[0].counters;
    assert_eq!(counters.sent_packets, Some(789));
    assert_eq!(counters.dropped, Some(12));
    assert_eq!(counters.largest, Some(1514));
    assert_eq!(counters.backlog_packets, Some(1));
}

#[test]
fn lost_indentation_lost_lines_quotation_and_dos_line_ends_change_nothing() {
    let flat: String = SHOWN.lines().map(|line| line.trim().to_owned() + "\n").collect();
    let joined = SHOWN.replace('\n', " ");
    let quoted: String = SHOWN.lines().map(|line| format!("> {line}\n")).collect();
    let dos = SHOWN.replace('\n', "\r\n");
    let wrapped = SHOWN.replace(" quantum", "\nquantum");
    for text in [flat, joined, quoted, dos, wrapped] {
        assert_eq!(normal(&line(&text).1), normal(FQ_CODEL), "{text}");
    }
}

#[test]
fn a_flag_that_a_state_does_not_show_is_off_and_one_that_a_command_leaves_out_is_the_kernels() {
    assert!(
        line("qdisc fq_codel 0: dev eth0 root limit 10240p flows 1024").1.contains("ecn=false")
    );
    assert!(!line("tc qdisc add dev eth0 root fq_codel").1.contains("ecn"));
}

#[test]
fn the_device_is_that_of_the_command_before_the_output() {
    let text = "root@OpenWrt:~# tc -s qdisc show dev wan\nqdisc pie 8002: root refcnt 2 \
                limit 1000p target 15ms tupdate 15ms alpha 2 beta 20\n";
    assert_eq!(setup(text).devices(), ["wan"]);
    assert!(line(text).1.contains("alpha=0.125hz,beta=1.25hz"));
}

#[test]
fn each_command_of_a_post_names_the_device_of_its_output() {
    for prompt in ["# ", "$ ", "router# ", "[root@gw ~]# ", "gw$ sudo ", ""] {
        let text = format!(
            "{prompt}tc -s qdisc show dev eth1\nqdisc pie 8002: root refcnt 2 limit 1000p\n\
             {prompt}tc -s -d qdisc show dev eth2\nqdisc codel 8003: root refcnt 2 limit 7p\n"
        );
        assert_eq!(setup(&text).devices(), ["eth1", "eth2"], "{prompt}");
    }
    let comment = "# tc qdisc add dev eth1 root pie\ntc qdisc add dev eth0 root codel\n";
    assert_eq!(setup(comment).devices(), ["eth0"]);
}

#[test]
fn a_rounded_time_is_noted_as_rounded() {
    let setup = setup("qdisc codel 1: dev eth0 root limit 1000p target 4.99ms interval 100ms");
    let note = &setup.notes[0];
    assert_eq!(note.kind, TcNoteKind::Rounded);
    assert!(note.text.contains("target 4.99ms") && note.text.contains("tc -j"), "{}", note.text);
}

#[test]
fn json_is_exact_and_counts_bytes_per_second() {
    let text = r#"[{"kind":"tbf","handle":"1:","dev":"eth0","root":true,"options":{"rate":1250000,
        "burst":"5Kb/1","mpu":0,"lat":50000}},
        {"kind":"fq_codel","handle":"2:","dev":"eth0","parent":"1:1","options":{"limit":1000,
        "flows":1024,"quantum":1514,"target":4999,"interval":99999,"memory_limit":33554432,
        "ecn":true,"drop_batch":64},"bytes":10,"packets":1,"drops":0,"qlen":0,"maxpacket":1514}]"#;
    let (bps, aqm) = line(text);
    assert_eq!(bps, Some(10_000_000));
    assert!(aqm.contains("target=4999us,interval=99999us"), "{aqm}");
    let cake = r#"[{"kind":"cake","handle":"8001:","dev":"eth0","root":true,"options":{"bandwidth":
        2500000,"diffserv":"besteffort","flowmode":"dual-srchost","nat":true,"wash":false,
        "ingress":false,"ack-filter":"disabled","split-gso":null,"rtt":100000,"raw":false,
        "atm":"atm","overhead":40,"memlimit":0,"fwmark":"0"}}]"#;
    let (bps, aqm) = line(cake);
    assert_eq!(bps, Some(20_000_000));
    let right =
        "cake:bandwidth=20mbit,interval=100ms,target=5ms,isolation=src,overhead=40B,cells=atm";
    assert_eq!(normal(&aqm), normal(right));
}

#[test]
fn rtt_of_cake_sets_the_target_and_overhead_keywords_add_up() {
    for (options, right) in [
        ("rtt 30ms", "cake:interval=30ms,target=1500us"),
        ("regional", "cake:interval=30ms,target=1500us"),
        ("lan", "cake:interval=1ms,target=50us"),
        ("oceanic", "cake:interval=300ms,target=15ms"),
        ("rtt 200", "cake:interval=200us,target=10us"),
        ("ethernet ether-vlan", "cake:overhead=42B,mpu=84B"),
        ("conservative", "cake:overhead=48B,cells=atm"),
        ("pppoe-ptm ether-vlan", "cake:overhead=34B,cells=ptm"),
        ("docsis", "cake:overhead=18B,mpu=64B"),
        ("unlimited raw", "cake:"),
        ("wash ingress", "cake:wash=true,ingress=true"),
    ] {
        let aqm = aqm_of_text(&format!("cake besteffort {options}")).unwrap();
        assert_eq!(normal(&aqm.text), normal(right), "{options}");
    }
}

#[test]
fn a_line_of_cake_as_printed_is_read_whole() {
    let text = "qdisc cake 8009: dev eth0 root refcnt 2 bandwidth 19Mbit diffserv3 triple-isolate \
                nonat nowash no-ack-filter split-gso rtt 100ms noatm overhead 18 mpu 64 \n Sent 1 \
                bytes 2 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n";
    let (bps, aqm) = line(text);
    assert_eq!(bps, Some(19_000_000));
    let right =
        "cake:bandwidth=19mbit,interval=100ms,target=5ms,diffserv=diffserv3,overhead=18B,mpu=64B";
    assert_eq!(normal(&aqm), normal(right));
}

#[test]
fn the_default_class_of_htb_is_hexadecimal_and_its_slowest_ancestor_is_the_rate() {
    let text = "tc qdisc add dev eth0 root handle 1: htb default 12\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 8mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:12 htb rate 1mbit ceil 20mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:c htb rate 2mbit\n\
                tc qdisc add dev eth0 parent 1:12 fq_codel limit 500\n\
                tc qdisc add dev eth0 parent 1:c pfifo limit 10\n";
    assert_eq!(line(text), (Some(8_000_000), "fq_codel@linux:limit=500p".to_owned()));
}

#[test]
fn classes_without_a_device_belong_to_the_discipline_of_their_number() {
    let text = "qdisc htb 1: dev eth0 root r2q 10 default 0x10\n\
                qdisc fq_codel 2: dev eth0 parent 1:10 limit 500p flows 1024 ecn\n\
                class htb 1:10 root leaf 2: prio 0 rate 1Mbit ceil 1Mbit burst 1600b\n";
    assert_eq!(line(text).0, Some(1_000_000));
    let two = format!("{text}qdisc htb 1: dev eth1 root r2q 10 default 0x10\n");
    assert!(setup(&two).notes.iter().any(|it| it.text.contains("several devices")));
}

/// Output of iproute2 6.1 for filters that lead EF to 1:11, CS1 to 1:12 and the rest nowhere.
const FILTERS: &str = "\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x12 direct_packets_stat 0 direct_qlen 1000
class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b
class htb 1:11 parent 1:1 prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b
class htb 1:12 parent 1:1 prio 0 rate 8Mbit ceil 10Mbit burst 1600b cburst 1599b
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid \
1:11 not_in_hw 
  match 00b80000/00fc0000 at 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::801 order 2049 key ht 800 bkt 0 *flowid \
1:11 not_in_hw
  match 0a000000/ff000000 at 12
filter parent 1: protocol ip pref 2 flower chain 0 handle 0x1 classid 1:12
  eth_type ipv4
  ip_tos 32/0xfc
  not_in_hw
filter parent 1: protocol ip pref 3 fw chain 0 handle 0x1 classid 1:12
filter parent 1: protocol ipv6 pref 4 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 *flowid \
1:12 not_in_hw
  match 02000000/0fc00000 at 0
filter parent ffff: protocol all pref 49152 matchall chain 0
filter parent ffff: protocol all pref 49152 matchall chain 0 handle 0x1
  not_in_hw (rule hit 0)
	action order 1: mirred (Egress Redirect to device ifb0) stolen
 	index 1 ref 1 bind 1
";

#[test]
fn filters_that_tc_shows_choose_classes_and_unread_ones_are_named() {
    let text = format!("root@gw:~# tc filter show dev eth0\n{FILTERS}");
    let found = setup(&text);
    let filters: Vec<_> = found.filters.iter().map(|it| (it.dscp, it.class.as_str())).collect();
    assert_eq!(filters, [(1 << 46, "1:11"), (1 << 8, "1:12"), (1 << 8, "1:12")]);
    assert_eq!((&*found.redirects[0].from, &*found.redirects[0].to), ("eth0", "ifb0"));
    let notes: Vec<_> = found.notes.iter().map(|it| (it.line, it.text.as_str())).collect();
    let [(10, addresses), (16, mark)] = notes[..] else { panic!("{notes:?}") };
    assert!(addresses.contains("`match 0a000000/ff000000 at 12`"), "{addresses}");
    assert!(mark.contains("`fw`"), "{mark}");
    let toml = imported(&text).toml;
    assert!(toml.contains("dscp = [46]") || toml.contains("dscp = [\"ef\"]"), "{toml}");
}

#[test]
fn filters_without_a_device_belong_to_the_discipline_of_their_number() {
    let found = setup(FILTERS);
    assert!(found.filters.iter().all(|it| it.device == "eth0"), "{:?}", found.filters);
    let flat = FILTERS.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(setup(&flat).filters, found.filters);
}

#[test]
fn tbf_alone_is_a_queue_in_bytes() {
    let text = "tc qdisc add dev eth0 root tbf rate 8mbit burst 10kb latency 50ms";
    // The limit is 50 ms at 1 MB/s plus the burst (tc-tbf(8)).
    assert_eq!(line(text), (Some(8_000_000), "taildrop@bytes:limit=60240B".to_owned()));
}

#[test]
fn netem_adds_delay_jitter_and_loss_to_the_wire() {
    let text = "tc qdisc add dev eth0 root handle 1: netem delay 40ms 10ms loss 1% rate 10mbit\n\
                tc qdisc add dev eth0 parent 1: fq_codel\n";
    let toml = imported(text).toml;
    for part in [
        "delay = \"30ms\"",
        "jitter = { kind = \"uniform\", max = \"20ms\", reorder = false }",
        "loss = { kind = \"bernoulli\", rate = 0.01 }",
        "rate = \"10mbit\"",
        "rtt = \"70ms\"",
    ] {
        assert!(toml.contains(part), "{part} in\n{toml}");
    }
}

#[test]
fn an_overhead_of_stab_counts_from_the_frame() {
    let toml = |stab: &str, dev: &str| {
        imported(&format!(
            "tc qdisc add dev {dev} root handle 1: {stab} tbf rate 8mbit burst 10kb latency 50ms"
        ))
        .toml
    };
    assert!(toml("stab overhead 26 linklayer ethernet", "eth0").contains("framing = \"40B\""));
    assert!(toml("", "eth0").contains("framing = \"14B\""));
    assert!(toml("", "ppp0").contains("framing = \"0B\""));
    let atm = imported(
        "tc qdisc add dev eth0 root stab overhead 26 linklayer atm tbf rate 8mbit \
         burst 10kb lat 50ms",
    );
    assert!(atm.toml.contains("framing = \"40B\"\ncells = \"atm\"\n"), "{}", atm.toml);
    let own = imported(
        "tc qdisc add dev eth0 root tbf rate 8mbit burst 10kb lat 50ms overhead 26 linklayer atm",
    );
    // Only the bucket counts the bytes that tbf itself adds.
    assert!(own.toml.contains("framing = \"14B\"\nqueue"), "{}", own.toml);
    assert!(own.toml.contains("overhead = \"26B\", cells = \"atm\" }"), "{}", own.toml);
}

const SQM: &str = "\
config queue 'eth1'
\toption enabled '1'
\toption interface 'eth1'
\toption download '85000'
\toption upload '10000'
\toption qdisc 'cake'
\toption script 'piece_of_cake.qos'
\toption linklayer 'ethernet'
\toption overhead '44'
";

#[test]
fn sqm_becomes_both_directions() {
    let import = imported(SQM);
    for part in [
        "[links.up]\nrate = \"10mbit\"",
        "[links.down]\nrate = \"85mbit\"",
        "cake:bandwidth=85mbit,wash=true,overhead=44B",
    ] {
        assert!(import.toml.contains(part), "{part} in\n{}", import.toml);
    }
    let without = SQM.replace("'ethernet'", "'none'");
    let notes = setup(&without).notes;
    assert!(notes.iter().any(|it| it.kind == TcNoteKind::Ineffective && it.line == 9), "{notes:?}");
    let simple = SQM.replace("piece_of_cake", "simplest").replace("'cake'", "'fq_codel'");
    let import = imported(&simple);
    assert!(import.toml.contains("target=5ms,interval=100ms"), "{}", import.toml);
    assert!(import.toml.contains("framing = \"58B\""), "{}", import.toml);
}

#[test]
fn what_is_wrong_is_refused_with_its_place_and_a_remedy() {
    for (text, place, word) in [
        ("", "", "empty"),
        ("hello world", "", "this is not from tc"),
        ("<pre>qdisc fq_codel 1: dev eth0 root</pre>", "line 1", "HTML"),
        ("\u{1}qdisc", "line 1", "control characters"),
        ("tc qdisc add dev eth0 root fq_codel limit", "line 1", "lacks its value"),
        ("tc qdisc add dev eth0 root fq_codel limit 1000p", "line 1", "write 1000"),
        ("tc qdisc add dev eth0 root fq_codel limi 1000", "line 1", "no option `limi`"),
        (
            "tc qdisc add dev eth0 root choke limit 100 bandwidth 10mbit harddrop",
            "line 1",
            "choke has no option `harddrop`",
        ),
        ("tc qdisc add dev eth0 root red limit 1m avpkt 1000 ewma 3", "line 1", "no option `ewma`"),
        ("tc qdisc add dev eth0 root tbf rate 10m burst 5k lat 50ms", "line 1", "is not a rate"),
        ("tc qdisc add dev eth0 root cake_lite", "line 1", "fork"),
        ("tc qdisc add dev eth0 root cake diffserv3 diffserv4", "line 1", "contradict"),
        ("tc qdisc add dev eth0 root codel ecn noecn", "line 1", "contradict"),
        ("tc qdisc add dev eth0 root codel limit 5 limit 6", "line 1", "contradict"),
        ("tc qdisc add root codel", "line 1", "no device"),
        ("tc qdisc add dev eth0 codel", "line 1", "does not say where"),
        ("tc qdisc add dev $WAN root codel", "line 1", "variable"),
        ("tc qdisc add dev eth0 root netem delay 100", "line 1", "no unit"),
        ("tc qdisc change dev eth0 root codel", "line 1", "replace"),
        (
            "tc qdisc add dev eth0 root codel\ntc qdisc add dev eth0 root pie",
            "line 2",
            "File exists",
        ),
        (
            "tc qdisc add dev eth0 root netem delay 9ms\ntc qdisc add dev eth0 parent 1: codel",
            "line 2",
            "has the handle 1:; write `handle 1:` before `netem` in line 1",
        ),
        (
            "tc qdisc add dev eth0 root handle 2: htb\n\
             tc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit",
            "line 2",
            "Failed to find specified qdisc",
        ),
        ("tc qdisc add dev eth0 root fq_codel", "", "--rate"),
        ("tc qdisc add dev eth0 root cake bandwidth 9mbit overhead -65", "line 1", "from -64 to"),
        ("tc qdisc add dev eth0 root handle 10000: pfifo", "line 1", "such as 1:"),
        ("tc qdisc add dev eth0 parent 1:1x pfifo", "line 1", "such as 1:10"),
        ("tc qdisc add dev eth0 root red nodrop limit 1m avpkt 1000", "line 1", "without `ecn`"),
        ("tc qdisc add dev eth0 root hhf", "line 1", "put an AQM such as fq_codel in its place"),
        (
            "tc qdisc add dev eth0 root handle 1: htb\ntc qdisc replace dev eth0 root htb r2q 5",
            "line 2",
            "cannot change the htb of line 1",
        ),
        ("base_dl_shaper_rate_kbps=fast", "line 1", "not a rate in kbit/s"),
        ("qdisc fq_codel", "line 1", "ends before its handle"),
        ("qdisc fq_codel 8001: dev eth0 root limit 10240p flows", "line 1", "lacks its value"),
        ("[{\"kind\":", "line 1", "cut off"),
        ("config queue\n\toption upload '10", "line 2", "does not end"),
        ("config qosmate 'x'\n", "", "qosmate"),
        ("tc qdisc add dev eth0 root codel\nqdisc codel 1: dev eth0 root", "", "one of the two"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(place) && error.contains(word), "{text}\n{error}");
    }
}

#[test]
fn a_parent_may_be_a_number_of_the_kernel_or_of_a_set_up_that_the_text_lacks() {
    for text in [
        "tc qdisc add dev eth0 root tbf rate 9mbit burst 5k lat 50ms\n\
         tc qdisc add dev eth0 parent 8001: codel",
        "tc qdisc add dev eth0 parent 1: handle 10: codel",
    ] {
        assert_eq!(setup(text).notes, [], "{text}");
    }
}

/// iproute2 6.1 tc/q_choke.c prints RED's flags but reads only `ecn`.
#[test]
fn what_tc_only_prints_is_read_from_a_state() {
    let text = "qdisc tbf 1: dev eth0 root rate 10Mbit burst 5Kb lat 50ms\n\
                qdisc choke 2: dev eth0 parent 1:1 limit 100p min 8p max 25p harddrop\n";
    assert!(line(text).1.contains("hard_drop=true"), "{:?}", line(text));
}

#[test]
fn what_a_state_has_and_we_have_not_is_noted_with_its_line() {
    let text = "qdisc cake 1: dev eth0 root bandwidth 10Mbit diffserv3 no-sce rtt 100ms raw\n\
                qdisc hhf 2: dev eth1 root limit 1000p\n";
    let notes = setup(text).notes;
    assert!(notes[0].text.contains("no-sce") && notes[0].line == 1, "{notes:?}");
    assert!(notes[1].text.contains("hhf") && notes[1].line == 2, "{notes:?}");
    let cut = "qdisc cake 1: dev eth0 root bandwidth 10Mbit raw\n Sent 1 bytes 2 pkt (dropped \
               0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n thresh 10Mbit\n target \
               5ms\n";
    let notes = setup(cut).notes;
    assert!(notes[0].text.contains("cut off") && notes[0].line == 5, "{notes:?}");
}

#[test]
fn several_devices_with_queues_need_a_choice() {
    let text = "qdisc tbf 1: dev eth0 root rate 1Mbit burst 5Kb lat 50ms\n\
                qdisc tbf 1: dev eth1 root rate 2Mbit burst 5Kb lat 50ms\n";
    assert!(refused(text).contains("--dev eth0"));
    let device = Some("eth1".to_owned());
    let wish = TcWish { name: "t".to_owned(), device, ..TcWish::default() };
    assert!(scenario(&setup(text), &wish).unwrap().toml.contains("2mbit"));
}

#[test]
fn a_script_with_comments_continuations_and_a_redirection_is_read() {
    let text = "#!/bin/sh\n# shape\nip link add ifb0 type ifb\n\
                sudo tc qdisc replace dev eth0 root cake bandwidth 10mbit besteffort \\\n  \
                overhead 18 2>/dev/null || true\n\
                tc qdisc add dev eth0 handle ffff: ingress && tc qdisc add dev ifb0 root cake \
                bandwidth 50mbit besteffort # down\n\
                tc filter add dev eth0 parent ffff: matchall action mirred egress \
                redirect dev ifb0\n";
    let toml = imported(text).toml;
    assert!(toml.contains("[links.up]\nrate = \"10mbit\""), "{toml}");
    assert!(toml.contains("[links.down]\nrate = \"50mbit\""), "{toml}");
}

#[test]
fn sfb_of_a_command_has_the_steps_of_tc_and_sfq_its_seconds() {
    assert!(aqm_of_text("sfb").unwrap().text.contains("increment=0.00050354"));
    assert_eq!(aqm_of_text("sfq perturb 10").unwrap().text, "sfq:perturb=10s");
    assert_eq!(
        aqm_of_text("sfq perturb 10sec flows 127/1024").unwrap().text,
        "sfq:perturb=10s,flows=127"
    );
    let red = aqm_of_text("red limit 400Kb min 83Kb max 250Kb adaptive").unwrap();
    assert!(red.text.starts_with("ared@linux:limit=409600B"), "{}", red.text);
}

#[test]
fn a_text_of_tc_is_distinguished_from_one_of_ours() {
    assert!(looks_like_tc("fq_codel limit 1001p flows 1024"));
    assert!(!looks_like_tc("fq_codel:limit=1000p"));
    assert!(!looks_like_tc("fq_codel"));
    assert!(matches!(setup(SHOWN).qdiscs[0].options[0].value, TcValue::Count(1001)));
}
