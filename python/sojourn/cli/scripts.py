"""`sojourn check tcp --scripts DIR`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from sojourn.authoring.scripts import ScriptResult, counts, run_scripts
from sojourn.cli import console
from sojourn.errors import InputError


def check_tcp(law: str, scripts: Path | None, only: str | None, as_json: bool) -> int:
    """Run the scripts and print them; 1 if one failed or could not be read."""
    if law != "tcp":
        raise InputError(f"--scripts and --only go with `sojourn check tcp`, not with {law}")
    if scripts is None:
        raise InputError("`sojourn check tcp` runs packetdrill scripts: name their --scripts DIR")
    results = run_scripts(scripts, only)
    total = counts(results)
    if as_json:
        console.show_json({"counts": total, "scripts": [asdict(result) for result in results]})
    else:
        for result in results:
            _print(result)
        print(", ".join(f"{number} {verdict}" for verdict, number in total.items()))
    return 1 if total["failed"] or total["unreadable"] else 0


def _print(result: ScriptResult) -> None:
    print(f"{result.verdict:<14}  {result.script}")
    line = f"line {result.line}: " if result.line else ""
    place = f"{'':<16}{line}"
    if result.reason:
        print(f"{place}{result.reason}")
    if result.expected:
        print(f"{place}expected {result.expected}")
        print(f"{'':<16}got {result.got}")
