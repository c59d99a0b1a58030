"""Small commands that write results, run in forked processes, and checks of their results.

A forked process has already imported the package, so a command costs only its computing and
writing. The forking process only imports, so it has no threads."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import shutil
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow  # noqa: F401  # what a command would import
import scipy.special  # noqa: F401
from matplotlib import pyplot  # noqa: F401

import sojourn
from sojourn import files, plots, report  # noqa: F401
from sojourn.cli import main
from sojourn.errors import InputError
from sojourn.study import dispatch, running

SCENARIO = """\
name = "storm"
duration = "300ms"
[links.bottleneck]
rate = "2mbit"
delay = "5ms"
buffer = "20p"
[[flows]]
name = "bulk"
count = 2
path = ["bottleneck"]
rtt = "20ms"
app = { kind = "bulk" }
"""
STUDY = """\
name = "storm"
scenario = "small.toml"
metrics = ["queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"]
seeds = 6
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel", "pie"]
"""
COMPARE = ("compare", "small.toml", "--seeds", "3", "--jobs", "1", "--format", "svg")
OUT, STORE = "out", "store"
# Parts that a second run of the same command may write differently.
_CHANGING = frozenset({"checksum", "wall_s", files.FILES, "runs", "simulator"})


def compare() -> int:
    return main([*COMPARE, "--aqm", "codel,pie", "--out", OUT])


def other() -> int:
    """Another comparison, whose files have the same names."""
    words = ["--aqm", "codel,pie", "--set", "links.bottleneck.rate=1mbit", "--out", OUT]
    return main([*COMPARE, *words])


def run() -> int:
    return main(["run", "small.toml", "--fresh", "--out", OUT])


def reproduce() -> int:
    words = ["reproduce", "codel-act:T1", "--seeds", "1", "--jobs", "1", "--out", OUT]
    return main(words)


def study() -> int:
    # Batches of a tenth of a second and compaction at every third fragment: many instants at
    # which a file is being written, renamed or removed.
    dispatch.BATCH_S, running._COMPACT_AT = 0.1, 2
    sojourn.study.run_study(
        sojourn.study.read("study.toml"), STORE, executor=ThreadPoolExecutor(1), report=_silent
    )
    return 0


def _silent(_text: str) -> None: ...


def facts() -> dict[str, Any]:
    """A command's results in this folder, without times; raises errors of reading."""
    if Path(STORE).exists():
        found = sojourn.study.open_results(STORE, _silent)
        return {"table": repr(found.to_arrow().to_pydict()), "failed": found.status().failed}
    if (Path(OUT) / files.COMPARISON).exists():
        opened = sojourn.Comparison.open(OUT)
        tables = {aqm: [repr(r.summary) for r in opened.of(aqm)] for aqm in opened.aqms}
        return {"opened": repr(tables)} | _files(Path(OUT))
    if (Path(OUT) / files.MANIFEST).exists():
        return {"opened": repr(sojourn.Result.open(OUT).summary)} | _files(Path(OUT))
    return _files(Path(OUT))


def _files(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {str(path.relative_to(folder)): _content(path) for path in paths}


def _content(path: Path) -> str:
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        kept = {key: value for key, value in found.items() if key not in _CHANGING}
        return _digest(json.dumps(kept).encode())
    return _digest(path.read_bytes())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


COMMANDS: dict[str, Callable[[], int]] = {
    "compare": compare, "other": other, "reproduce": reproduce, "run": run,
    "study": study,
}  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a forked process ended.

    Attributes:
        status: exit code, or minus the signal.
        text: what it wrote to its streams.
        value: the return value of its function; None if it raised or was killed.
    """

    status: int
    text: str
    value: Any


def begin(folder: Path, do: Callable[[], Any]) -> int:
    """Fork a process that does something in a folder; return its PID."""
    process = os.fork()
    if process:
        return process
    status = 99
    try:
        os.chdir(folder)
        os.environ["SOJOURN_CACHE"] = str(folder / "cache")
        # Open these first: the limits and recorders of a kind may stop files from being opened.
        value = os.open("value", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        text = os.open("text", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(text, 1)
        os.dup2(text, 2)
        sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))  # noqa: SIM115
        status = _do(do, value)
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _do(do: Callable[[], Any], value: int) -> int:
    try:
        done = do()
    except InputError as error:
        print(f"sojourn: error: {error}", file=sys.stderr)
        return 2
    except BaseException:
        traceback.print_exc()
        return 98
    os.write(value, pickle.dumps(done))
    return done if isinstance(done, int) else 0


def end(folder: Path, process: int, seconds: float = 300.0) -> Ended:
    """Wait for a process; one that takes too long is killed and ends with -9."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if time.monotonic() > until:
            os.kill(process, 9)
        time.sleep(0.002)
    text = folder / "text"
    value = (folder / "value").read_bytes() if (folder / "value").exists() else b""
    return Ended(
        os.waitstatus_to_exitcode(status),
        text.read_text(errors="replace") if text.exists() else "",
        pickle.loads(value) if value else None,
    )


def call(folder: Path, do: Callable[[], Any]) -> Ended:
    return end(folder, begin(folder, do))


def fresh(folder: Path) -> Path:
    """An empty folder with the inputs of all commands."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "study.toml").write_text(STUDY)
    return folder


class Undisturbed:
    """Each command's result and time without any disturbance, computed on first use."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._made: dict[str, tuple[dict[str, Any], float]] = {}

    def of(self, command: str) -> tuple[dict[str, Any], float]:
        """The facts, and the seconds with an empty store of runs."""
        if command not in self._made:
            folder = fresh(self.scratch / f"undisturbed-{command}")
            began = time.monotonic()
            done = call(folder, COMMANDS[command])
            took = time.monotonic() - began
            assert done.status == 0, done.text
            found = call(folder, facts)
            assert found.value, found.text
            self._made[command] = found.value, took
        return self._made[command]

    def folder(self, command: str) -> Path:
        self.of(command)
        return self.scratch / f"undisturbed-{command}"


def wrong(folder: Path, expected: dict[str, Any], *, may_refuse: bool) -> str:
    """The problem with a folder's content; empty if there is no problem."""
    found = call(folder, facts)
    if found.value is None:
        if may_refuse and found.status == 2:
            return ""
        return f"cannot be read back: {found.text[-300:]}"
    if may_refuse and "opened" not in found.value and "table" not in found.value:
        return ""  # no result yet
    if may_refuse and "table" in found.value:
        return ""  # a study is never complete before its end
    differ = [key for key in {*found.value, *expected} if found.value.get(key) != expected.get(key)]
    return f"differ: {sorted(differ)[:5]}" if differ else ""


def leftovers(folder: Path) -> list[str]:
    """Half-written files and locks."""
    names = (*folder.rglob(".*.tmp"), *folder.rglob(".sojourn.lock"))
    return [str(path.relative_to(folder)) for path in names]
