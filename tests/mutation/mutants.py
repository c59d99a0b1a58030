"""Mutation testing of crates: `make mutants CRATES=aqm SAMPLE=250 SEED=1`.

cargo-mutants (`cargo install cargo-mutants`) lists the possible changes; this program draws a
sample, compiles all of it into one program (schemata.py) and runs, for each mutant, the tests that
enter its function, fastest first, until one fails. Documentation tests are not run. Results go to
`target/mutation`; a second run with `--again` tests only the survivors of the first one, to try a
new test. Results are in docs/evidence/mutation.md."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from schemata import SWITCH, Mutant, Source, Writer, root

REPOSITORY = Path(__file__).resolve().parents[2]
# A separate target folder, because cargo confuses the copies with the crates of this tree.
TARGET = REPOSITORY / "target" / "mutation"

# The tests of a crate, as cargo names them. Links and measures run no simulations in their tests,
# so the simulator's tests against arithmetic by hand also apply to them.
SIMULATIONS = "sim --test simulations"
TESTS = {
    "aqm": ["aqm --lib --tests"],
    "link": ["link --lib", "measure --lib", SIMULATIONS],
    "measure": ["link --lib", "measure --lib", SIMULATIONS],
    "sim": ["sim --lib --tests"],
    "scenario": ["scenario --lib --tests"],
}
# Tests that the switch itself breaks, because it needs std.
LEFT_OUT = {"no_std"}
# Fewer operations per entry than `make test`, because violations of the contract show soon.
SETTINGS = {
    "SOJOURN_OPERATIONS": "20000",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
}


@dataclass
class Test:
    """A test, the CPU time it takes, and the functions with mutants that it enters."""

    binary: str
    folder: str
    name: str
    seconds: float = 0.0
    enters: set[int] = field(default_factory=set)


def draw(crates: list[str], only: str, sample: int, seed: int) -> list[Mutant]:
    """A random sample of the mutants of each crate, in source order."""
    drawn = []
    for crate in crates:
        command = ["cargo", "mutants", "--list", "--json", "--package", f"sojourn-{crate}"]
        listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
        rows = [row for row in json.loads(listed.stdout) if re.search(only, row["file"])]
        chosen = random.Random(seed).sample(range(len(rows)), min(sample, len(rows)))
        print(f"{crate}: {len(rows)} mutants, {len(chosen)} drawn with seed {seed}", flush=True)
        drawn += [rows[index] for index in sorted(chosen)]
    return [Mutant.read(number, row) for number, row in enumerate(drawn, 1)]


class Build:
    """A copy of the tree that holds all mutants at once."""

    def __init__(self, crates: list[str], mutants: list[Mutant]) -> None:
        self.crates, self.mutants = crates, mutants
        self.tree = TARGET / "-".join(crates)
        self.unviable: set[int] = set()
        self.keep_const: set[str] = set()
        self.behind_switch: set[int] = set()
        self.function_of: dict[int, int] = {}
        self.lines: dict[str, dict[int, int]] = {}

    def copy(self) -> None:
        """Updates the copy; an unchanged file keeps its time."""
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (REPOSITORY / name).is_file():
                self.write(name, (REPOSITORY / name).read_bytes())

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the copy if it has changed."""
        path = self.tree / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def cargo(self, *arguments: str) -> list[dict]:
        """Runs cargo in the copy; returns its messages."""
        done = subprocess.run(
            ["cargo", *arguments, "--message-format=json", "--quiet"],
            cwd=self.tree,
            env=os.environ | {"CARGO_TARGET_DIR": str(TARGET / "build")},
            capture_output=True,
            check=False,
        )
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]

    def instrument(self) -> None:
        """Writes every remaining mutant behind its switch."""
        base = 0
        self.behind_switch.clear()
        for crate in self.crates:
            writer = Writer(base)
            files = defaultdict(list)
            for mutant in self.mutants:
                if mutant.package == f"sojourn-{crate}":
                    left = [] if mutant.number in self.unviable else [mutant]
                    files[mutant.file] += left
            texts = {name: (REPOSITORY / name).read_text() for name in files}
            top = str(root(Path("crates") / crate))
            texts.setdefault(top, (REPOSITORY / top).read_text())
            for name, text in texts.items():
                rewritten = writer.rewrite(Source(text), files[name], self.keep_const)
                texts[name] = rewritten.text
                self.lines[name] = rewritten.lines
                self.behind_switch |= rewritten.numbers
            texts[top] += writer.switch()
            for name, text in texts.items():
                self.write(name, text.encode())
            self.function_of |= writer.function_of
            base += writer.functions

    def until_it_compiles(self) -> None:
        """Removes mutants that do not compile, until the rest does."""
        packages = [f"--package=sojourn-{crate}" for crate in self.crates]
        for _ in range(20):
            self.instrument()
            faults = errors(self.cargo("check", "--lib", *packages))
            if not faults:
                return
            before = len(self.unviable), len(self.keep_const)
            for fault in faults:
                self.judge(fault)
            print(f"  {len(self.unviable)} do not compile", flush=True)
            if before == (len(self.unviable), len(self.keep_const)):
                raise SystemExit("\n".join(fault["rendered"] for fault in faults[:3]))
        raise SystemExit("the mutants do not compile after twenty attempts")

    def judge(self, fault: dict) -> None:
        """The mutant or constant of a compiler error."""
        code = (fault["code"] or {}).get("code")
        called = re.search(r"`(?:[^`]*::)?(\w+)(?:::<[^`]*>)?`", fault["message"])
        if code == "E0015" and called:
            self.keep_const.add(called[1])
            return
        for span in fault["spans"]:
            number = self.lines.get(span["file_name"], {}).get(span["line_start"])
            if number:
                self.unviable.add(number)

    def compile_tests(self) -> list[dict]:
        """Compiles the tests of these crates; returns cargo's messages."""
        asked = dict.fromkeys(tests for crate in self.crates for tests in TESTS[crate])
        messages = []
        for package, *targets in (tests.split() for tests in asked):
            messages += self.cargo("test", "--no-run", f"--package=sojourn-{package}", *targets)
        return messages

    def tests(self) -> list[Test]:
        """Compiles the tests and lists them."""
        messages = self.compile_tests()
        if faults := errors(messages):
            raise SystemExit(faults[0]["rendered"])
        found = []
        for made in messages:
            if made.get("executable") and made["profile"]["test"]:
                if made["target"]["name"] in LEFT_OUT:
                    continue
                folder = str(Path(made["manifest_path"]).parent)
                listed = subprocess.run(
                    [made["executable"], "--list", "--format=terse"],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                names = re.findall(r"^(.*): test$", listed.stdout, re.MULTILINE)
                found += [Test(made["executable"], folder, name) for name in names]
        return found


def errors(messages: list[dict]) -> list[dict]:
    """The compiler's errors that have a place."""
    faults = [m["message"] for m in messages if m.get("reason") == "compiler-message"]
    return [fault for fault in faults if fault["level"] == "error" and fault["spans"]]


def run(tests: list[Test], mutant: int, limit: float, log: Path | None = None) -> str:
    """Runs tests of one program: "passed", "timeout", or the first that failed."""
    environment = os.environ | SETTINGS | {"SOJOURN_MUTANT": str(mutant)}
    if log:
        environment["SOJOURN_MUTANT_ENTERED"] = str(log)
    names = [test.name for test in tests]
    options = ["--exact", "--test-threads=1"]
    # CPU time, so other load on the machine does not cause time-outs; the other limit is for a
    # mutant that hangs.
    limits = f"timeout --signal=KILL {20 * limit:.0f} prlimit --cpu={math.ceil(limit)}"
    process = subprocess.Popen(
        [*limits.split(), tests[0].binary, *options, *names],
        cwd=tests[0].folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    assert process.stdout
    for line in process.stdout:
        if failed := re.match(r"test (\S+).* \.\.\. .*FAILED", line):
            process.terminate()
            process.wait()
            return failed[1]
    if process.wait() == 0:
        return "passed"
    late = {128 + signal.SIGXCPU, 128 + signal.SIGKILL, -signal.SIGKILL}
    return "timeout" if process.returncode in late else "abort"


def processor_time() -> float:
    """The CPU time of all finished child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def learn(tests: list[Test]) -> list[Test]:
    """Runs each test alone without a mutant: its time and the functions it enters."""
    kept = []
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "entered"
        for test in tests:
            log.unlink(missing_ok=True)
            start = processor_time()
            outcome = run([test], 0, 600, log)
            test.seconds = processor_time() - start
            if outcome != "passed":
                print(f"  left out, fails without a mutant: {test.name} ({outcome})", flush=True)
                continue
            if log.exists():
                test.enters = {int(word) for word in log.read_text().split()}
            kept.append(test)
    print(f"  {len(kept)} tests, {sum(test.seconds for test in kept):.0f} s", flush=True)
    return kept


def fate(tests: list[Test], mutant: int) -> str:
    """The fate of a mutant: "survived", "timeout", or the test that killed it."""
    batches: dict[tuple[int, str], list[Test]] = defaultdict(list)
    for test in tests:
        batches[int(test.seconds > 0.1) + int(test.seconds > 2), test.binary].append(test)
    for _, batch in sorted(batches.items(), key=lambda item: item[0]):
        limit = 10 + 4 * sum(test.seconds for test in batch)
        outcome = run(batch, mutant, limit)
        if outcome != "passed":
            return outcome
    return "survived"


def alone(build: Build, mutant: Mutant, tests: list[Test]) -> str:
    """The fate of a mutant in a constant, which is compiled separately."""
    source = Source((REPOSITORY / mutant.file).read_text())
    kept = (build.tree / mutant.file).read_bytes()
    _, module, switch = kept.decode().partition(SWITCH[:40])
    text = source.mutated(mutant, 0, len(source.text)) + module + switch
    build.write(mutant.file, text.encode())
    result = "unviable" if errors(build.compile_tests()) else fate(tests, 0)
    build.write(mutant.file, kept)
    return result


def report(rows: list[dict]) -> str:
    """The table by crate and group and the survivors, as Markdown."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["crate"], row["group"]].append(row["fate"])
    for row in rows:
        groups[row["crate"], "all"].append(row["fate"])
    lines = [
        "| crate | files | mutants | killed | timed out | unviable | survivors | share killed |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for (crate, group), fates in groups.items():
        unviable, late, alive = (fates.count(w) for w in ("unviable", "timeout", "survived"))
        killed = len(fates) - unviable - late - alive
        share = (killed + late) / max(1, len(fates) - unviable)
        lines.append(
            f"| {crate} | {group} | {len(fates)} | {killed} | {late} | {unviable} | {alive} "
            f"| {share:.1%} |"
        )
    lines += ["", "Survivors:"]
    lines += [f"- {row['name']}" for row in rows if row["fate"] == "survived"]
    return "\n".join(lines)


def judge_all(build: Build, tests: list[Test]) -> dict[str, str]:
    """The fate of every mutant of a build, by its name."""
    fates = {}
    # Those in constants change the copy, so they come last.
    for mutant in sorted(build.mutants, key=lambda m: m.number not in build.behind_switch):
        if mutant.number in build.unviable:
            fates[mutant.name] = "unviable"
            continue
        if mutant.number in build.behind_switch:
            entering = [t for t in tests if build.function_of[mutant.number] in t.enters]
            fates[mutant.name] = fate(entering, mutant.number)
        else:
            fates[mutant.name] = alone(build, mutant, tests)
        print(f"  {mutant.name}: {fates[mutant.name]}", flush=True)
    return fates


def main() -> None:
    """Draws, builds, runs and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crates", nargs="+", choices=TESTS)
    parser.add_argument("--sample", type=int, default=250, help="mutants of each crate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", default="", help="only files whose path matches this pattern")
    parser.add_argument("--again", action="store_true", help="only the survivors of the last run")
    asked = parser.parse_args()
    results = TARGET / f"{'-'.join(asked.crates)}.json"
    mutants = draw(asked.crates, asked.files, asked.sample, asked.seed)
    fates: dict[str, str] = {}
    if asked.again:
        fates = {row["name"]: row["fate"] for row in json.loads(results.read_text())}
    build = Build(asked.crates, [m for m in mutants if fates.get(m.name) in {None, "survived"}])
    build.copy()
    build.until_it_compiles()
    fates |= judge_all(build, learn(build.tests()))
    rows = [
        {"crate": m.crate, "group": m.group, "name": m.name, "fate": fates[m.name]} for m in mutants
    ]
    results.write_text(json.dumps(rows, indent=1))
    print(report(rows))


if __name__ == "__main__":
    main()
