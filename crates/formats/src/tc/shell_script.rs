//! The steps and functions of a script.

use super::shell::sets_up;
use super::shell_words::{first_word, is_name};

/// A part of a script.
#[derive(Debug)]
pub(super) enum Step {
    /// A command.
    Command(Part),
    /// `for NAME in LIST`.
    For { line: usize, name: String, list: String, body: Vec<Step> },
    /// `while`, `until` and the `for` of C: the word, the condition (for C all three parts), and
    /// what runs repeatedly.
    While { line: usize, word: String, head: String, body: Vec<Step> },
    /// `if` or `case` with its branches, whether one of them always runs, and the word that `case`
    /// compares.
    Choice {
        line: usize,
        word: &'static str,
        subject: String,
        branches: Vec<Branch>,
        is_whole: bool,
    },
}

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// The text without the marks around it.
    pub(super) text: String,
    /// Whether it runs only if the command before it succeeds (`&&`).
    pub(super) is_conditional: bool,
    /// Whether `do` or `then` follows, so that its first word is one of the shell, not of a
    /// sentence around the commands.
    pub(super) is_block: bool,
}

/// A branch with the pattern of a `case`, or the condition of an `if`; both empty after `else`.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) label: String,
    pub(super) condition: String,
    pub(super) body: Vec<Step>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Vec<Step>,
    /// Whether it adds or changes something.
    sets_up: bool,
}

/// A script.
#[derive(Default, Debug)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    pub(super) functions: Vec<Function>,
}

impl Function {
    pub(super) fn new(name: &str, body: Vec<Step>) -> Function {
        Function { name: name.to_owned(), body, sets_up: false }
    }
}

impl Script {
    /// Whether any of the steps, or of the functions that they call, adds or changes something.
    pub(super) fn changes(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match step {
            Step::Command(part) => self.is_setting(&part.text),
            Step::For { body, .. } | Step::While { body, .. } => self.changes(body),
            Step::Choice { branches, .. } => branches.iter().any(|it| self.changes(&it.body)),
        })
    }

    /// Finds the functions that add or change something.
    pub(super) fn find_setters(&mut self) {
        loop {
            let is_new = |it: &Function| !it.sets_up && self.changes(&it.body);
            let Some(at) = self.functions.iter().position(is_new) else { return };
            self.functions[at].sets_up = true;
        }
    }

    /// The function that a command calls.
    pub(super) fn called(&self, text: &str) -> Option<&Function> {
        let name = first_word(text).0;
        self.functions.iter().find(|it| it.name == name && name != "tc")
    }

    /// Whether a command adds or changes something, or calls a function that does.
    pub(super) fn is_setting(&self, text: &str) -> bool {
        sets_up(text) || self.called(text).is_some_and(|it| it.sets_up)
    }

    /// The functions that nothing calls and that add or change something.
    pub(super) fn uncalled(&self) -> Vec<&Function> {
        let bodies = self.functions.iter().flat_map(|it| &it.body).chain(&self.steps);
        let mut words = Vec::new();
        bodies.for_each(|step| first_words(step, &mut words));
        words.sort_unstable();
        let is_called = |it: &Function| words.binary_search(&it.name.as_str()).is_ok();
        self.functions.iter().filter(|it| it.sets_up && !is_called(it)).collect()
    }
}

/// The first words of all commands.
fn first_words<'s>(step: &'s Step, all: &mut Vec<&'s str>) {
    match step {
        Step::Command(part) => all.push(first_word(&part.text).0),
        Step::For { body, .. } | Step::While { body, .. } => {
            body.iter().for_each(|it| first_words(it, all));
        }
        Step::Choice { branches, .. } => {
            branches.iter().flat_map(|it| &it.body).for_each(|it| first_words(it, all));
        }
    }
}

/// The variables that the steps assign.
pub(super) fn assigned(steps: &[Step], all: &mut Vec<String>) {
    for step in steps {
        match step {
            Step::Command(part) => {
                let text = part.text.trim_start_matches("export ").trim_start_matches("local ");
                let name = text.split_once('=').map_or("", |it| it.0).trim_end_matches('+');
                if is_name(name) {
                    all.push(name.to_owned());
                }
            }
            Step::For { body, .. } | Step::While { body, .. } => assigned(body, all),
            Step::Choice { branches, .. } => {
                branches.iter().for_each(|it| assigned(&it.body, all));
            }
        }
    }
}
