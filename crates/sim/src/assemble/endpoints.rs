//! Flows over a transport library of the caller.

use sojourn_aqm::{Ecn, Rng, Time};
use sojourn_endpoint::{ConfiguredStack, Stacks};
use sojourn_scenario::resolved::{App, Carried, FlowGroup, Resolved};

use crate::SimError;
use crate::app::endpoint::{About, EndpointFlow, FirstFailure, VideoCall};

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
    let needs_video = group.app.bulk().is_none();
    if stack.carries_video() == needs_video {
        return Ok(());
    }
    let (own, other) = if needs_video { ("bulk", "video") } else { ("video", "bulk") };
    let message =
        format!("{in_full} carries kind `{own}`, and flows[{index}].app has kind `{other}`");
    Err(SimError::invalid(&format!("endpoint[{name}]"), message + "; change one of the two"))
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
    let App::Endpoint { transport, carried, packet_bytes, ecn } = &group.app else {
        unreachable!("the flow has a transport library")
    };
    let seeds = [seed(&mut rng), seed(&mut rng)];
    let (bytes, video) = match carried {
        Carried::Bulk(bytes) => (*bytes, None),
        Carried::Video { frames, interval } => {
            (None, Some(VideoCall::new(frames.clone(), *interval, rng)))
        }
    };
    let about = About {
        flow: index,
        name: format!("flows `{}`, flow {place}", group.name),
        transport,
        bytes,
        video,
        mtu: *packet_bytes,
        ecn: *ecn,
        times,
        warmup,
        seeds,
    };
    EndpointFlow::new(stacks[transport].stack.as_ref(), about, failure)
        .map_err(|why| SimError::invalid(&format!("endpoint[{transport}]"), why))
}

fn seed(rng: &mut Rng) -> [u8; 32] {
    let mut seed = [0; 32];
    for word in seed.chunks_exact_mut(8) {
        word.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    seed
}
