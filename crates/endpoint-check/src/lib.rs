//! Checks a transport library and its adapter in short runs of the simulator.
//!
//! An adapter can make a library look worse than it is: one that ignored the send quantum of
//! ngtcp2 doubled the drops of its BBR. So the datagrams of a server are compared with what the
//! library says of itself: its pacing rate, its quantum and its congestion window.

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
const BULK: &str = "app = { kind = 'bulk' }";
/// The largest packet of a path, unless a scenario says otherwise.
const MTU: u32 = 1500;
/// The transfer over a link that loses packets.
const TRANSFER_BYTES: u64 = 500_000;

/// A run, and what the server did in it.
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
    let bulk = watch(stack, &scenario(8, TAILDROP, BULK));
    let carries = carries(&bulk);
    if carries.held == Some(false) {
        return vec![carries];
    }
    vec![
        carries,
        sizes(stack),
        complete(stack),
        judge::full_datagrams(&bulk.log, MTU - stack.stack.carries().header_bytes()),
        judge::little_ahead(&bulk.log),
        judge::pacing(&bulk.log),
        judge::bursts(&bulk.log),
        judge::marks(stack.stack.has_ecn().then(|| with_ecn(stack)).as_ref()),
    ]
}

fn carries(Watch { run, .. }: &Watch) -> Finding {
    let promise = "it carries data over an idle bottleneck";
    let goodput = run.as_ref().map(|run| {
        run.summary.iter().find(|row| row.metric == "goodput").map_or(0.0, |row| row.value)
    });
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
        let flow = format!("packet = '{bytes}B'\n{BULK}");
        if let Err(error) = watch(stack, &scenario(2, TAILDROP, &flow)).run {
            let detail = format!("on a path of {bytes} bytes: {error}");
            return Finding { promise, held: Some(false), detail };
        }
    }
    let detail = "on paths of 1280, 1500 and 9000 bytes".to_owned();
    Finding { promise, held: Some(true), detail }
}

fn complete(stack: &ConfiguredStack) -> Finding {
    let promise = "a transfer over a link that loses packets is complete";
    let link = format!("{TAILDROP}\nloss = {{ kind = 'bernoulli', rate = 0.02 }}");
    let flow = format!("app = {{ kind = 'bulk', bytes = '{TRANSFER_BYTES}B' }}");
    let (held, detail) = match watch(stack, &scenario(60, &link, &flow)).run {
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
    watch(stack, &scenario(8, "queue = 'codel:ecn=true'", &format!("ecn = true\n{BULK}"))).log
}
