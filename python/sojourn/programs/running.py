"""Runs programs once; also provides an engine with programs, for every call that takes one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn.describing.library import ScenarioLike, Sets, load, set_pairs
from sojourn.engines import registry
from sojourn.engines.registry import EngineSelection
from sojourn.programs.wish import Commands, Programs, gather
from sojourn.running.result import Result
from sojourn.running.runs import run

if TYPE_CHECKING:
    from sojourn.loading.bring import AqmsLike

OUTPUTS = "programs"


def engine(
    commands: Commands | Programs, *, kernel: Path | None = None, **choices: Any
) -> EngineSelection:
    """The engine ``linux`` with programs, as an argument of `sojourn.compare` and the like.

    Args:
        commands: see `run_programs`.
        kernel: the guest kernel of another release, or a path.
        **choices: ``group``, ``folders``, ``see``, ``environment``, as for `run_programs`, and
            ``may_be_stopped``, whether the end of the run may stop commands behind the link.

    Raises:
        InputError: as `run_programs`.
    """
    programs = commands if isinstance(commands, Programs) else gather(commands, **choices)
    options = {"programs": programs} | ({"kernel": kernel} if kernel else {})
    return EngineSelection(registry.find("linux"), options)


def run_programs(
    scenario: ScenarioLike,
    commands: Commands,
    *,
    group: str | None = None,
    folders: Mapping[str, str | Path] | None = None,
    see: Sequence[str | Path] = (),
    environment: Mapping[str, str] | None = None,
    until: str | None = None,
    sets: Sets | None = None,
    aqms: AqmsLike | None = None,
    link: str | None = None,
    kernel: Path | None = None,
    out: str | Path | None = None,
    **choices: Any,
) -> Result:
    """Run programs on the guest kernel, in virtual time, behind the AQM of a scenario.

    The run ends when the last command behind the link has ended, and at the latest after the
    scenario's duration. A command that fails makes it invalid.

    Args:
        scenario: see `sojourn.run`. One of its groups of flows gives the path of the programs, and
            does not run itself.
        commands: keyed by host, such as ``server`` or ``client-2``, or by host and start
            (``client@2s``), a command of the shell, or several.
        group: the group of flows; by default the one named ``programs``, or the only one.
        folders: keyed by host: the folder in which its programs start, which they can only read. By
            default it is a private one that is empty.
        see: folders and files of the machine that they may read, in addition to the system's.
        environment: variables of their environment.
        until: a time such as ``60s`` at which commands that have not ended are stopped.
        sets: see `sojourn.run`.
        aqms: see `sojourn.run`.
        link: the link that gets the AQM; by default that from servers to clients.
        kernel: the guest kernel of another release, or a path.
        out: folder for the result and the programs' output.
        **choices: ``seed``, ``progress`` and ``memory`` of `sojourn.run`.

    Raises:
        InputError: a host, a start, a folder or a variable is invalid, or no guest kernel is built.
        RunFailed: programs exceeded the limits of a run, or computed without end.
        ScenarioError, LawError, Interrupted, OSError: as `sojourn.run`.
    """
    programs = gather(
        commands, group=group, folders=folders, see=see, environment=environment,
        may_be_stopped=until is not None,
    )  # fmt: skip
    loaded = with_bottleneck(scenario, sets, until)
    on = engine(programs, kernel=kernel)
    if aqms is not None and link is None:
        link = programs.link(loaded)
    result = run(loaded, aqms=aqms, link=link, engine=on, store=None, out=out, **choices)
    if out is not None:
        write_outputs(result, Path(out))
    return result


def with_bottleneck(
    scenario: ScenarioLike, sets: Sets | None = None, until: str | None = None
) -> _core.Scenario:
    """The scenario with our router, which runs every AQM, as bottleneck, unless it names another.

    The kernel has the classes of a scheduler.

    Args:
        scenario: see `sojourn.run`.
        sets: see `sojourn.run`.
        until: a time such as ``60s`` that replaces its duration.
    """
    given = set_pairs(sets or {}) + ([("duration", f'"{until}"')] if until else [])
    loaded = load(scenario, given)
    document = json.loads(loaded.document_json())
    named = (document.get("engine") or {}).get("linux") or {}
    has_classes = any("scheduler" in link for link in document["links"].values())
    if isinstance(scenario, _core.Scenario) or "bottleneck" in named or has_classes:
        return loaded
    return load(scenario, [*given, ("engine.linux.bottleneck", '"sojourn"')])


def write_outputs(result: Result, folder: Path) -> list[Path]:
    """Write the output of each program to files such as ``programs/1-client.stdout``."""
    below = folder / OUTPUTS
    below.mkdir(parents=True, exist_ok=True)
    written = []
    for number, row in enumerate(result.rows("programs"), 1):
        for stream in ("stdout", "stderr"):
            path = below / f"{number}-{row['host']}.{stream}"
            path.write_text(row[stream], encoding="utf-8")
            written.append(path)
    return written
