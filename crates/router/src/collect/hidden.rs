//! Remedies for programs that fail because they cannot find a file of the machine.
//!
//! Results are collected outside the guest, where the files exist that it does not show.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::plan::{PROGRAM_PATH, ProgramsPlan, WORKING_FOLDER};

/// Folders and files that a guest has itself.
const OWN: [&str; 9] = [
    "/dev",
    "/etc/group",
    "/etc/hosts",
    "/etc/passwd",
    "/etc/resolv.conf",
    "/proc",
    "/run",
    "/sys",
    WORKING_FOLDER,
];
/// Folders in which programs write, new and empty on each host.
const WRITTEN: [&str; 4] = ["/var/cache", "/var/lib", "/var/log", "/var/spool"];

const PYTHON: &str = "; programs have the system's Python: --see DIR and --env PYTHONPATH=DIR add \
                      modules";
/// POSIX shell, exit status: not executable, and no such program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// The machine, as its user's commands see it.
pub(super) struct Machine {
    folder: Option<PathBuf>,
    search: Vec<PathBuf>,
}

impl Machine {
    /// This process's folder and search path.
    pub(super) fn here() -> Machine {
        let search = env::var_os("PATH").unwrap_or_default();
        Machine { folder: env::current_dir().ok(), search: env::split_paths(&search).collect() }
    }

    /// A remedy for what a failed command of a host wrote, as the end of a sentence; empty if the
    /// text names no file that only the machine has.
    pub(super) fn remedy(
        &self,
        text: &str,
        (command, exit_code): (&str, Option<i32>),
        host: usize,
        programs: &ProgramsPlan,
    ) -> String {
        let wish = &programs.wish.hosts[host];
        let of_file = |word| self.of_file(word, &programs.wish.visible);
        let of_folder = |word| {
            let folder = self.folder.as_deref().filter(|_| wish.folder.is_none())?;
            is_in(folder, word, command).then(|| {
                let (name, folder) = (&wish.name, folder.display());
                format!("; its working folder is private: --folder {name}=. takes {folder}")
            })
        };
        let of_program = |word| {
            let is_missing = exit_code == Some(NOT_FOUND);
            is_missing.then(|| self.of_program(word, command, &programs.wish.visible))?
        };
        let of_mode = |word| (exit_code == Some(NOT_EXECUTABLE)).then(|| of_mode(word))?;
        let found = words(text).find_map(|word| {
            let hidden = of_folder(word).or_else(|| of_file(word));
            hidden.or_else(|| of_program(word)).or_else(|| of_mode(word))
        });
        let python = text.contains("No module named").then(|| PYTHON.to_owned());
        found.or(python).unwrap_or_default()
    }

    fn of_file(&self, word: &str, visible: &[String]) -> Option<String> {
        let path = Path::new(word);
        if path.is_relative() || !path.exists() || is_visible(path, visible) {
            return None;
        }
        if WRITTEN.iter().any(|folder| path.starts_with(folder)) {
            let folder = if path.is_dir() { path } else { path.parent()? };
            return Some(format!(
                "; a host has a new /var: begin with mkdir -p {}",
                folder.display()
            ));
        }
        Some(format!("; --see {word}, or its folder, lets programs read it"))
    }

    /// Programs elsewhere than where a guest looks for them.
    fn of_program(&self, word: &str, command: &str, visible: &[String]) -> Option<String> {
        if word.contains('/') || !command.contains(word) {
            return None;
        }
        let folder = self.search.iter().find(|folder| folder.join(word).is_file())?;
        let name = folder.to_str()?;
        let see = match is_visible(folder, visible) {
            true if PROGRAM_PATH.split(':').any(|known| known == name) => return None,
            true => String::new(),
            false => format!(", with --see {name}"),
        };
        Some(format!("; programs find it as {name}/{word}{see}"))
    }
}

/// A file that is not executable, or a folder.
fn of_mode(word: &str) -> Option<String> {
    let path = Path::new(word);
    let metadata = path.metadata().ok().filter(|_| path.is_absolute())?;
    match (metadata.is_dir(), metadata.permissions().mode() & 0o111) {
        (true, _) => Some(format!("; {word} is a folder: name a program in it")),
        (false, 0) => Some(format!("; {word} is not executable: chmod +x {word}")),
        (false, _) => None,
    }
}

fn is_visible(path: &Path, visible: &[String]) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut shown = visible.iter().map(String::as_str).chain(OWN);
    path == Path::new("/") || shown.any(|shown| path.starts_with(shown) || real.starts_with(shown))
}

/// Whether a relative path in a command exists in a folder of the machine.
fn is_in(folder: &Path, word: &str, command: &str) -> bool {
    let path = Path::new(word);
    let path = path.strip_prefix(WORKING_FOLDER).unwrap_or(path);
    let is_named = path.to_str().is_some_and(|path| !path.is_empty() && command.contains(path));
    is_named && path.is_relative() && folder.join(path).exists()
}

/// The parts of a message that may be paths or names of programs.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`(),:;=[]<>".contains(c);
    text.split(is_between).map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::planning::tests_of_programs::{BOTH, line, wish};
    use crate::planning::{Kernel, plan_with_programs};

    /// Folders made: tests run at the same time, each in its own.
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);

    /// The remedies for these texts, in which `HERE` is a folder that only the machine has.
    fn remedies(texts: &[&str], own: Option<&str>) -> Vec<String> {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("sojourn-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["serve.py", "tool"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let here = folder.to_str().unwrap();
        let mut wish = wish(&BOTH);
        wish.visible = vec!["/usr".to_owned()];
        wish.hosts[0].folder = own.map(str::to_owned);
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        let plan = plan_with_programs(&line(""), kernel, wish).unwrap().programs.unwrap();
        let machine = Machine { folder: Some(folder.clone()), search: vec![folder.clone()] };
        let remedy = |text: &&str| {
            let text = text.replace("HERE", here);
            let code = match text.as_str() {
                text if text.contains("not found") => NOT_FOUND,
                text if text.contains("Permission denied") => NOT_EXECUTABLE,
                _ => 1,
            };
            let command = ("python3 serve.py --tool tool", Some(code));
            machine.remedy(&text, command, 0, &plan).replace(here, "HERE")
        };
        let found = texts.iter().map(remedy).collect();
        fs::remove_dir_all(&folder).unwrap();
        found
    }

    #[test]
    fn a_file_that_only_the_machine_has_gets_the_option_that_shows_it() {
        let texts = [
            "open() \"HERE/serve.py\" failed (2: No such file or directory)",
            "cannot open /usr/bin/env, /dev/stderr, /etc/hosts or /no/such/file: /",
            "python3: can't open file '/tmp/own/serve.py': [Errno 2]",
            "can't open serve.py",
        ];
        let folder = "; its working folder is private: --folder server=. takes HERE";
        let file = "; --see HERE/serve.py, or its folder, lets programs read it";
        assert_eq!(remedies(&texts, None), [file, "", folder, folder]);
        assert_eq!(remedies(&texts, Some("/usr"))[2..], ["", ""]);
    }

    #[test]
    fn a_file_that_is_not_executable_gets_the_command_that_makes_it_so() {
        let texts = ["/bin/sh: 1: /proc/version: Permission denied", "/usr: Permission denied"];
        let mode = "; /proc/version is not executable: chmod +x /proc/version";
        let found = remedies(&texts, Some("/usr"));
        assert_eq!(found, [mode, "; /usr is a folder: name a program in it"]);
    }

    #[test]
    fn a_program_that_guests_do_not_find_gets_its_path() {
        let found = remedies(&["/bin/sh: 1: tool: not found"], Some("/"));
        assert_eq!(found, ["; programs find it as HERE/tool, with --see HERE"]);
    }
}
