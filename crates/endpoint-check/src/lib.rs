//! Checks a transport library and its adapter in short runs of the simulator.
//!
//! An adapter can make a library look worse than it is: one that ignored the send quantum of
//! ngtcp2 doubled the drops of its BBR. So the datagrams of a server are compared with the values
//! that the library reports: its pacing rate, its quantum and its congestion window.

mod judge;
mod watch;

use std::sync::Arc;

use sojourn_aqm::contract::Finding;
use sojourn_endpoint::ConfiguredStack;
use sojourn_record::Run;
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::{Custom, SimError, run_with};

use self::watch::{ServerLog, Watched};

/// A bottleneck of 20 Mbit/s with a round trip of 60 ms, used only by the flow.
fn scenario(seconds: u32, of_link: &str, of_flow: &str) -> String {
    format!(
        "name = 'check'\nduration = '{seconds}s'\n\
         [links.bottleneck]\nrate = '20mbit'\ndelay = '10ms'\n{of_link}\n\
         [[flows]]\nname = 'data'\npath = ['bottleneck']\nrtt = '60ms'\ntransport = 'checked'\n\
         {of_flow}\n"
    )
}

const TAILDROP: &str = "queue = 'taildrop'";
/// Video of 4.8 Mbit/s at the best quality.
const VIDEO: &str = "kind = 'video', frames = ['20kB'], interval = '33ms'";
/// The largest share of frames that may not be shown over a link that loses packets.
const MOST_SKIPPED: f64 = 0.1;
/// The largest packet of a path, unless a scenario says otherwise.
const MTU: u32 = 1500;
/// The transfer over a link that loses packets.
const TRANSFER_BYTES: u64 = 500_000;

/// The keys of a flow over a path with packets of up to `mtu` bytes.
fn flow(stack: &ConfiguredStack, mtu: u32) -> String {
    match stack.stack.carries_video() {
        true => format!("app = {{ {VIDEO}, packet = '{mtu}B' }}"),
        false => format!("packet = '{mtu}B'\napp = {{ kind = 'bulk' }}"),
    }
}

/// A run, and the server's record of it.
struct Watch {
    run: Result<Run, SimError>,
    log: ServerLog,
}

fn watch(stack: &ConfiguredStack, text: &str) -> Watch {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(text, &Source::default(), &none).expect("the scenario is legal");
    let (watched, log) = Watched::new(Arc::clone(&stack.stack));
    let configured = ConfiguredStack { in_full: stack.in_full.clone(), stack: Arc::new(watched) };
    let stacks = [("checked".to_owned(), configured)].into();
    let custom = Custom { stacks, ..Custom::default() };
    let run = run_with(loaded.resolved(), &custom, &|_| true);
    let log = std::mem::take(&mut *log.lock().expect("nobody panics while holding it"));
    Watch { run, log }
}

/// Tests every rule for a library and its adapter. If the first one fails, that it carries data,
/// the others are not tested.
pub fn examine(stack: &ConfiguredStack) -> Vec<Finding> {
    let alone = watch(stack, &scenario(8, TAILDROP, &flow(stack, MTU)));
    let carries = carries(&alone);
    if carries.held == Some(false) {
        return vec![carries];
    }
    let mut findings = vec![carries, sizes(stack)];
    if stack.stack.carries_video() {
        findings.push(shown(stack));
    } else {
        let most = MTU - stack.stack.carries().header_bytes();
        findings.push(complete(stack));
        findings.push(judge::full_datagrams(&alone.log, most));
        findings.push(judge::little_ahead(&alone.log));
    }
    findings.push(judge::pacing(&alone.log));
    findings.push(judge::bursts(&alone.log));
    findings.push(judge::marks(stack.stack.has_ecn().then(|| with_ecn(stack)).as_ref()));
    findings
}

fn value(run: &Run, metric: &str) -> Option<f64> {
    run.summary.iter().find(|row| row.metric == metric).map(|row| row.value)
}

fn carries(Watch { run, .. }: &Watch) -> Finding {
    let promise = "it carries data over an idle bottleneck";
    let goodput = run.as_ref().map(|run| value(run, "goodput").unwrap_or(0.0));
    let (held, detail) = match goodput {
        Ok(goodput) if goodput > 0.0 => {
            (true, format!("goodput {:.2} Mbit/s of 20 in 8 s", goodput / 1e6))
        }
        Ok(_) => (false, "no data has arrived in 8 s".to_owned()),
        Err(error) => (false, error.to_string()),
    };
    Finding { promise, held: Some(held), detail }
}

/// The smallest path that IPv6 allows (RFC 8200 §5), and one of jumbo frames.
fn sizes(stack: &ConfiguredStack) -> Finding {
    let promise = "its datagrams fit the path";
    for bytes in [1280, 9000] {
        if let Err(error) = watch(stack, &scenario(2, TAILDROP, &flow(stack, bytes))).run {
            let detail = format!("on a path of {bytes} bytes: {error}");
            return Finding { promise, held: Some(false), detail };
        }
    }
    let detail = "on paths of 1280, 1500 and 9000 bytes".to_owned();
    Finding { promise, held: Some(true), detail }
}

/// A link that loses packets.
fn lossy() -> String {
    format!("{TAILDROP}\nloss = {{ kind = 'bernoulli', rate = 0.02 }}")
}

/// Without retransmissions a third of the frames would lack a packet.
fn shown(stack: &ConfiguredStack) -> Finding {
    let promise = "frames over a link that loses packets are shown";
    let (held, detail) = match watch(stack, &scenario(20, &lossy(), &flow(stack, MTU))).run {
        Err(error) => (false, error.to_string()),
        Ok(run) => match value(&run, "frames_skipped") {
            Some(skipped) => {
                let detail = format!("{:.1} % skipped, 2 % of packets lost", 100.0 * skipped);
                (skipped <= MOST_SKIPPED, detail)
            }
            None => (false, "no frame is shown within 20 s".to_owned()),
        },
    };
    Finding { promise, held: Some(held), detail }
}

fn complete(stack: &ConfiguredStack) -> Finding {
    let promise = "a transfer over a link that loses packets is complete";
    let flow = format!("app = {{ kind = 'bulk', bytes = '{TRANSFER_BYTES}B' }}");
    let (held, detail) = match watch(stack, &scenario(60, &lossy(), &flow)).run {
        Err(error) => (false, error.to_string()),
        Ok(run) => match &run.transfers[..] {
            [transfer] if transfer.bytes == TRANSFER_BYTES => {
                let seconds = transfer.completion.as_secs();
                (true, format!("{TRANSFER_BYTES} bytes in {seconds:.2} s, 2 % of packets lost"))
            }
            [transfer] => (false, format!("{} bytes of {TRANSFER_BYTES}", transfer.bytes)),
            _ => (
                false,
                format!("{TRANSFER_BYTES} bytes do not arrive within 60 s; is a timer lost?"),
            ),
        },
    };
    Finding { promise, held: Some(held), detail }
}

/// A run whose hosts pass on the ECN field.
fn with_ecn(stack: &ConfiguredStack) -> ServerLog {
    let flow = format!("ecn = true\n{}", flow(stack, MTU));
    watch(stack, &scenario(8, "queue = 'codel:ecn=true'", &flow)).log
}
