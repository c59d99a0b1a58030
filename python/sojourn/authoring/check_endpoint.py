"""Checks a transport library: its adapter on an idle bottleneck, and whether its runs repeat."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sojourn
from sojourn import _core
from sojourn.authoring.cells import Finding
from sojourn.endpoint import is_process, library_file, open_library, without_process
from sojourn.errors import InputError
from sojourn.loading import library

_REPEATS = "processes with different entropy give one digest"
_SCENARIO = """
name = "repeats"
duration = "5s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "codel{ecn}"
[[flows]]
path = ["bottleneck"]
count = 2
rtt = "40ms"
start = "0s..1s"
transport = "checked"
{flow}
app = {{ {app} }}
"""
_APPS = {False: 'kind = "bulk"', True: 'kind = "video", frames = ["20kB"], interval = "33ms"'}
_PROGRAM = """
import sys
sys.path[:] = {path!r}
import sojourn
scenario = sojourn.Scenario.load(sys.argv[1])
print("digest", sojourn.run(scenario, endpoints={{"checked": sys.argv[2]}}, store=None).digest)
"""
_LIMIT_S = 300
# Functions that read the clock or draw random numbers (clock_gettime(2), getrandom(2), random(3)).
_SYSTEM = (
    "clock_gettime", "gettimeofday", "getrandom", "getentropy", "arc4random", "arc4random_buf",
    "rand", "random", "drand48", "/dev/urandom", "/dev/random",
)  # fmt: skip


@dataclass(frozen=True)
class CheckedEndpoint:
    """The results of a check of a transport library.

    Attributes:
        endpoint: the library as the user wrote it.
        source: the library in full, as manifests name it.
        findings: every rule.
        command: the command that repeats this check.
    """

    endpoint: str
    source: str
    findings: list[Finding]
    command: str

    @property
    def is_kept(self) -> bool:
        """Whether every rule holds."""
        return all(finding.held is not False for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Everything that is printed."""
        return {
            "endpoint": self.endpoint,
            "source": self.source,
            "version": sojourn.__version__,
            "command": self.command,
            "kept": self.is_kept,
            "findings": [asdict(finding) for finding in self.findings],
        }


def is_endpoint(text: str) -> bool:
    """Whether a text names a transport library, not a law."""
    file = library_file(text)
    if file is not None and not is_process(text):
        return library.exports(file, library.ENDPOINT)
    return is_process(text) or text.partition(":")[0].strip() in _core.endpoints()


def check(endpoint: str, *, quick: bool = False) -> CheckedEndpoint:
    """Check a transport library.

    Args:
        endpoint: the library, such as ``./libmine.so:window=20`` or ``quinn``.
        quick: three processes instead of six.

    Raises:
        InputError: the library does not exist, or loading it ends the process.
        ScenarioError: it is not a transport library, or a setting is unknown.
    """
    file = library_file(endpoint)
    source, able, doubt, rows = _core.examine_endpoint(
        without_process(endpoint), open_library(endpoint)
    )
    findings = [Finding(*row) for row in rows]
    made = CheckedEndpoint(
        endpoint=endpoint,
        source=source,
        findings=findings,
        command=shlex.join(["sojourn", "check", endpoint, *["--quick"] * quick]),
    )
    if made.is_kept:
        content = file.read_bytes() if file else b""
        findings.append(_repeats(endpoint, content, doubt, able, 1 if quick else 2))
    return made


def _repeats(
    endpoint: str, content: bytes, doubt: str | None, able: tuple[bool, bool], each: int
) -> Finding:
    """Judge the digests of equal processes, and of processes with different environments."""
    has_ecn, carries_video = able
    flow, ecn = ("ecn = true", ":ecn=true") if has_ecn else ("", "")
    text = _SCENARIO.format(flow=flow, ecn=ecn, app=_APPS[carries_video])
    alike = [_digest(endpoint, text, {}, is_fixed=True) for _ in range(each)]
    different = [_digest(endpoint, text, _entropy(n), is_fixed=False) for n in range(2 * each)]
    failed = [digest for digest in [*alike, *different] if digest.startswith("failed: ")]
    if failed:
        return Finding(_REPEATS, False, f"a process {failed[0]}")
    count, found = len(alike + different), len({*alike, *different})
    if doubt is not None:
        detail = f"it says that it does not repeat: {doubt}; {found} digests of {count} processes"
        return Finding(_REPEATS, None, detail)
    if found > 1:
        why = _reason(endpoint, alike, content)
        detail = f"not repeatable: {found} digests of {count} processes. {why}"
        return Finding(_REPEATS, False, detail)
    differ = "addresses, environment, content of free memory, time and random numbers"
    return Finding(_REPEATS, True, f"digest {alike[0]} in {count} processes with other {differ}")


def _reason(endpoint: str, alike: list[str], content: bytes) -> str:
    """Why digests differ, as far as equal processes show."""
    if len(alike) > 1 and len(set(alike)) == 1 and _fixes_addresses():
        return (
            "Processes with the same addresses and environment agree, so it depends on addresses "
            "(of pointers that it sorts or hashes), the environment, or memory that it has not "
            "initialised."
        )
    if is_process(endpoint):
        return (
            "It reads the processor's counters or random numbers, calls the kernel without the C "
            "library, or has several threads: a process replaces none of these."
        )
    named = [word for word in _SYSTEM if b"\0%s\0" % word.encode() in content]
    hint = f" Its file names {', '.join(named)}." if named else ""
    return f"It reads a clock or draws random numbers of the system; take the seed.{hint}"


def _fixes_addresses() -> bool:
    return shutil.which("setarch") is not None


def _entropy(number: int) -> dict[str, str]:
    """An environment that differs in size, locale, time zone and content of free memory."""
    return {
        "MALLOC_PERTURB_": str(85 * (number % 3 + 1) - 1),
        "SOJOURN_CHECK": "x" * (1 + 997 * number),
        "LC_ALL": ("C", "C.UTF-8")[number % 2],
        "TZ": ("UTC0", "XYZ-5:30")[number % 2],
    }


def _digest(endpoint: str, text: str, entropy: Mapping[str, str], *, is_fixed: bool) -> str:
    """The digest of a run in another process, or how it failed."""
    fixed = ["setarch", "-R"] if is_fixed and _fixes_addresses() else []
    command = [*fixed, sys.executable, "-c", _PROGRAM.format(path=sys.path), text, endpoint]
    environment = {**os.environ, **entropy}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False,
            timeout=_LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{endpoint}: 5 s are not simulated within {_LIMIT_S} s") from None
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2].removeprefix("sojourn: error: ")
        return f"failed: {last}"
    return done.stdout.split()[-1]


def save(checked: CheckedEndpoint, folder: Path) -> None:
    """Write ``check.json``.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    import json

    from sojourn import files

    files.write(folder / "check.json", json.dumps(checked.to_json(), indent=1) + "\n")
