//! The crate in a program without std, without a C library and without the operating system's
//! allocator. A target without an OS would show the same but need its own `core`; this needs only
//! the compiler: the program links this crate, `libm`, `core` and `alloc`, and the linker rejects
//! any other symbol.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest library of this crate next to this test.
fn library(folder: &Path) -> PathBuf {
    let files = folder.read_dir().expect("readable").filter_map(|entry| Some(entry.ok()?.path()));
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("libsojourn_aqm-") && name.ends_with(".rlib"))
    };
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    files.filter(is_library).max_by_key(age).expect("the crate was built for this test")
}

#[test]
fn the_crate_links_and_runs_without_std() {
    let this = std::env::current_exe().expect("a test has a path");
    let deps = this.parent().expect("it lies in a folder");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no_std/program.rs");
    let linked = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024", "-C", "panic=abort", "-C", "opt-level=1"])
        .args(["-C", "link-args=-nostartfiles -nostdlib -static -no-pie"])
        .args(["-C", "relocation-model=static"])
        .arg("--extern")
        .arg(format!("sojourn_aqm={}", library(deps).display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .output()
        .expect("the compiler that built this test is there");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let ran = Command::new(&program).status().expect("what was linked can be run");
    assert_eq!(ran.code(), Some(0));
}
