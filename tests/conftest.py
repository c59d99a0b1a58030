"""Fixtures of several tests: a small scenario, and the command as a user calls it.

The number of tests skipped for lack of a guest kernel goes into pytest's cache, where ``cargo xtask
tally`` finds it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline would fail if other programs load the machine.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

# A shell makes background jobs ignore Ctrl-C; the commands under test would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NO_KERNEL = "no guest kernel"
SCENARIO = """\
name = "small"
duration = "4s"

[links.bottleneck]
rate = "5mbit"
delay = "10ms"
buffer = "1bdp"

[[flows]]
name = "bulk"
count = 2
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "bulk" }

[[flows]]
name = "voip"
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "cbr", rate = "87kbit", packet = "218B", voice = true }
"""


class Command:
    """Calls ``sojourn`` in a separate process, in a folder with ``small.toml``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "small.toml").write_text(SCENARIO)

    def __call__(self, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sojourn", *arguments]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False,
            **options,
        )  # fmt: skip

    def refused(self, *arguments: str, **options) -> str:
        """The message of a refused call: one line, exit code 2, nothing on stdout."""
        done = self(*arguments, **options)
        assert done.returncode == 2, done
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("sojourn: error: ")]
        assert len(lines) == 1, done.stderr
        return lines[0]


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory):
    """A separate store of runs for the tests; fixtures of wider scope than one test share it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOJOURN_CACHE", str(tmp_path_factory.mktemp("store")))
        yield


@pytest.fixture(autouse=True)
def empty_store(tmp_path_factory, monkeypatch):
    """Every test starts with an empty store, so none uses the runs of another."""
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path_factory.mktemp("store")))


_without_kernel: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and NO_KERNEL in str(report.longrepr):
        _without_kernel.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Workers of pytest-xdist report to the process that started them; with `-p no:cacheprovider`,
    # as in the machine of tests/hosts, there is no cache.
    cache = getattr(session.config, "cache", None)
    if not hasattr(session.config, "workerinput") and cache is not None:
        cache.set("sojourn/skipped_without_kernel", len(_without_kernel))


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)
