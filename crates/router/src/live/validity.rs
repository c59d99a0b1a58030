//! Decides whether a run of the live router was a valid experiment.

use super::plan::INTERFACES;
use super::state::RouterState;

/// Reasons why a run is invalid, one sentence each. `overflowed`: the packets that each device
/// dropped.
pub(super) fn invalid_reasons(
    router: &RouterState<'_>,
    offloads: &[String],
    overflowed: [u64; 2],
) -> Vec<String> {
    let mut reasons = Vec::new();
    if !offloads.is_empty() {
        let on = offloads.join(", ");
        reasons.push(format!("offloads stayed on, so queues held packets of many segments: {on}"));
    }
    let latest_ns = router.lateness.max_ns().unwrap_or(0);
    if latest_ns > router.plan.stall_ns {
        reasons.push(format!(
            "the host stalled: something was {:.1} ms late, and --stall allows {:.1} ms; run on a \
             quiet host, with --realtime or --spin",
            latest_ns as f64 / 1e6,
            router.plan.stall_ns as f64 / 1e6,
        ));
    }
    for (name, packets) in INTERFACES.iter().zip(overflowed).filter(|(_, packets)| *packets > 0) {
        reasons.push(format!(
            "{packets} packets were lost at {name} before the router took them, so the bottleneck \
             was this machine; choose a lower rate"
        ));
    }
    if router.refused > 0 {
        let refused = router.refused;
        reasons.push(format!("{refused} packets were refused by the device behind the router"));
    }
    reasons
}
