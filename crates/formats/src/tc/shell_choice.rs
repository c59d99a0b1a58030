//! `if` and `case`: which branch runs, as far as the text tells.

use super::shell_run::Shell;
use super::shell_script::{Branch, Part, Step, assigned};
use super::shell_values::takes;
use super::shell_words::unquoted;
use super::tree::TcNoteKind;
use crate::FormatError;

impl Shell<'_> {
    /// A branch whose commands set something up is taken to run if it is the only one.
    pub(super) fn choice(
        &mut self,
        (line, word, subject): (usize, &str, &str),
        branches: &[Branch],
        is_whole: bool,
    ) -> Result<(), FormatError> {
        let decided = self.decided(word, subject, branches);
        self.tell(line);
        if let Some(decided) = decided {
            return decided.map_or(Ok(()), |it| self.steps(&it.body));
        }
        let setting: Vec<&Branch> =
            branches.iter().filter(|it| self.script.changes(&it.body)).collect();
        let is_start = |it: &&&Branch| it.label.split('|').any(|it| it.trim() == "start");
        let chosen = match setting.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => match several.iter().find(is_start) {
                Some(start) => Some(*start),
                None => {
                    let message = format!(
                        "several branches of `{word}` set up disciplines, and which of them runs \
                         is not in the text: delete the others"
                    );
                    return Err(FormatError::at(line, message));
                }
            },
        };
        let Some(chosen) = chosen else {
            self.without_commands(branches, is_whole);
            return Ok(());
        };
        let which = match chosen.label.as_str() {
            "" => String::new(),
            label => format!(" under `{label})`"),
        };
        let text = format!("the commands of `{word}`{which} are taken to run");
        self.setup.note(TcNoteKind::Unknown, line, text);
        self.steps(&chosen.body)
    }

    /// The branch that runs, if the text tells which one, or that none does.
    fn decided<'b>(
        &mut self,
        word: &str,
        subject: &str,
        branches: &'b [Branch],
    ) -> Option<Option<&'b Branch>> {
        let value = unquoted(&self.variables.replaced(subject));
        if word == "case" && value.contains(['$', '`']) {
            return None;
        }
        for branch in branches {
            let holds = match (word, branch.condition.as_str()) {
                ("case", _) => takes(&branch.label, &value)?,
                (_, "") => true,
                (_, condition) => self.variables.holds(condition)?,
            };
            if holds {
                return Some(Some(branch));
            }
        }
        Some(None)
    }

    /// Branches that set up nothing may still assign variables: one that is known stays known only
    /// if no branch assigns it.
    fn without_commands(&mut self, branches: &[Branch], is_whole: bool) {
        let mut names = Vec::new();
        branches.iter().for_each(|it| assigned(&it.body, &mut names));
        let is_twice = |name: &String| names.iter().filter(|it| *it == name).count() > 1;
        let (unsure, sure): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|it| is_whole || is_twice(it) || self.variables.is_known(it));
        unsure.iter().for_each(|it| self.variables.forget(it));
        let alone = |part: &Part| {
            let mut own = Vec::new();
            let step = Step::Command(part.clone());
            assigned(std::slice::from_ref(&step), &mut own);
            own.first().is_some_and(|it| sure.contains(&it))
        };
        for step in branches.iter().flat_map(|it| &it.body) {
            if let Step::Command(part) = step
                && alone(part)
            {
                self.variables.assign(&part.text);
            }
        }
    }
}
