//! The example in C, compiled against the generated header and both libraries, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest library with that file ending next to this test.
fn library(ending: &str) -> PathBuf {
    let this = std::env::current_exe().expect("a test has a path");
    let deps = this.parent().expect("it lies in a folder").to_owned();
    let folders = [deps.parent().expect("deps lies in a folder").to_owned(), deps];
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("libsojourn_aqm_c") && name.ends_with(ending))
    };
    let files = folders.iter().flat_map(|folder| folder.read_dir().into_iter().flatten());
    let found = files.filter_map(|entry| Some(entry.ok()?.path())).filter(is_library);
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    found.max_by_key(age).unwrap_or_else(|| panic!("no library ending in {ending}"))
}

/// Compiles the example with a library, runs it and returns what it prints.
fn run(ending: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library(ending);
    let folder = library.parent().expect("a file lies in a folder");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fq_codel{ending}"));
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(here.join("include"))
        .arg(here.join("examples/fq_codel.c"))
        .arg(&library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).env("LD_LIBRARY_PATH", folder).output();
    let ran = ran.expect("what was compiled can be run");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    text
}

#[test]
fn the_c_program_prints_the_same_with_both_libraries() {
    let (fixed, shared) = (run(".a"), run(".so"));
    assert_eq!(fixed, shared);
    assert!(fixed.contains("did you mean `fq_codel`"), "{fixed}");
    assert!(fixed.contains("active_queues 3"), "{fixed}");
}
