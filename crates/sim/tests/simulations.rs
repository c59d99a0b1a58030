//! The simulator in whole simulations, one file per subject. They are modules of one program,
//! because each program is linked separately.

mod classes;
mod common;
mod controls;
mod diff;
mod duplicates;
mod ecn;
mod filling;
mod hand_computed;
mod handshake;
mod hosts;
mod late_services;
mod laws;
mod measures;
mod offload;
mod paths;
mod random_scenarios;
mod rfc7928;
mod schedules;
mod signals;
mod templates;
mod traffic;
mod witness;
mod wlan;
mod world;

use std::path::Path;

#[test]
fn every_file_of_this_folder_is_a_program_or_part_of_this_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (program, manifest) = (include_str!("simulations.rs"), include_str!("../Cargo.toml"));
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_part = program.lines().any(|line| line == format!("mod {name};"));
        let is_program = manifest.lines().any(|line| line == format!("name = \"{name}\""));
        assert!(is_part != is_program, "{name}");
    }
}
