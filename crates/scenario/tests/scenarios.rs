//! Tests of the crate from outside, one file per subject, in a single program because each is
//! linked separately. Only `shipped` is separate: it reads files outside the package, so the
//! package excludes it.

mod aqms;
mod as_json;
mod errors;
mod expectations;
mod resolution;
mod round_trip;
mod schema;
mod templates;

use std::path::Path;

#[test]
fn every_file_of_this_folder_is_a_part_of_this_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let program = include_str!("scenarios.rs");
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_part = program.lines().any(|line| line == format!("mod {name};"));
        assert!(is_part || ["scenarios", "shipped"].contains(&name), "{name}");
    }
}
