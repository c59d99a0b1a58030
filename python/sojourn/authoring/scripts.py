"""TCP scripts in packetdrill's form, run against the TCP endpoint of the simulator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from sojourn import _core, reading
from sojourn.describing.formatting import counted
from sojourn.errors import InputError

_NAMED = re.compile(r"[\w./-]+\.sh\b")


@dataclass(frozen=True)
class ScriptResult:
    """The outcome of one script.

    Attributes:
        script: its path below the folder, without ``.pkt``.
        verdict: ``passed``, ``not applicable``, ``failed`` or ``unreadable``.
        line: the line that decided; 0 if it passed or none could be read.
        reason: why it is not applicable or unreadable, else empty.
        expected: what a failed script expects, else empty.
        got: what the endpoint does instead, else empty.
    """

    script: str
    verdict: str
    line: int
    reason: str
    expected: str
    got: str


def run_scripts(folder: Path, only: str | None = None) -> list[ScriptResult]:
    """Run every ``.pkt`` file below a folder, in the order of their names.

    Args:
        folder: a folder of packetdrill scripts, such as ``tools/testing/selftests/net/packetdrill``
            of a checkout of the kernel. Nothing in it is executed.
        only: a pattern that the name of a script must match, as in ``*sack*``.

    Raises:
        InputError: the folder does not exist, or contains no script.
    """
    if not folder.is_dir():
        raise InputError(
            f"--scripts: no such folder {folder}; name one with .pkt files, such as "
            "tools/testing/selftests/net/packetdrill of a checkout of the kernel"
        )
    paths = sorted(folder.rglob("*.pkt"))
    if not paths:
        raise InputError(f"--scripts: no .pkt file below {folder}")
    wanted = [path for path in paths if only is None or fnmatchcase(path.stem, only)]
    if not wanted:
        raise InputError(f"--only: none of {counted(len(paths), 'script')} is called {only}")
    return [_run(path, folder) for path in wanted]


def _run(path: Path, folder: Path) -> ScriptResult:
    script = path.relative_to(folder).with_suffix("").as_posix()
    content = reading.content(path, "script")
    try:
        text = reading.decoded(content, reading.shown(path), "script")
        named = _named(path.parent, text)
    except InputError as error:
        return ScriptResult(script, "unreadable", 0, str(error), "", "")
    verdict, line, first, second = _core.run_tcp_script(text, named)
    if verdict == "failed":
        return ScriptResult(script, verdict, line, "", first, second)
    return ScriptResult(script, verdict, line, first, "", "")


def _named(folder: Path, text: str) -> dict[str, str]:
    """The texts of the shell scripts that a script names, if they exist."""
    names = sorted(set(_NAMED.findall(text)))
    found = {name: folder / name for name in names if not name.startswith("/")}
    return {name: reading.text(file, "script") for name, file in found.items() if file.is_file()}


def counts(results: Sequence[ScriptResult]) -> dict[str, int]:
    """The number of scripts per verdict."""
    verdicts = ("passed", "not applicable", "failed", "unreadable")
    return {word: sum(result.verdict == word for result in results) for word in verdicts}
