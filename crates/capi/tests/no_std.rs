//! The C bindings without `std`: compiled from their source, linked to a host in C that provides
//! only memory, and run.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest library of the laws next to this test.
fn laws(folder: &Path) -> PathBuf {
    let files = folder.read_dir().expect("readable").filter_map(|entry| Some(entry.ok()?.path()));
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("libsojourn_aqm-") && name.ends_with(".rlib"))
    };
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    files.filter(is_library).max_by_key(age).expect("the laws were built for this test")
}

fn run(what: &str, command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_host_without_std_gets_every_aqm_for_three_functions() {
    let this = std::env::current_exe().expect("a test has a path");
    let deps = this.parent().expect("it lies in a folder");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (library, program) = (folder.join("libsojourn_no_std.a"), folder.join("no_std_host"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc
        .args(["--edition", "2024", "--crate-type", "staticlib", "-C", "panic=abort"])
        .args(["--crate-name", "sojourn_no_std", "-C", "opt-level=1", "--extern"])
        .arg(format!("sojourn_aqm={}", laws(deps).display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("-o")
        .arg(&library)
        .arg(here.join("src/lib.rs"));
    run("rustc", &mut rustc);
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/no_std/host.c"))
        .arg(&library)
        .arg("-o")
        .arg(&program);
    run("cc", &mut cc);
    let text = run("the host", &mut Command::new(&program));
    assert_eq!(text, "did you mean `pie`: yes\nall 1000 packets accounted for\nall memory freed\n");
}
