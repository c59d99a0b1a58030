//! The part of TCP profiles that every host needs: their names and default congestion controls.
//! Their rules are in the simulator.

use sojourn_aqm::params::nearest;

/// The name of a TCP profile and its default congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpProfile {
    /// Its name.
    pub name: &'static str,
    /// Its default congestion control.
    pub cc: &'static str,
}

const fn named(name: &'static str, cc: &'static str) -> TcpProfile {
    TcpProfile { name, cc }
}

/// Every profile: nine stacks, then the presets of five papers.
pub const TCP_PROFILES: [TcpProfile; 15] = [
    named("linux", "cubic"),
    named("linux-fq", "cubic"),
    named("linux-7.2", "cubic"),
    named("linux-7.2-fq", "cubic"),
    named("linux-2.6", "reno"),
    named("newreno", "reno"),
    named("sack", "reno"),
    named("reno", "reno"),
    named("tahoe", "reno"),
    named("madpie", "cubic"),
    named("codel-act", "reno"),
    named("pi2-ns3", "reno"),
    named("pie-ns2", "reno"),
    named("kids-3.8", "reno"),
    named("pie-3.5", "reno"),
];

/// Looks up a profile by name.
///
/// # Errors
/// A sentence with the nearest name.
pub fn tcp_profile(name: &str) -> Result<TcpProfile, String> {
    let found = TCP_PROFILES.iter().find(|profile| profile.name == name.trim());
    found.copied().ok_or_else(|| {
        let names = TCP_PROFILES.map(|profile| profile.name);
        let list = names.join(", ");
        match nearest(name, names.to_vec()) {
            Some(near) => {
                format!("unknown TCP profile `{name}`; did you mean `{near}`? Known: {list}")
            }
            None => format!("unknown TCP profile `{name}`; known: {list}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_an_unknown_profile_names_the_nearest() {
        let error = tcp_profile("linus").expect_err("`linus` is unknown");
        assert!(error.contains("did you mean `linux`"), "{error}");
        assert!(TCP_PROFILES.iter().all(|known| tcp_profile(known.name) == Ok(*known)));
    }
}
