"""The option ``--pcap`` of ``run`` and ``exec``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn.cli import console
from sojourn.reading import shown

if TYPE_CHECKING:
    from sojourn.running.result import Result


def write_captures(
    scenario: _core.Scenario,
    folder: Path,
    result: Result,
    *,
    what: str = "captures",
    **choices: Any,
) -> None:
    """Write captures or logs of a second run, and say so if it differs from the first.

    Args:
        scenario: the scenario to run.
        folder: the folder for the files.
        result: the first run.
        what: the files.
        **choices: options of `sojourn.capture`.
    """
    from sojourn.running.capture import capture

    made = capture(scenario, folder, **choices)
    console.say(f"{len(made.files)} {what} in {shown(folder)}")
    if made.digest != result.manifest["digest"]:
        console.say(
            f"sojourn: {shown(folder)}: is of a second run, which differs from that of the table, "
            "because capturing changes times and checksums there"
        )
