//! Shell commands: those that change a setting of the endpoint, and those that are irrelevant to
//! it. Nothing is executed.

use crate::host::{Settings, StepError};

/// Linux `GSO_LEGACY_MAX_SIZE`: the most that a host hands down at once. Without pacing it does not
/// affect the compared behaviour.
const OFFLOAD_BYTES: u32 = 65_536;

/// Nesting of files that refer to other files.
const DEPTH: u32 = 8;

/// Returns the text of a file named in a script, if it exists.
pub type FileTexts<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Applies every command to the settings.
pub(crate) fn apply(
    commands: &str,
    settings: &mut Settings,
    files: FileTexts<'_>,
) -> Result<(), StepError> {
    apply_within(commands, settings, files, 0)
}

fn apply_within(
    commands: &str,
    settings: &mut Settings,
    files: FileTexts<'_>,
    depth: u32,
) -> Result<(), StepError> {
    for line in commands.replace("\\\n", " ").split(['\n', ';']) {
        let words = words(line);
        if let Some((program, args)) = words.split_first() {
            command((program, args), settings, files, depth)?;
        }
    }
    Ok(())
}

fn command(
    (program, args): (&str, &[String]),
    settings: &mut Settings,
    files: FileTexts<'_>,
    depth: u32,
) -> Result<(), StepError> {
    let name = program.rsplit('/').next().unwrap_or_default();
    let said: Vec<&str> = args.iter().map(String::as_str).collect();
    match (name, said.as_slice()) {
        ("sysctl" | "set_sysctls.py", args) => {
            args.iter().filter(|arg| !arg.starts_with('-')).try_for_each(|arg| set(arg, settings))
        }
        ("ip", ["tcp_metrics", ..]) | ("tc", ["qdisc", "add", .., "pfifo"]) => Ok(()),
        ("tc", ["qdisc", "replace" | "add", .., "fq"]) => {
            settings.profile.pacing = true;
            settings.profile.offload_bytes = Some(OFFLOAD_BYTES);
            Ok(())
        }
        (name, []) if name.ends_with(".sh") && name.contains("restore") => Ok(()),
        (name, []) if name.ends_with(".sh") => {
            let Some(text) = files(program) else {
                return Err(StepError::not_modelled(format!(
                    "`{program}` is not in the script's folder"
                )));
            };
            if depth == DEPTH {
                return Err(StepError::not_modelled(format!(
                    "`{program}`: files that name each other more than {DEPTH} deep"
                )));
            }
            apply_within(&text, settings, files, depth + 1)
        }
        (name, args) => {
            Err(StepError::not_modelled(format!("the command {name} {}", args.join(" "))))
        }
    }
}

/// `net.ipv4.NAME=VALUE`, or with slashes.
fn set(assignment: &str, settings: &mut Settings) -> Result<(), StepError> {
    let (path, value) = assignment.split_once('=').unwrap_or((assignment, ""));
    let path = path.trim_start_matches("/proc/sys/").replace('/', ".");
    match path.strip_prefix("net.ipv4.") {
        Some(name) => settings.set(name, value.trim_matches('"')),
        None => Err(StepError::not_modelled(format!("sysctl {assignment}"))),
    }
}

/// The words of a command, without comments and redirections. Quotes and `$((...))` keep their
/// contents together.
fn words(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0_i32);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if c == '#' && !quoted {
            break;
        }
        if c.is_whitespace() && !quoted && depth == 0 {
            found.push(String::new());
        } else if let Some(word) = found.last_mut() {
            word.push(c);
        }
    }
    found.retain(|word| !word.is_empty());
    let output = found.iter().position(|word| word.contains('>')).unwrap_or(found.len());
    found.truncate(output);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(commands: &str) -> Result<Settings, StepError> {
        let mut settings = Settings::default();
        let files = |name: &str| {
            (name == "./defaults.sh").then(|| "sysctl -q net.ipv4.tcp_sack=0 # off".to_owned())
        };
        apply(commands, &mut settings, &files)?;
        Ok(settings)
    }

    #[test]
    fn a_later_command_overrides_what_a_named_file_has_set() {
        let commands = "./defaults.sh\n set_sysctls.py \\\n /proc/sys/net/ipv4/tcp_timestamps=0";
        let settings = applied(commands).unwrap();
        assert_eq!((settings.profile.sack, settings.profile.timestamps), (false, false));
        let again = applied("./defaults.sh\nsysctl -q net.ipv4.tcp_sack=1 >/dev/null 2>&1");
        assert!(again.unwrap().profile.sack);
    }

    #[test]
    fn a_file_that_names_itself_is_refused() {
        let files = |_: &str| Some("./again.sh".to_owned());
        let refusal = apply("./again.sh", &mut Settings::default(), &files).unwrap_err();
        let why = "`./again.sh`: files that name each other more than 8 deep";
        assert_eq!(refusal, StepError::not_modelled(why));
    }

    #[test]
    fn a_value_of_several_words_is_one_and_buffers_do_not_matter() {
        assert!(applied("sysctl -q net.ipv4.tcp_rmem=\"4096 5 $((15*1024*1024))\"").is_ok());
    }

    #[test]
    fn what_is_not_known_is_refused_and_never_executed() {
        for (commands, why) in [
            ("touch /tmp/x", "the command touch /tmp/x"),
            ("../other.sh", "`../other.sh` is not in the script's folder"),
            ("sysctl -q net.ipv4.tcp_recovery=0", "sysctl tcp_recovery=0"),
            ("sysctl -q net.core.x=1", "sysctl net.core.x=1"),
        ] {
            let refusal = applied(commands).unwrap_err();
            assert_eq!(refusal, StepError::not_modelled(why));
        }
    }
}
