use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::{InProcesses, ProcessCommand};

/// The first words of a process of this version.
const HELLO: &str = r"printf '\010\000\000\000PEJS\002\000\000\000' >&0";

/// The host's error for a process that runs this shell script.
fn refusal(name: &str, script: &str) -> String {
    let file = std::env::temp_dir().join(format!("sojourn-{name}-{}", std::process::id()));
    fs::write(&file, script).unwrap();
    let found = described("/bin/sh".into(), Some(file.clone()));
    fs::remove_file(file).unwrap();
    found
}

fn described(program: PathBuf, library: Option<PathBuf>) -> String {
    let command = ProcessCommand { program, library };
    InProcesses::new(command, Vec::new(), Duration::from_secs(1)).unwrap_err()
}

#[test]
fn a_program_that_does_not_exist_is_refused() {
    let why = described("/nowhere/program".into(), None);
    assert!(why.starts_with("cannot be read (No such file"), "{why}");
}

#[test]
fn a_process_that_ends_is_named_with_its_end() {
    assert_eq!(refusal("exit", "exit 7"), "its process ended with code 7");
    assert_eq!(refusal("abort", "kill -ABRT $$"), "its process ended: it called abort()");
    assert_eq!(refusal("kill", "kill -KILL $$"), "its process was ended by signal 9");
    let closed = refusal("closed", "exec <&-; exec sleep 60");
    assert_eq!(closed, "its process has closed its standard input, over which it is asked");
    let later = format!("{HELLO}\nexit 0");
    assert_eq!(refusal("later", &later), "its process ended with code 0");
}

#[test]
fn a_process_that_says_nothing_is_ended_after_the_limit() {
    let why = "its process has said nothing for 1 s";
    assert_eq!(refusal("silent", "exec sleep 60"), why);
    assert_eq!(refusal("silent-later", &format!("{HELLO}\nexec sleep 60")), why);
}

#[test]
fn a_process_of_another_version_is_to_be_built_again() {
    let why = refusal("version", r"printf '\010\000\000\000PEJS\003\000\000\000' >&0; sleep 1");
    assert!(
        why.starts_with("speaks version 3 of the messages of sojourn_process.c, this"),
        "{why}"
    );
}

#[test]
fn an_answer_that_is_not_in_the_known_form_is_refused() {
    let why = "its process gave an answer that is not in the form of sojourn_process.c";
    assert_eq!(refusal("words", "echo some other text >&0; sleep 1"), why);
    let answers = [r"\001\000\000\000\377", r"\377\377\377\377", r"\002\000\000\000\004\001"];
    for (name, answer) in ["kind", "length", "cut"].iter().zip(answers) {
        assert_eq!(refusal(name, &format!("{HELLO}; printf '{answer}' >&0; sleep 1")), why);
    }
}
