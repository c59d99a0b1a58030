//! A law in a library makes the same decisions as the same law in the registry.

use std::path::PathBuf;

use sojourn_aqm::contract::host::Host;
use sojourn_aqm::contract::traffic;
use sojourn_aqm::{CustomLaws, Limit, QdiscSpec};
use sojourn_law::host::load;

/// An example of this crate, which cargo builds before its tests.
fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps");
    profile.join("examples").join(format!(
        "{}{name}{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

fn laws() -> CustomLaws {
    let of = |name: &str| {
        let path = library(name);
        load(&path, &path, name, "a test").expect("it is built for this host")
    };
    CustomLaws::new([of("codel_law"), of("pie_law")]).expect("two names")
}

/// The fate of every packet of random traffic.
fn digest(text: &str, laws: &CustomLaws) -> (u64, u64) {
    let spec = QdiscSpec::parse_with(&format!("{text},limit=400p"), laws).expect("a legal text");
    let mut host = Host::new(&spec, Limit::Packets(400), 11);
    traffic::run(&mut host, 100_000);
    host.insist();
    (host.ledger.digest, host.ledger.signals())
}

#[test]
fn a_law_in_a_library_gives_the_digest_of_the_registered_one() {
    let laws = laws();
    for settings in ["ecn=true", "target=3ms,ecn=false"] {
        for name in ["codel", "pie"] {
            for form in [format!("{name}_rust:"), format!("fq({name}_rust):flows=16,")] {
                let own = digest(&format!("{form}{settings}"), &laws);
                let known = form.replace("_rust", "");
                assert_eq!(own, digest(&format!("{known}{settings}"), &laws), "{form}{settings}");
                assert!(own.1 > 500, "{form}{settings}: {} signals", own.1);
            }
        }
    }
}

#[test]
fn a_library_keeps_the_rules_of_the_law_between_its_parameters() {
    let refused = |text: &str| QdiscSpec::parse_with(text, &laws()).unwrap_err().message;
    let sentence = refused("codel_rust:target=200ms");
    assert!(sentence.contains("target `200ms` must be at most interval `100ms`"), "{sentence}");
    assert!(refused("pie_rust:alpha=1").contains("hz"));
    assert!(refused("pie_rust:ecn_mark_limit=2").contains("must be a probability"));
}
