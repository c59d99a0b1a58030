//! Flows over a transport library of the caller.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Rng, Time};
use sojourn_endpoint::{ConfiguredStack, Stack, Stacks};
use sojourn_scenario::resolved::{App, Carried, FlowGroup, Resolved};
use sojourn_traffic::{TransferPlan, WebUser};

use crate::SimError;
use crate::app::endpoint::{
    About, Application, EndpointFlow, FirstFailure, Requests, User, VideoCall, VoiceCall, draw_seed,
};

/// Bytes of a request other than for a page; our choice, the size of a short GET.
const REQUEST_BYTES: u64 = 100;

/// Checks that every transport has a library and every library is used, and that each library
/// carries its flows' traffic and supports ECN where the scenario needs it.
pub(crate) fn check(plan: &Resolved, stacks: &Stacks) -> Result<(), SimError> {
    let used: Vec<&str> = plan.flows.iter().filter_map(|group| group.app.transport()).collect();
    if let Some(name) = stacks.keys().find(|name| !used.contains(&name.as_str())) {
        let message = match used.is_empty() {
            true => "no flows have a `transport`; write transport = \"quic\" for some".to_owned(),
            false => format!("no flows have this transport; known: {}", used.join(", ")),
        };
        return Err(SimError::invalid(&format!("endpoint[{name}]"), message));
    }
    for (index, group) in plan.flows.iter().enumerate() {
        if let Some(name) = group.app.transport() {
            let stack = find(stacks, index, name)?;
            check_carried((index, group), (name, stack))?;
            check_ecn(plan, (index, group), (name, stack))?;
        }
    }
    Ok(())
}

/// The library of a transport.
fn find<'a>(stacks: &'a Stacks, index: usize, name: &str) -> Result<&'a ConfiguredStack, SimError> {
    stacks.get(name).ok_or_else(|| {
        let message = format!(
            "no library is given for `{name}`; add --endpoint {name}=quinn, or endpoints={{\"{name}\
             \": \"quinn\"}} in Python"
        );
        SimError::invalid(&format!("flows[{index}].transport"), message)
    })
}

fn check_carried(
    (index, group): (usize, &FlowGroup),
    (name, ConfiguredStack { in_full, stack }): (&str, &ConfiguredStack),
) -> Result<(), SimError> {
    let App::Endpoint { carried, .. } = &group.app else { return Ok(()) };
    let (kinds, kind) = (kinds(stack.as_ref()), carried.kind());
    if kinds.contains(&kind) {
        return Ok(());
    }
    let own = in_words(&kinds);
    let message = format!("{in_full} carries kind {own}, and flows[{index}].app has kind `{kind}`");
    Err(SimError::invalid(&format!("endpoint[{name}]"), message + "; change one of the two"))
}

/// The kinds of applications that a library carries. The others need more streams than one.
fn kinds(stack: &dyn Stack) -> Vec<&'static str> {
    if stack.carries_video() {
        return vec!["video"];
    }
    let mut kinds = vec!["bulk", "transfers"];
    if stack.has_streams() {
        kinds.extend(["files", "web", "chunks"]);
    }
    if stack.carries_voice() {
        kinds.push("voice");
    }
    kinds
}

/// Such as: `bulk`, `files` or `web`.
fn in_words(kinds: &[&str]) -> String {
    let quoted: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

/// A flow without ECN is a different experiment, so no flow silently falls back to Not-ECT.
fn check_ecn(
    plan: &Resolved,
    (index, group): (usize, &FlowGroup),
    (name, ConfiguredStack { in_full, stack }): (&str, &ConfiguredStack),
) -> Result<(), SimError> {
    if stack.has_ecn() {
        return Ok(());
    }
    let l4s = group.path.iter().map(|&link| &plan.links[link]).find(|link| link.is_l4s());
    let why = match l4s {
        _ if group.app.datagrams_ecn() != Ecn::NotEct => format!("flows[{index}] has ecn = true"),
        Some(link) => format!("links.{} is an L4S queue", link.name),
        None => return Ok(()),
    };
    let message = format!("{in_full} has no ECN, and {why}; take a library with ECN");
    Err(SimError::invalid(&format!("endpoint[{name}]"), message))
}

/// One warning for every library whose runs may not be repeatable.
pub(super) fn remarks(stacks: &Stacks) -> Vec<String> {
    stacks.iter().filter_map(|(transport, stack)| stack.doubt(transport)).collect()
}

/// One flow of a group.
pub(super) fn flow(
    (index, place): (u32, u32),
    group: &FlowGroup,
    stacks: &Stacks,
    (times, warmup): ((Time, Time), Time),
    mut rng: Rng,
    failure: &FirstFailure,
) -> Result<EndpointFlow, SimError> {
    let app = group.app.of_member(place);
    let App::Endpoint { transport, carried, packet_bytes, ecn } = &app else {
        unreachable!("the flow has a transport library")
    };
    let seeds = [draw_seed(&mut rng), draw_seed(&mut rng)];
    let application = application(&app, carried, times, rng);
    let about = About {
        flow: index,
        name: format!("flows `{}`, flow {place}", group.name),
        transport,
        application,
        mtu: *packet_bytes,
        ecn: *ecn,
        times,
        warmup,
        seeds,
    };
    EndpointFlow::new(Arc::clone(&stacks[transport].stack), about, failure)
        .map_err(|why| SimError::invalid(&format!("endpoint[{transport}]"), why))
}

/// The application of a flow that starts and stops at these times.
fn application(app: &App, carried: &Carried, (start, stop): (Time, Time), rng: Rng) -> Application {
    let next = if start < stop { start } else { Time::NEVER };
    match carried {
        Carried::Video { frames, interval } => {
            Application::Video(VideoCall::new(frames.clone(), *interval, rng))
        }
        Carried::Voice { frame_bytes, .. } => Application::Voice(VoiceCall::new(*frame_bytes)),
        Carried::Web(web) => {
            let bytes = u64::from(web.request_bytes);
            let user = Box::new(WebUser::new(web.clone(), next, rng));
            Application::Requests(Requests::new(User::Web(user), bytes))
        }
        Carried::Bulk(_) | Carried::Files { .. } | Carried::Transfers(_) | Carried::Chunks(_) => {
            let plan = TransferPlan::of(app).expect("it has one transfer at a time");
            let user = User::Transfers { plan, rng, next };
            Application::Requests(Requests::new(user, REQUEST_BYTES))
        }
    }
}
