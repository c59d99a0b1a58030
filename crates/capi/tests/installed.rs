//! The library as `make install-c` installs it: the example builds with the output of pkg-config.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn run(what: &str, command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Installs into a prefix of this test, whose name has a blank.
fn installed() -> PathBuf {
    let prefix = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("a prefix");
    let mut install = Command::new("sh");
    install.arg(here().join("install.sh")).env("PREFIX", &prefix).env("PROFILE", "dev");
    install.env_remove("DESTDIR").env_remove("LIBDIR").env_remove("INCLUDEDIR");
    let text = run("install.sh", &mut install);
    assert!(text.starts_with(concat!("sojourn-aqm ", env!("CARGO_PKG_VERSION"), ", ")), "{text}");
    prefix
}

/// The words that pkg-config prints; it writes a blank within a word as `\\ `.
fn pkg_config(prefix: &Path, words: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(words).arg("sojourn-aqm").env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let printed = run("pkg-config", &mut command).replace("\\ ", "\0");
    printed.split_whitespace().map(|word| word.replace('\0', " ")).collect()
}

/// Builds the example with the output of pkg-config, and returns what it prints.
fn example(prefix: &Path, name: &str, words: &[&str]) -> String {
    let program = prefix.join(name);
    let mut cc = Command::new("cc");
    cc.arg(here().join("examples/fq_codel.c")).arg("-o").arg(&program);
    run("cc", cc.args(pkg_config(prefix, words)));
    run("the example", Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")))
}

#[test]
fn the_example_builds_with_pkg_config_alone() {
    if let Some(missing) = ["cc", "pkg-config"].into_iter().find(|program| !has(program)) {
        println!("skipped: {missing} is not installed");
        return;
    }
    let prefix = installed();
    assert_eq!(pkg_config(&prefix, &["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let shared = example(&prefix, "shared", &["--cflags", "--libs"]);
    assert!(shared.contains("active_queues 3"), "{shared}");
    // Without the shared libraries, the linker takes the static one.
    for entry in prefix.join("lib").read_dir().expect("readable") {
        let path = entry.expect("readable").path();
        if path.to_string_lossy().contains(".so") || path.to_string_lossy().contains(".dylib") {
            std::fs::remove_file(path).expect("removable");
        }
    }
    assert_eq!(example(&prefix, "static", &["--cflags", "--libs", "--static"]), shared);
}

#[test]
fn a_relative_prefix_is_refused() {
    let mut install = Command::new("sh");
    let refused = install.arg(here().join("install.sh")).env("PREFIX", "somewhere").output();
    let refused = refused.expect("there is a shell");
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(text, "install-c: `somewhere` must be an absolute path\n");
}
