//! The cases: a discipline of the kernel with its options, and ours with the same options.

use sojourn_aqm::parts::idle_table::IdleTable;

use crate::arrivals::RATE;
use crate::trees;

/// `avpkt` of tc.
const MEAN_PACKET: u64 = 1000;

/// A known difference in a run of the full length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Packets with different outcomes. Any other number fails, including 0.
    pub(crate) packets: usize,
    pub(crate) reason: &'static str,
}

/// One comparison.
pub(crate) struct Case {
    /// The kernel's file `sch_LAW.c`.
    pub(crate) law: &'static str,
    /// Our discipline.
    pub(crate) ours: &'static str,
    /// The kernel's options, in addition to those that all cases share.
    pub(crate) options: String,
    /// The difference.
    pub(crate) known: Option<Known>,
    /// The first kernel with these options.
    pub(crate) since: (u32, u32),
}

fn case(law: &'static str, ours: &'static str, options: &str) -> Case {
    Case { law, ours, options: options.to_owned(), known: None, since: (0, 0) }
}

/// The comparisons whose options a given kernel has.
pub(crate) fn of_kernel(series: (u32, u32)) -> Vec<Case> {
    all().into_iter().filter(|case| case.since <= series).collect()
}

/// All comparisons.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = codel();
    cases.extend(pie());
    cases.extend(red());
    cases.extend(flow_queues());
    cases.extend(choke());
    cases.extend(sfq());
    cases.extend(sfb());
    cases.extend(fq());
    cases.extend(cake());
    cases.extend(trees::all().map(|(law, ours, options)| Case { options, ..case(law, ours, "") }));
    cases
}

fn codel() -> Vec<Case> {
    vec![
        case("codel", "codel@linux", ""),
        case("codel", "codel@linux:ecn=true,limit=300p", "ecn=1 limit=300"),
        case(
            "codel",
            "codel@linux:target=1ms,interval=20ms,ecn=true,ce_threshold=3ms",
            "target_us=1000 interval_us=20000 ecn=1 ce_threshold_us=3000",
        ),
    ]
}

fn pie() -> Vec<Case> {
    vec![
        case("pie", "pie@linux", ""),
        case("pie", "pie@linux:ecn=true,target=5ms", "ecn=1 target_us=5000"),
        case("pie", "pie@linux:byte_mode=true,limit=200p", "bytemode=1 limit=200"),
        case("pie", "pie@linux:delay=rate,ecn=true", "dq_rate_estimator=1 ecn=1"),
    ]
}

fn red() -> Vec<Case> {
    vec![
        Case {
            options: red_options(1_000_000, 60_000, 180_000, 0.02),
            ..case(
                "red",
                "red@linux:limit=1000000B,min_th=60000B,max_th=180000B,bandwidth=100mbit",
                "",
            )
        },
        Case {
            options: format!("{} ecn=1", red_options(1_000_000, 30_000, 90_000, 0.1)),
            ..case(
                "red",
                "red@linux:limit=1000000B,min_th=30000B,max_th=90000B,max_p=0.1,ecn=true,\
                   bandwidth=100mbit",
                "",
            )
        },
        Case {
            options: format!("{} ecn=1 adaptive=1", red_options(1_000_000, 60_000, 180_000, 0.02)),
            ..case(
                "red",
                "ared@linux:limit=1000000B,min_th=60000B,max_th=180000B,ecn=true,\
                   bandwidth=100mbit",
                "",
            )
        },
    ]
}

fn flow_queues() -> Vec<Case> {
    vec![
        case("fq_codel", "fq_codel@linux", ""),
        case("fq_codel", "fq_codel@linux:ecn=true,limit=200p", "ecn=1 limit=200"),
        case(
            "fq_codel",
            "fq_codel@linux:flows=16,limit=400p,quantum=300B,drop_batch=8",
            "flows=16 limit=400 quantum=300 drop_batch=8",
        ),
        case("fq_pie", "fq_pie@linux", ""),
        case("fq_pie", "fq_pie@linux:ecn=true,flows=16,limit=400p", "ecn=1 flows=16 limit=400"),
    ]
}

fn choke() -> Vec<Case> {
    let options = |limit: u64, min: u64, max: u64, rest: &str| {
        let burst = (2 * min + max) / 3;
        format!("{} {rest}", red_table(limit, min, max, 0.02, burst as f64, min as f64))
    };
    vec![
        Case {
            options: options(1000, 83, 250, ""),
            ..case("choke", "choke:limit=1000p,min_th=83,max_th=250", "")
        },
        Case {
            options: options(300, 20, 60, "ecn=1"),
            ..case("choke", "choke:limit=300p,min_th=20,max_th=60,ecn=true", "")
        },
    ]
}

fn sfq() -> Vec<Case> {
    vec![
        case("sfq", "sfq", ""),
        case("sfq", "sfq:limit=400p,depth=60,headdrop=true", "limit=400 depth=60 headdrop=1"),
        case(
            "sfq",
            "sfq:limit=300p,flows=20,divisor=64,quantum=3000B",
            "limit=300 flows=20 divisor=64 quantum=3000",
        ),
        case("sfq", "sfq:perturb=1s", "perturb=1 same_keys=2 exact_timers=1"),
        case("sfq", "sfq:limit=40p", "limit=40"),
        Case {
            options: sfq_red_options(8_000, 40_000, 0.02, "limit=1000"),
            ..case("sfq", "sfq_red:limit=1000p,min_th=8000B,max_th=40000B", "")
        },
        Case {
            options: sfq_red_options(
                3_000,
                15_000,
                0.1,
                "limit=400 ecn=1 headdrop=1 perturb=2 same_keys=2 exact_timers=1",
            ),
            ..case(
                "sfq",
                "sfq_red:limit=400p,min_th=3000B,max_th=15000B,max_p=0.1,ecn=true,\
                   headdrop=true,perturb=2s",
                "",
            )
        },
    ]
}

fn sfq_red_options(min: u64, max: u64, max_p: f64, rest: &str) -> String {
    let burst = (2 * min + max) / (3 * MEAN_PACKET);
    let wlog = weight_log(burst as f64, min as f64 / MEAN_PACKET as f64);
    format!("min={min} max={max} wlog={wlog} max_p={} {rest}", (max_p * 4_294_967_296.0) as u32)
}

fn sfb() -> Vec<Case> {
    vec![
        case("sfb", "sfb", "two_keys=1"),
        case(
            "sfb",
            "sfb:limit=500p,rehash_interval=20s,warmup=5s",
            "two_keys=1 limit=500 rehash_ms=20000 warmup_ms=5000",
        ),
    ]
}

fn fq() -> Vec<Case> {
    vec![
        case("fq", "fq@linux", ""),
        case(
            "fq",
            "fq@linux:limit=300p,flow_limit=30,quantum=1514B,initial_quantum=3000B,\
             horizon_drop=false",
            "limit=300 flow_limit=30 quantum=1514 initial_quantum=3000 horizon_drop=0",
        ),
        case(
            "fq",
            "fq@linux:maxrate=8mbit,ce_threshold=2ms,refill_delay=300ms,low_rate_threshold=1mbit",
            "maxrate=1000000 ce_threshold_us=2000 refill_delay_us=300000 \
             low_rate_threshold=125000",
        ),
        case(
            "fq",
            "fq@linux:pacing=false,buckets=16,orphan_mask=63,horizon=1ms",
            "pacing=0 buckets_log=4 orphan_mask=63 horizon_us=1000",
        ),
        case("fq", "fq@linux:orphan_mask=0", "orphan_mask=0"),
        Case {
            since: (6, 12),
            ..case(
                "fq",
                "fq@linux:limit=400p,priomap=0000000011112222,weight0=20000B,weight1=90000B",
                "limit=400 priomap=0000000011112222 weight0=20000 weight1=90000 weight2=65536",
            )
        },
    ]
}

fn cake() -> Vec<Case> {
    vec![
        case("cake", "cake", "memory=15503360"),
        case("cake", "cake:limit=300000B,isolation=flows", "memory=300000 flow_mode=4"),
        case("cake", "cake:bandwidth=80mbit", "bytes_per_sec=10000000"),
        case("cake", "cake:bandwidth=7mbit,interval=30ms", "bytes_per_sec=875000 rtt_us=30000"),
        case(
            "cake",
            "cake:bandwidth=40mbit,rtt=50ms,diffserv=diffserv3",
            "bytes_per_sec=5000000 rtt_us=50000 target_us=2500 diffserv_mode=0",
        ),
        case(
            "cake",
            "cake:bandwidth=60mbit,diffserv=diffserv4,wash=true",
            "bytes_per_sec=7500000 diffserv_mode=1 wash=1",
        ),
        case(
            "cake",
            "cake:bandwidth=90mbit,diffserv=diffserv8,limit=400000B",
            "bytes_per_sec=11250000 diffserv_mode=2 memory=400000",
        ),
        case(
            "cake",
            "cake:bandwidth=30mbit,diffserv=precedence,overhead=18B,mpu=100B",
            "bytes_per_sec=3750000 diffserv_mode=4 overhead=32 mpu=100",
        ),
        case(
            "cake",
            "cake:bandwidth=50mbit,overhead=-4B,mpu=64B,cells=atm",
            "bytes_per_sec=6250000 overhead=10 mpu=64 atm_mode=1",
        ),
        case("cake", "cake:bandwidth=55mbit,overhead=-24B", "bytes_per_sec=6875000 overhead=-10"),
        case(
            "cake",
            "cake:bandwidth=70mbit,ingress=true,diffserv=diffserv3,limit=500000B",
            "bytes_per_sec=8750000 ingress=1 diffserv_mode=0 memory=500000",
        ),
        case("cake", "cake:bandwidth=95mbit,ingress=true", "bytes_per_sec=11875000 ingress=1"),
        case("cake", "cake:ack_filter=on", "memory=15503360 ack_filter=1"),
        case("cake", "cake:ack_filter=aggressive", "memory=15503360 ack_filter=2"),
        case(
            "cake",
            "cake:bandwidth=60mbit,ack_filter=on,ingress=true,diffserv=diffserv3,limit=400000B",
            "bytes_per_sec=7500000 ack_filter=1 ingress=1 diffserv_mode=0 memory=400000",
        ),
        case(
            "cake",
            "cake:bandwidth=40mbit,ack_filter=aggressive,isolation=flows",
            "bytes_per_sec=5000000 ack_filter=2 flow_mode=4",
        ),
        case(
            "cake",
            "cake:bandwidth=50mbit,autorate_ingress=true",
            "bytes_per_sec=6250000 autorate=1",
        ),
        case(
            "cake",
            "cake:autorate_ingress=true,ingress=true,diffserv=diffserv4,rtt=50ms",
            "autorate=1 ingress=1 diffserv_mode=1 rtt_us=50000 target_us=2500",
        ),
        case(
            "cake",
            "cake:bandwidth=20mbit,autorate_ingress=true,ack_filter=aggressive,diffserv=diffserv8,\
             limit=300000B",
            "bytes_per_sec=2500000 autorate=1 ack_filter=2 diffserv_mode=2 memory=300000",
        ),
        case("cake", "cake:diffserv=diffserv4", "memory=15503360 diffserv_mode=1"),
        case("cake", "cake:diffserv=diffserv8,limit=300000B", "memory=300000 diffserv_mode=2"),
    ]
}

/// The values that `tc red` sends for thresholds in bytes: the weight that its `burst` implies, and
/// the table for idle times (iproute2 `q_red.c` and `tc_red.c`). tc chooses both, so only our use
/// of them is compared, not our own table.
fn red_options(limit: u64, min: u64, max: u64, max_p: f64) -> String {
    let burst = (2 * min + max) / (3 * MEAN_PACKET);
    red_table(limit, min, max, max_p, burst as f64, min as f64 / MEAN_PACKET as f64)
}

fn red_table(limit: u64, min: u64, max: u64, max_p: f64, burst: f64, min_packets: f64) -> String {
    let wlog = weight_log(burst, min_packets);
    let table = IdleTable::new(wlog, MEAN_PACKET, RATE);
    format!(
        "limit={limit} min={min} max={max} wlog={wlog} scell_log={} max_p={} stab={}",
        table.log,
        (max_p * 4_294_967_296.0) as u32,
        letters(&table.shifts[..])
    )
}

/// Bytes as pairs of letters from a to p.
fn letters(bytes: &[u8]) -> String {
    let letter = |half: u8| char::from(b'a' + half);
    bytes.iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
}

/// iproute2 `tc_red.c`, `tc_red_eval_ewma`: the smallest exponent for which the average remains
/// below the lower threshold during a burst.
fn weight_log(burst: f64, min_packets: f64) -> u32 {
    let allowed = burst + 1.0 - min_packets;
    let holds = |log: &u32| {
        let weight = 0.5f64.powi(*log as i32);
        allowed <= (1.0 - (1.0 - weight).powf(burst)) / weight
    };
    (1..32).find(holds).expect("a burst that tc accepts")
}
