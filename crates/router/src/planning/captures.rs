//! Adds captures of headers to a plan.

use sojourn_scenario::Resolved;

use super::arranged;
use super::refusal::Planned;
use super::topology::Commands;
use crate::plan::{HeaderCaptures, Plan};

/// A plan of the scenario with captures at both ends of the flows and on both sides of each queue.
///
/// # Errors
/// As [`arranged`], for a plan with programs.
pub fn with_header_captures(scenario: &Resolved, mut plan: Plan) -> Planned<Plan> {
    let of_programs = plan.programs.as_ref();
    let arranged = of_programs.map(|programs| arranged(scenario, &programs.wish.group));
    let arranged = arranged.transpose()?;
    let scenario = arranged.as_ref().unwrap_or(scenario);
    let link = scenario.flows[0].path[0] as u16;
    let sent_at = plan.sender_capture.unwrap_or_else(|| {
        let mut added = Commands::default();
        let sent_at = added.capture(scenario, &plan.bottleneck);
        plan.commands.extend(added.commands);
        plan.commands.sort_by_key(|command| command.program == "tc");
        plan.expected.extend(added.expected);
        sent_at
    });
    plan.header_captures = Some(HeaderCaptures { sent_at, link });
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;
    use crate::plan::{MIRROR, SenderCapture};
    use crate::planning::{Kernel, plan};

    #[test]
    fn senders_are_captured_before_netem_once() {
        for latency in [false, true] {
            let text = format!(
                "name = \"line\"\nduration = \"2s\"\n[record]\nlatency = {latency}\n\
                 [links.line]\nrate = \"10mbit\"\nqueue = \"codel@linux\"\n\
                 [[flows]]\npath = [\"line\"]\nrtt = \"20ms\"\napp = {{ kind = \"bulk\" }}\n"
            );
            let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
            let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
            let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
            let plan = plan(scenario.resolved(), kernel).unwrap();
            let plan = with_header_captures(scenario.resolved(), plan).unwrap();
            let adds = |line: &str| line == format!("link add {MIRROR} type dummy");
            let lines = plan.commands.iter().map(|command| command.arguments.join(" "));
            assert_eq!(lines.filter(|line| adds(line)).count(), 1);
            let sent_at = SenderCapture::Mirror;
            assert_eq!(plan.header_captures, Some(HeaderCaptures { sent_at, link: 0 }));
        }
    }
}
