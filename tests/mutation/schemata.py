"""Many mutants in one program: each function with mutants becomes a `match` on a number.

cargo-mutants lists the replacements; this module writes all of them into the sources at once, so a
crate is compiled once instead of once per mutant. The environment variable SOJOURN_MUTANT chooses
the mutant of a process; without it the program is unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# The names of the functions that a process has entered go to the file SOJOURN_MUTANT_ENTERED.
SWITCH = """
#[doc(hidden)]
#[allow(missing_docs, warnings)]
pub mod mutation_switch {
    extern crate std;
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static CHOSEN: OnceLock<u32> = OnceLock::new();
    static LOG: OnceLock<Option<std::fs::File>> = OnceLock::new();
    static ENTERED: [AtomicBool; FUNCTIONS] = [const { AtomicBool::new(false) }; FUNCTIONS];

    #[inline]
    pub fn chosen(function: usize) -> u32 {
        if !ENTERED[function].load(Ordering::Relaxed) {
            enter(function);
        }
        *CHOSEN.get_or_init(|| {
            std::env::var("SOJOURN_MUTANT").map_or(0, |text| text.parse().unwrap_or(0))
        })
    }

    #[cold]
    fn enter(function: usize) {
        ENTERED[function].store(true, Ordering::Relaxed);
        let log = LOG.get_or_init(|| {
            let path = std::env::var_os("SOJOURN_MUTANT_ENTERED")?;
            std::fs::OpenOptions::new().create(true).append(true).open(path).ok()
        });
        if let Some(mut log) = log.as_ref() {
            let _ = std::write!(log, "{} ", BASE + function); // without an allocation
        }
    }
}
"""


@dataclass
class Mutant:
    """One change of one place: a row of `cargo mutants --list --json` with a number."""

    number: int
    package: str
    file: str
    name: str
    genre: str
    span: tuple[int, int, int, int]
    replacement: str
    function: tuple[int, int, int, int] | None

    @classmethod
    def read(cls, number: int, row: dict) -> Mutant:
        """From a row of cargo-mutants; lines and columns count from 1."""

        def span(value: dict) -> tuple[int, int, int, int]:
            start, end = value["start"], value["end"]
            return start["line"], start["column"], end["line"], end["column"]

        inside = row["function"] and span(row["function"]["span"])
        return cls(
            number,
            row["package"],
            row["file"],
            row["name"],
            row["genre"],
            span(row["span"]),
            row["replacement"],
            inside,
        )

    @property
    def crate(self) -> str:
        """The crate's folder."""
        return self.package.removeprefix("sojourn-")

    @property
    def group(self) -> str:
        """The first folder or file below `src`, by which the table counts."""
        return self.file.split("/src/")[1].split("/")[0].removesuffix(".rs")


class Source:
    """A file's text, with offsets for cargo-mutants' lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def offsets(self, span: tuple[int, int, int, int]) -> tuple[int, int]:
        line, column, last_line, last_column = span
        start = self.starts[line - 1] + column - 1
        return start, self.starts[last_line - 1] + last_column - 1

    def mutated(self, mutant: Mutant, start: int, end: int) -> str:
        """The text from `start` to `end` with the mutant's change in it."""
        first, last = self.offsets(mutant.span)
        return f"{self.text[start:first]} {mutant.replacement} {self.text[last:end]}"

    def body(self, function: tuple[int, int, int, int]) -> tuple[int, int, int] | None:
        """Positions of a function's `fn` and of its body; None if it cannot have a switch.

        A result `impl Trait` must be one type, but the closures of two mutants have two types."""
        start, end = self.offsets(function)
        blank = blanked(self.text[start:end])
        keyword = re.search(r"\bfn\b", blank)
        if keyword is None:
            return None
        opening = blank.find("{", keyword.start())
        if opening < 0 or re.search(r"->\s*impl\b", blank[:opening]):
            return None
        return start + keyword.start(), start + opening + 1, start + blank.rindex("}")


def blanked(text: str) -> str:
    """The text with comments, strings and characters blanked out, to count braces."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.[^']*|[^'\\])'"
    return re.sub(pattern, lambda match: " " * len(match[0]), text, flags=re.DOTALL)


@dataclass
class Rewritten:
    """A file with switches, and which lines belong to which mutant."""

    text: str
    lines: dict[int, int]
    numbers: set[int]


class Writer:
    """Writes the switches of a crate's files; functions are numbered from `base` on."""

    def __init__(self, base: int) -> None:
        self.base = base
        self.functions = 0
        # Mutant -> number of the function that it is in.
        self.function_of: dict[int, int] = {}

    def rewrite(self, source: Source, mutants: list[Mutant], keep_const: set[str]) -> Rewritten:
        """The file with all mutants that can be behind a switch.

        Functions named in `keep_const` are needed in constants and stay unchanged; mutants in
        constants or items of a file are in no function."""
        found = [(body, m) for m in mutants if m.function and (body := source.body(m.function))]
        outer = [body for body, _ in found if not any(within(body, other) for other, _ in found)]
        parts: list[str] = []
        lines: dict[int, int] = {}
        taken: set[int] = set()
        at, line = 0, 1

        def put(text: str) -> None:
            nonlocal line
            parts.append(text)
            line += text.count("\n")

        for keyword, start, end in sorted(set(outer)):
            name = re.match(r"fn\s+(\w+)", source.text[keyword:])
            inside = [m for body, m in found if start <= body[1] and body[2] <= end]
            head = source.text[at:keyword]
            const = re.search(r"\bconst\s+$", head)
            if const and name and name[1] in keep_const:
                continue
            put((head[: const.start()] if const else head) + source.text[keyword:start])
            put(f" match crate::mutation_switch::chosen({self.functions}) {{\n")
            for mutant in inside:
                first = line
                put(f"{mutant.number} => {{ {source.mutated(mutant, start, end)}\n}}\n")
                lines |= dict.fromkeys(range(first, line), mutant.number)
                self.function_of[mutant.number] = self.base + self.functions
                taken.add(mutant.number)
            put(f"_ => {{ {source.text[start:end]}\n}} }} ")
            self.functions += 1
            at = end
        put(source.text[at:])
        return Rewritten("".join(parts), lines, taken)

    def switch(self) -> str:
        """The module that is added to the crate's root."""
        constants = f"const BASE: usize = {self.base}; const FUNCTIONS: usize = {self.functions};"
        return SWITCH.replace("extern crate std;", f"extern crate std;\n    {constants}")


def within(inner: tuple[int, int, int], outer: tuple[int, int, int]) -> bool:
    """Whether one body is inside another one."""
    return outer[1] < inner[1] and inner[2] < outer[2]


def root(crate: Path) -> Path:
    """The file that gets the switch."""
    return crate / "src" / "lib.rs"
