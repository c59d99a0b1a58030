"""Mutation testing of Python files: `make mutants-python SAMPLE=100 SEED=1`.

mutmut (`pip install mutmut`: maintained, BSD, and it runs only the tests that enter a function)
writes each change of a function behind a switch; this program draws a sample of them for every
group of files. Changes of only the text of a string are left out, because pages and messages are
compared with committed ones. `--again` tests only the survivors of the last run. The output is in
`target/mutation/python`, the results in docs/evidence/mutation.md."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# mutmut expects sources in `src`, and runs the tests in `mutants`, where they find the rest.
TREE = REPOSITORY / "target" / "mutation" / "python"
RESULTS = TREE.with_suffix(".json")
LEARNT = TREE / "mutants" / "mutmut-stats.json"

GROUPS = {
    "metrics": "comparing/metrics.py",
    "statistics": "comparing/statistics.py",
    "comparison": "comparing/comparison.py",
    "reproduce": "reproduce/*.py",
}
# The tests of these files that take less than a second.
TESTS = [
    "metric_directions",
    "metrics_series",
    "statistics",
    "comparison",
    "comparison_values",
    "fairness",
    "dominance",
    "medians",
    "reproduce",
    "reproduce_values",
    "extract",
    "measures",
    "published",
    "verdict",
    "reasons",
    "papers",
    "text",
    "own_metrics",
    "python_cc",
]
# Files that the tests read in addition to the package.
READ = ("docs", "examples", "schema", "testdata")

KILLED, SURVIVED, NO_TEST = {1, 3}, {0}, {5, 33}


def is_prepared() -> bool:
    """Whether neither the package nor a test has changed since mutmut analysed the tests."""
    if not LEARNT.exists():
        return False
    files = [*(REPOSITORY / "python").rglob("*.py"), *(REPOSITORY / "tests").rglob("*.py")]
    return max(file.stat().st_mtime for file in files) < LEARNT.stat().st_mtime


def prepare() -> None:
    """A tree for mutmut, with every mutant and the tests that enter it."""
    shutil.rmtree(TREE, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "python" / "sojourn", TREE / "src" / "sojourn", ignore=skip)
    shutil.copytree(REPOSITORY / "tests", TREE / "tests", ignore=skip)
    (TREE / "mutants").mkdir()
    for name in READ:
        (TREE / "mutants" / name).symlink_to(REPOSITORY / name)
    asked = [f"tests/test_{name}.py" for name in TESTS]
    mutated = [f"src/sojourn/{pattern}" for pattern in GROUPS.values()]
    (TREE / "setup.cfg").write_text(
        "[mutmut]\nsource_paths=src\nuse_git_change_detection=false\n"
        + "\n    ".join(["only_mutate=", *mutated])
        + "\n    ".join(["\npytest_add_cli_args_test_selection=", *asked])
        + "\n    ".join(["\npytest_add_cli_args=", "-m", "not slow and not long"])
        + "\n"
    )
    # mutmut writes the mutants and analyses which tests enter them before it looks for the name.
    said = mutmut("run", "no such mutant")
    if not LEARNT.exists():
        raise SystemExit(said)


def mutmut(*arguments: str) -> str:
    """Runs mutmut in the tree; returns its output."""
    command = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", *arguments]
    done = subprocess.run(
        command, cwd=TREE, capture_output=True, text=True, errors="replace", check=False
    )
    return done.stdout + done.stderr


def fates() -> dict[str, int | None]:
    """The exit code of the tests for every mutant, None if the tests were not run."""
    found: dict[str, int | None] = {}
    for path in sorted((TREE / "mutants").rglob("*.py.meta")):
        found |= json.loads(path.read_text())["exit_code_by_key"]
    return found


def group_of(mutant: str) -> str:
    """The group of files of a mutant's name, such as `sojourn.reproduce.pool.x_run__mutmut_3`."""
    module = "/".join(mutant.split(".")[1:-1])
    return next(name for name, files in GROUPS.items() if fnmatch(f"{module}.py", files))


def change(mutant: str) -> list[str]:
    """The lines that a mutant removes and adds."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    path = Path("src", *mutant.split(".")[:-1]).with_suffix(".py")
    shown = get_diff_for_mutant(mutant, path=path).splitlines()
    return [line for line in shown if re.match(r"[-+](?![-+])", line)]


def is_text(mutant: str) -> bool:
    """Whether it changes only the text of a string: XX around it, or another case."""
    plain = {line[1:].replace("XX", "").casefold() for line in change(mutant)}
    return len(plain) == 1


def draw(groups: list[str], sample: int, seed: int) -> list[str]:
    """A number of mutants of each group, without those of texts."""
    drawn = []
    for group in groups:
        names = sorted(name for name in fates() if group_of(name) == group)
        random.Random(seed).shuffle(names)
        found = (name for name in names if not is_text(name))
        chosen = [name for name, _ in zip(found, range(sample), strict=False)]
        print(f"{group}: {len(names)} mutants, {len(chosen)} drawn with seed {seed}", flush=True)
        drawn += chosen
    return drawn


def report(outcome: dict[str, int | None]) -> str:
    """The table by group, and the survivors with their changes."""
    lines = [
        "| files | mutants | killed | timed out | survivors | noticed |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for group in dict.fromkeys(group_of(name) for name in outcome):
        codes = [code for name, code in outcome.items() if group_of(name) == group]
        alive = sum(code in SURVIVED | NO_TEST for code in codes)
        killed = sum(code in KILLED for code in codes)
        late = len(codes) - alive - killed
        share = (killed + late) / max(1, len(codes))
        lines.append(f"| {group} | {len(codes)} | {killed} | {late} | {alive} | {share:.1%} |")
    lines += ["", "Survivors:"]
    for name, code in outcome.items():
        if code in SURVIVED | NO_TEST:
            note = " (no test enters it)" if code in NO_TEST else ""
            lines += [f"- {name}{note}", *(f"      {line}" for line in change(name))]
    return "\n".join(lines)


def main() -> None:
    """Prepares, draws, runs and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=100, help="mutants of each group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="only the survivors of the last run")
    parser.add_argument(
        "groups", nargs="*", choices=[*GROUPS, []], metavar="GROUP", help="all by default"
    )
    asked = parser.parse_args()
    before = json.loads(RESULTS.read_text()) if asked.again else {}
    if not is_prepared():
        prepare()
    os.chdir(TREE)  # the settings of mutmut
    drawn = list(before) or draw(asked.groups or list(GROUPS), asked.sample, asked.seed)
    left = [name for name in drawn if before.get(name) not in KILLED]
    for group in GROUPS:
        names = [name for name in left if group_of(name) == group]
        said = mutmut("run", *names) if names else ""
        found = fates()
        if any(found[name] is None for name in names):
            raise SystemExit(said)
        before |= {name: found[name] for name in names}
        RESULTS.write_text(json.dumps(before, indent=1))
    print(report(before))


if __name__ == "__main__":
    main()
