"""Trials of the kernel module while allocations fail: writes its part of kernel-module.md.

    python tests/module/faults.py [--show] [AQM...]

For each AQM, in a guest with kernel `fault` (fault.config), whose module must have been built,
`faults_inside.py` lets allocations of every call fail, one after the other, and at random under
traffic. A wrong result ends this script with an error. The page is written after every AQM, and
lists those that were not run; AQMs are by default all of the registry."""

from __future__ import annotations

import json
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

from record import DEBUG_MEMORY, HERE, PAGE, in_guest

from sojourn import _core, files
from sojourn.engines.linux import kernel

BEGIN, END = "<!-- module faults: begin -->\n", "<!-- module faults: end -->\n"
NAME = "fault"
# Errors that a call may return while allocations fail.
ANSWERS = ("done", "ENOMEM", "ENOBUFS")
# Failures are possible in all caches except those of the leak detector.
OPTIONS = ("slub_debug=-,kmemleak*;a", "kasan_multi_shot")
HEAD = (
    "| AQM | calls | done | ENOMEM or ENOBUFS "
    "| reported by the module | packets | short of memory | leaks | log |"
)


def main(arguments: list[str]) -> None:
    """Do the trials; write the page."""
    every = [entry["name"] for entry in _core.aqms()]
    rows: dict[str, str] = {}
    loads = ""
    for aqm in [word for word in arguments if not word.startswith("--")] or every:
        found = tried(aqm, arguments, loads=not rows)
        rows[aqm] = row(found)
        loads = loads or loading(found["loads"])
        print(rows[aqm], flush=True)
        left = ", ".join(f"`{name}`" for name in every if name not in rows)
        table = [HEAD, f"|{'---|' * (HEAD.count(' | ') + 1)}", *rows.values()]
        table += ["", f"AQMs not run: {left or 'none'}.", "", loads]
        files.replace_between(PAGE, BEGIN, END, "\n".join(table) + "\n")


def tried(aqm: str, arguments: list[str], *, loads: bool) -> dict[str, Any]:
    """Do the trials in a guest; return the results, or end with the problems."""
    found = in_guest(
        kernel.given(Path(NAME)), partial(_write, aqm, loads), "faults_inside.py", DEBUG_MEMORY,
        OPTIONS,
    )  # fmt: skip
    if "--show" in arguments:
        print(json.dumps(found, indent=1))
    if faults := judged(found):
        raise SystemExit("\n".join([f"{aqm}:", *faults]))
    return found


def _write(aqm: str, loads: bool, folder: Path) -> None:
    (folder / "trials.json").write_text(json.dumps({"aqm": aqm, "loads": loads}))
    for script in ("inside.py", "faults_inside.py"):
        shutil.copy(HERE / script, folder)


def judged(found: dict[str, Any]) -> list[str]:
    """The problems, in sentences."""
    if not found.get("ended"):
        return [f"the guest did not come to its end: {found.get('console', 'it said nothing')}"]
    wrong = [f"the kernel's log: {line}" for line in found["ill"]]
    if found["lost"]:
        wrong.append(f"the kernel's log: {found['lost']} times lines were overwritten")
    trials = [found[name] for name in ("loads", "calls", "traffic") if name in found]
    wrong += [each for each in trials if isinstance(each, str)]
    if wrong:
        return wrong
    for each in trials:
        if others := set(each.get("errors", ())) - set(ANSWERS):
            wrong.append(f"answers {sorted(others)}: {each}")
    calls = found["calls"]
    if not calls["works"] or calls["silent_dumps"] or not calls["ours"]:
        wrong.append(f"calls: {calls}")
    leaks = found["leaks"] + found["unloaded_leaks"] + found.get("loads", {}).get("leaks", [])
    return wrong + [f"leak: {text}" for text in leaks]


def row(found: dict[str, Any]) -> str:
    """The row of the table."""
    calls, traffic = found["calls"], found["traffic"]
    errors = calls["errors"]
    cells = [
        f"`{calls['aqm']}`",
        calls["failures"], errors.get("done", 0),
        errors.get("ENOMEM", 0) + errors.get("ENOBUFS", 0), calls["ours"], traffic["sent"],
        f"at {traffic['short']} of 4 failure rates", "none", "clean",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def loading(found: dict[str, Any]) -> str:
    """The sentence about loading the module."""
    refused = found["errors"].get("ENOMEM", 0)
    return (
        f"Loading: {found['failures']} injected failures; {refused} loads failed with ENOMEM, the "
        "others succeeded. No leak, and the log is clean."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
