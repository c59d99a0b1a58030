//! Scripts of the shell around tc, as far as their text decides what they do, and tc's abbreviated
//! words.

mod common;

use common::{attempted, expect, refused};

/// iproute2 6.18 lib/utils.c, `matches`; tc/q_htb.c, q_tbf.c, tc_stab.c, tc_filter.c.
#[test]
fn words_that_tc_takes_by_their_beginning_are_whole() {
    expect(&[
        ("tc q a dev d root fq_codel limit 9", &["limit=9p"]),
        ("q a dev d root codel limit 9\n", &["limit=9p"]),
        (
            "tc qd add dev d root handle 1: stab over 20 link a htb def 30\n\
             tc cl add dev d parent 1: classid 1:30 htb rate 6mbit b 9k c 9k over 8\n\
             tc q a dev d parent 1:30 handle 30 codel\n",
            &["framing = \"34B\"\ncells = \"atm\"", "burst = \"9216B\"", "overhead = \"8B\""],
        ),
        ("tc q a dev d root tbf rate 1mbit bur 1600 l 9000", &["taildrop@bytes:limit=9000B"]),
        (
            "tc q a dev d root handle 1: prio\n\
             tc f a dev d prot ip pri 1 u32 match ip tos 0xb8 0xfc flowid 1:1\n",
            &["dscp = [4, 5, 12, 13, 20, 21, 28, 29, 36, 37, 44, 45, 46,"],
        ),
        (
            "tc q a dev d root handle 1: prio\n\
             tc f a dev d parent 1: prot ip pri 1 u32 match ip tos 0xb8 0xfc flowid 1:1\n",
            &["dscp = [4, 5, 12, 13, 20, 21, 28, 29, 36, 37, 44, 45, 46,"],
        ),
        (
            "$ tc -s q s dev d\nqdisc codel 1: root refcnt 2 limit 9p target 5ms interval 100ms\n",
            &["limit=9p"],
        ),
    ]);
    refused(&[
        ("tc q a dev d root fq_codel lim 9", "no option `lim`"),
        ("tc q a dev d root tbf ra 1mbit burst 9k limit 9k", "no option `ra`"),
        ("tc q a parent 1:1 codel", "names no device"),
        (
            "tc q a dev d root handle 1: prio\ntc f a dev d par 1: u32 match ip tos 8 0xfc\n",
            "line 2: `par` is neither a word of tc filter",
        ),
    ]);
}

/// POSIX.1-2024, Shell Command Language §2.6.2.
#[test]
fn defaults_are_taken_with_a_note() {
    expect(&[
        (
            "DEV=${1:-eth0}\n: ${LIMIT:=9}\ntc qdisc add dev $DEV root codel limit $LIMIT\n",
            &[
                "limit=9p",
                "line 1: `${1:-eth0}` is taken as `eth0`, as the text does not set `$1`",
                "line 2: `${LIMIT:=9}` is taken as `9`, as the text does not set LIMIT",
            ],
        ),
        (
            "RATE=100mbit\nNUM=${RATE%mbit}\n\
             tc qdisc add dev d root cake bandwidth $((NUM * 95 / 100))mbit\n",
            &["bandwidth=95mbit"],
        ),
        (
            "f() { local d=\"$1\" n=\"${2:-9}\"\ntc qdisc add dev $d root codel limit $n $3; }\n\
             f eth0\n",
            &["limit=9p"],
        ),
        (
            "main() {\n[ $# -eq 1 ] && return\ntc qdisc add dev ${1:-d} root codel limit 9\n}\n\
             main \"$@\"\n",
            &["limit=9p", "`${1:-d}` is taken as `d`"],
        ),
        (
            "U=`expr 950 \\* 90 / 100`\ntc qdisc add dev d root cake bandwidth ${U}kbit",
            &["855kbit"],
        ),
    ]);
    let own = attempted("f() { tc qdisc add dev d root codel limit ${1:-9}; }\nf\n").unwrap();
    assert!(!own.unknown.iter().any(|it| it.contains("is taken as")), "{:?}", own.unknown);
    refused(&[
        ("D=$(ip r)\ntc qdisc add dev ${D:-eth0} root fq", "`${D:-eth0}` is a variable"),
        ("tc qdisc add dev ${1} root fq", "`${1}` is a variable"),
        ("D=eth0\ntc qdisc add dev ${D%[0-9]}0 root fq", "is a variable"),
    ]);
}

/// bash 5.2 manual, Arrays; Looping Constructs.
#[test]
fn arrays_and_counted_loops_run() {
    let tree = "tc qdisc add dev d root handle 1: htb default 2\n";
    let class = "tc class add dev d parent 1: classid 1:";
    let two = ["name = \"1-1\"\nrate = \"1mbit\"", "name = \"1-2\"\nrate = \"2mbit\""];
    let body = format!("{class}$i htb rate ${{i}}mbit");
    expect(&[
        (&format!("{tree}i=1\nwhile [ $i -le 2 ]; do\n{body}\ni=$((i+1))\ndone"), &two),
        ("x=5; ((x+=5)); ((x*=2))\ntc qdisc add dev d root codel limit $x", &["limit=20p"]),
        (&format!("{tree}let i=1\nuntil [ $i -gt 2 ]\ndo {body}\nlet i++\ndone"), &two),
        (&format!("{tree}for ((i=1; i<=2; i++)); do {body}; done"), &two),
        (&format!("{tree}for i in {{1..3}}; do\n[ $i -gt 2 ] && break\n{body}; done"), &two),
        (
            &format!(
                "{tree}C=(\n \"1 1mbit\" # one\n # none\n \"2 2mbit\"\n)\n\
                 for c in \"${{C[@]}}\"; do\n\
                 read -r i r <<< \"$c\"\n{class}$i htb rate $r\ndone"
            ),
            &two,
        ),
        (
            &format!(
                "{tree}declare -A R=([1]=1mbit [2]=2mbit)\nfor i in \"${{!R[@]}}\"; do\n\
                 {class}$i htb rate ${{R[$i]}}\ndone"
            ),
            &two,
        ),
    ]);
    let broken = format!("{tree}for i in {{1..3}}; do [ $i -gt 2 ] && break; {body}; done");
    assert!(!attempted(&broken).unwrap().toml.contains("1-3"));
    let prose = "my rate=(see below\ntc qdisc add dev d root codel limit 9\n";
    expect(&[(prose, &["limit=9p"])]);
    refused(&[
        ("while true; do tc qdisc change dev d root fq; sleep 9; done", "how often `while`"),
        ("i=1\nwhile [ $i -gt 0 ]; do tc qdisc replace dev d root fq; done", "20000 commands"),
        ("x=5; ((y=x=6))\ntc qdisc add dev d root codel limit $x", "`$x` is a variable"),
        ("x=5; eval x=6\ntc qdisc add dev d root codel limit $x", "`$x` is a variable"),
        ("A=$(x)\ntc qdisc $A dev d root codel", "`$A` is a variable"),
        ("while read d; do tc qdisc add dev $d root fq; done < list", "how often `while`"),
    ]);
}

#[test]
fn a_condition_on_known_values_decides_the_branch() {
    let setup = "if [ \"$M\" = a ] && [ $N -lt 5 ]; then\ntc qdisc add dev d root codel limit 7\n\
                 elif [[ $M == b* ]]; then\ntc qdisc add dev d root codel limit 8\nelse\n\
                 tc qdisc add dev d root codel limit 9\nfi\n";
    let case = "case $M in a|b) tc qdisc add dev d root codel limit 7 ;;\n\
                *c) tc qdisc add dev d root codel limit 8 ;; esac\n";
    expect(&[
        (&format!("M=a; N=4\n{setup}"), &["limit=7p"]),
        (&format!("M=bb; N=4\n{setup}"), &["limit=8p"]),
        (&format!("M=a; N=5\n{setup}"), &["limit=9p"]),
        (&format!("M=b\n{case}"), &["limit=7p"]),
        (&format!("M=bc\n{case}"), &["limit=8p"]),
        (
            "D=d\n[ -z \"$D\" ] && D=e\n[ \"$D\" = d ] || D=f\n\
             [ \"$D\" = d ] && { tc qdisc add dev $D root codel limit 9; }\n",
            &["limit=9p"],
        ),
        (
            "R=20000\n[ $R -gt 10000 ] && Q=7 || Q=8\n[ $R -gt 30000 ] && L=7 || L=9\n\
             tc qdisc add dev d root fq_codel limit $L quantum ${Q}00\n",
            &["limit=9p,quantum=700B"],
        ),
        (
            "D=d; L=9\nf() { local D=e L; echo $D; G=7; }\nf\n\
             tc qdisc add dev $D root fq_codel limit $L quantum ${G}00\n",
            &["limit=9p,quantum=700B", "# Read: d (fq_codel)"],
        ),
        ("TC=$(which tc)\n$TC qdisc add dev d root codel limit 9", &["limit=9p"]),
        (
            "usage() { echo usage; exit 1; }\n[ $# -lt 1 ] && usage\n\
             tc qdisc add dev d root codel limit 8 || { echo no; exit 1; }\n\
             tc qdisc change dev d root codel limit 9\nexit 0\ntc qdisc del dev d root\n",
            &["limit=9p"],
        ),
    ]);
    let known = attempted(&format!("M=a; N=4\n{setup}")).unwrap();
    assert!(!known.unknown.iter().any(|it| it.contains("taken to run")), "{:?}", known.unknown);
    refused(&[
        (setup, "several branches of `if`"),
        ("[ $A = 1 ] && Q=7 || Q=8\ntc qdisc add dev d root codel limit $Q", "`$Q` is a variable"),
    ]);
}

/// systemd.service(5), udev(7).
#[test]
fn commands_in_units_rules_and_lists_are_read() {
    let command = "/sbin/tc qdisc replace dev d root codel limit 9";
    for line in [
        format!("ExecStart={command}\nExecStop=/sbin/tc qdisc del dev d root"),
        format!("ExecStart=-{command}"),
        format!("ExecStart=/bin/sh -c \"{command}\""),
        format!("KERNEL==\"d\", RUN+=\"{command}\""),
        format!("- {command}"),
        format!("2. {command}"),
        format!("sh -c \"{command}\""),
        format!("  - name: x\n    shell: {command}"),
    ] {
        expect(&[(&line, &["limit=9p"])]);
    }
    refused(&[
        ("set qos policy cake C bandwidth 50mbit", "a setting of VyOS: paste"),
        (". ${SQM_LIB_DIR}/defaults.sh\ntc qdisc add dev d root fq", "paste that"),
    ]);
}

/// What is below other classes than the one that is taken is said.
#[test]
fn nothing_below_another_class_is_lost_without_a_word() {
    let comcast = "tc qdisc add dev d handle 10: root htb default 1\n\
                   tc class add dev d parent 10: classid 10:1 htb rate 1gbit\n\
                   tc class add dev d parent 10: classid 10:10 htb rate 1mbit\n\
                   tc qdisc add dev d parent 10:10 handle 100: netem delay 250ms loss 10%\n";
    let prio = "tc qdisc add dev d root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
                tc qdisc add dev d parent 1:2 handle 20: netem delay 100ms\n";
    expect(&[
        (comcast, &["`netem delay 250ms loss 10%` (line 4) is below another class"]),
        (prio, &["best effort, number 3, is taken", "`netem delay 100ms` (line 2) is below"]),
    ]);
    assert!(!attempted(prio).unwrap().toml.contains("\ndelay ="));
    expect(&[("tc qdisc add dev lo root netem delay 50ms", &["delay = \"50ms\""])]);
    let inner = "tc qdisc add dev d root handle 1: htb default 1\n\
                 tc class add dev d parent 1: classid 1:1 htb rate 9mbit\n\
                 tc class add dev d parent 1:1 classid 1:10 htb rate 5mbit\n";
    expect(&[(inner, &["the default class 1, which has classes below it"])]);
}

/// Linux 6.1 sch_ets.c; tc-testing e8ac, 8daf.
#[test]
fn ets_with_strict_bands_alone_is_a_prio() {
    let of = |options: &str| format!("tc qdisc add dev d root handle 1: ets {options}\n");
    expect(&[
        (&of("strict 3"), &["kind = \"prio\"\ndefault = \"band-3\""]),
        (
            &of("bands 2 strict 2 priomap 1 1 1 1 0"),
            &["default = \"band-2\"", "band-1\"\ndscp = [6, "],
        ),
        (
            "qdisc ets 1: dev d root refcnt 2 bands 2 strict 2 priomap 1 1 1 1 1 1 0 0 1 1 1 1 1 1 \
             1 1 \n",
            &["kind = \"prio\"", "band-1\"\ndscp = [4, 5, "],
        ),
    ]);
    refused(&[
        (&of("bands 17"), "the kernel refuses ets with"),
        (&of("bands 2 strict 3"), "the kernel refuses ets with"),
        (&of("weights 3"), "ets has no option `weights`"),
    ]);
}

/// Linux 6.1 sch_ets.c, sch_drr.c; tc-testing 8938, 28c6, 5f62, 038e.
#[test]
fn bands_of_ets_with_quanta_and_classes_of_drr_take_turns() {
    let of = |options: &str| format!("tc qdisc add dev d root handle 1: ets {options}\n");
    let change = "tc class change dev d classid 1:2 ets quantum 900\n";
    let drr = "tc qdisc add dev d root handle 1: drr\n\
               tc class add dev d parent 1: classid 1:1 drr quantum 3000\n\
               tc class add dev d parent 1: classid 1:2 drr\n\
               tc qdisc add dev d parent 1:2 fq_codel\n\
               tc filter add dev d parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc \
               flowid 1:1\n\
               tc filter add dev d parent 1: prio 2 matchall flowid 1:2\n";
    expect(&[
        (
            &of("bands 5 strict 3 quanta 1500"),
            &[
                "kind = \"ets\"\ndefault = \"band-5\"",
                "name = \"band-4\"\nquantum = \"1500B\"",
                "name = \"band-5\"\nquantum = \"1514B\"",
            ],
        ),
        (&(of("quanta 4000 3000") + change), &["band-2\"\nquantum = \"900B\""]),
        (
            drr,
            &[
                "kind = \"ets\"\ndefault = \"1-2\"",
                "name = \"1-1\"\nquantum = \"3000B\"\ndscp = [46]",
                "name = \"1-2\"\nquantum = \"1514B\"",
            ],
        ),
    ]);
    refused(&[
        ("tc qdisc add dev d root drr", "no class of drr on d"),
        (&drr.replace("3000", "0"), "quantum of 0"),
        ("tc qdisc add dev d root cake_mq autorate-ingress", "refuses `autorate-ingress`"),
        (
            "tc qdisc add dev d root handle 1: cake_mq\ntc qdisc add dev d parent 1:1 fq\n",
            "another discipline below cake_mq",
        ),
    ]);
}
