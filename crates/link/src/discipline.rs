//! The discipline of a link: one queue, or a scheduler of classes with a queue each.

use sojourn_aqm::{Env, Packet, Qdisc, QdiscSpec, SpecError};
use sojourn_scenario::resolved::Link as LinkPlan;

/// Builds the discipline of a scenario's link. `env` describes the link's queue; `make` builds the
/// queue of one AQM. Each class salts its hashes differently.
///
/// # Errors
/// As `make`.
pub fn discipline<P: Packet + Send + 'static>(
    link: &LinkPlan,
    env: &Env,
    make: impl Fn(&QdiscSpec, &Env) -> Result<Box<dyn Qdisc<P>>, SpecError>,
) -> Result<Box<dyn Qdisc<P>>, SpecError> {
    let Some(scheduler) = &link.scheduler else { return make(&link.queue.in_place(), env) };
    let queue = |index: usize| {
        let (queue, limit) = link.queue_of(&scheduler.classes[index]);
        let salt = env.salt.wrapping_add(index as u64);
        let env = Env { limit, mtu_bytes: link.mtu_bytes_of(queue), salt, ..*env };
        make(&queue.in_place(), &env)
    };
    let queues = scheduler.leaves().map(queue).collect::<Result<Vec<_>, SpecError>>()?;
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(hfsc) = scheduler.hfsc() {
        return Ok(hfsc.build(queues));
    }
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(ets) = scheduler.ets() {
        return Ok(ets.build(queues));
    }
    Ok(match (scheduler.htb(), scheduler.prio()) {
        (Some(htb), _) => htb.build(queues),
        (None, Some(prio)) => prio.build(queues),
        (None, None) => unreachable!("a scheduler is one of those"),
    })
}
