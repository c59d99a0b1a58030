//! Configurations of programs that set up disciplines: systemd-networkd, NetworkManager, FreeBSD's
//! dummynet.

mod common;

use sojourn_formats::tc::{TcCircumstances, check, read};

use common::{expect, refused};

const MATCH: &str = "[Match]\nName=eth0\n";

/// systemd.network(5); systemd 257 src/network/tc/cake.c sends the interval without a target.
#[test]
fn sections_of_networkd_are_disciplines() {
    let of = |text: &str| format!("{MATCH}\n{text}");
    expect(&[
        (
            &of("[CAKE]\nBandwidth=20M\nOverheadBytes=44\nMPUBytes=84\nCompensationMode=ptm\n\
                 FlowIsolationMode=dual-src-host\nNAT=yes\nPriorityQueueingPreset=diffserv4\n\
                 AckFilter=aggressive\nRTTSec=30ms\nUseRawPacketSize=no\n"),
            &["\"cake:bandwidth=20mbit,interval=30ms,isolation=src,diffserv=diffserv4,\
                 ack_filter=aggressive,overhead=44B,cells=ptm,mpu=84B\""],
        ),
        (
            &of("[FairQueueingControlledDelay]\nPacketLimit=800\nTargetSec=10ms\n\
                 IntervalSec=0.2\nECN=no\nMemoryLimitBytes=4M\nQuantumBytes=300\n"),
            &["\"fq_codel@linux:limit=800p,quantum=300B,target=10ms,interval=200ms,\
                 memory_limit=4194304B,ecn=false\""],
        ),
        (
            &of("[TokenBucketFilter]\nRate=10M\nBurstBytes=5K\nLatencySec=70ms\n"),
            &["rate = \"10mbit\", burst = \"5120B\"", "taildrop@bytes:limit=92620B"],
        ),
        (
            &of("[HierarchyTokenBucket]\nHandle=0002\nDefaultClass=30\n\
                 [HierarchyTokenBucketClass]\nParent=root\nClassId=0002:0030\nRate=0.5M\n\
                 CeilRate=1M\n[NetworkEmulator]\nParent=2:30\nHandle=0030\nDelaySec=50ms\n\
                 DelayJitterSec=10ms\nLossRate=30%\n"),
            &["rate = \"1mbit\"", "delay = \"40ms\"\njitter", "rate = 0.3"],
        ),
        (
            &of("[FairQueueing]\nMaximumRate=1M\nPacing=off\n# x\nOdd=1\n"),
            &["fq@linux:maxrate=1mbit,pacing=false", "line 8: `Odd=` of [FairQueueing]"],
        ),
        (
            &of("[EnhancedTransmissionSelection]\nStrictBands=2\nPriorityMap=1 1 1\n"),
            &["kind = \"prio\""],
        ),
        ("[Match]\nName=en*\n[PIE]\nPacketLimit=9\n", &["pie@linux:limit=9p", "eth0 is taken"]),
    ]);
    refused(&[
        (&of("[CAKE]\nBandwidth=20Mbit\n"), "line 5: Bandwidth: `20Mbit` is not a number"),
        (&of("[CAKE]\nNAT=perhaps\n"), "is not a boolean"),
        (&of("[QDisc]\nParent=root\n"), "line 4: [QDisc] takes `Parent=clsact`"),
        (&of("[CAKE]\nBandwidth=1M\n[PIE]\nPacketLimit=9\n"), "line 6: the kernel refuses this"),
        (&of("[NetworkEmulator]\nDelayJitterSec=1ms\n"), "add that"),
        (&of("[TokenBucketFilter]\nRate=10M\n"), "line 4: tc refuses tbf without `burst`"),
        (&of("[DeficitRoundRobinScheduler]\nHandle=1\n"), "no class of drr on eth0"),
    ]);
}

/// nm-settings-nmcli(5); NetworkManager 1.46 src/libnm-core-impl/nm-utils.c.
#[test]
fn the_disciplines_of_network_manager_are_read() {
    expect(&[
        (
            "nmcli con mod wan tc.qdiscs \"root handle 1: fq_codel limit 500 target 10000\"\n",
            &["fq_codel@linux:limit=500p,target=10ms", "the device of the connection: eth0"],
        ),
        (
            "[connection]\ninterface-name=ens5\n[tc]\nqdisc.root=handle 1234: fq_codel\n",
            &["# Read: ens5", "\"fq_codel@linux\""],
        ),
        ("tc.qdiscs:    root prio handle 10, ingress handle ffff:\n", &["kind = \"prio\""]),
    ]);
    refused(&[
        ("nmcli c m wan tc.qdiscs 'root tbf rate 10 burst 9 limit 9'", "bytes per second"),
        ("nmcli c m wan tc.qdiscs 'root fq_codel target 5ms'", "without units, not `5ms`"),
    ]);
}

/// ipfw(8); FreeBSD 14 sbin/ipfw/dummynet.c, sys/netpfil/ipfw/dn_sched_fq_codel.c.
#[test]
fn pipes_of_dummynet_are_links_with_their_discipline() {
    let shown = "Limiters:\n00001:  95.000 Mbit/s    20 ms burst 0 \n\
                 q131073  50 sl. 0 flows (1 buckets) sched 65537 weight 0 lmax 0 pri 0 droptail\n \
                 sched 65537 type FIFO flags 0x0 0 buckets 0 active\n\
                 Schedulers:\n00001:  95.000 Mbit/s    20 ms burst 0 \n \
                 sched 1 type FQ_CODEL flags 0x0 0 buckets 1 active\n \
                 FQ_CODEL target 5ms interval 100ms quantum 300 limit 10240 flows 1024 NoECN\n";
    expect(&[
        (
            "ipfw -q pipe 1 config bw 90Mbit/s\nipfw sched 1 config pipe 1 type fq_codel \
             quantum 300 noecn\nipfw queue 1 config sched 1 mask dst-ip 0xffffffff\n",
            &[
                "rate = \"90mbit\"\nframing = \"0B\"\nqueue = \"fq_codel@freebsd:quantum=300B,\
                 ecn=false\"",
                "ticks of 1 ms",
            ],
        ),
        (shown, &["rate = \"95mbit\"", "quantum=300B", "delay = \"20ms\""]),
        ("pipe 1 config bw 9Mb\nsched 1 config pipe 1 type fq_pie\n", &["\"fq_pie@freebsd\""]),
        (
            "dnctl pipe 1 config bw 10MByte/s codel target 20 queue 100\n",
            &["rate = \"80mbit\"", "codel@freebsd:limit=100p,target=20ms"],
        ),
        (
            "ipfw pipe 1 config bw 2000Kb delay 50 plr 0.01 queue 60KBytes\n",
            &["taildrop@bytes:limit=61440B", "delay = \"50ms\"", "rate = 0.01"],
        ),
        (
            "pipe 2 config bw 20Mb pie max_burst 200ms max_ecnth 0.2 ecn dre nocapdrop\n",
            &["pie@freebsd:limit=50p,max_burst=200ms,ecn_mark_limit=0.2,ecn=true,delay=rate,\
                 cap_step=false"],
        ),
    ]);
    let codes = |text: &str| -> Vec<&str> {
        let given = TcCircumstances { line_bps: None, framing: None, rtt_ns: 40_000_000, load: 4 };
        check(&read(text).unwrap(), given).iter().map(|it| it.code).collect()
    };
    assert_eq!(codes(shown), Vec::<&str>::new());
    assert_eq!(codes("ipfw pipe 1 config bw 9Mbit/s delay 20"), ["no-aqm"]);
    refused(&[
        ("ipfw pipe 1 config bw 1.5Mbit/s", "in whole numbers"),
        ("ipfw pipe 1 config bw 9Mbit/s red 0.002/30/80/0.1", "`red` of dummynet"),
        ("ipfw pipe 1 config bw 9Mbit/s codel alpha 1", "dummynet codel has no `alpha`"),
        ("ipfw pipe 1 config bw ${BW}Mbit/s", "is a variable of a shell"),
        (
            "pipe 1 config bw 9Mbit/s\nqueue 1 config pipe 1 weight 9\nqueue 2 config pipe 1\n",
            "share it by weight",
        ),
        ("ipfw sched 1 config type fq_codel limit 30000", "from 1 to 20480"),
    ]);
}
