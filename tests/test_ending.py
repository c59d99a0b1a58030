"""The remains of a process that ends at once, in the middle of its work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# A background thread has created a file, a folder and a lock when the process ends.
BEGUN = """\
import sys, threading, time
from pathlib import Path
from sojourn import ending, files

def work():
    with files.writing_to(Path("out")), files.scratch() as folder, files.Together() as together:
        (folder / "large").write_text("half")
        with together.open(Path("out/table.parquet")) as file:
            file.write(b"half")
            begun.set()
            time.sleep(60)

begun = threading.Event()
threading.Thread(target=work).start()
begun.wait()
ending.end(130)
"""
# `compare` whose runs end at once, and whose later work is interrupted at a known place.
BUSY = """\
import importlib, signal, sys, time
from sojourn import ending, errors

def work(*arguments, **options):
    {work}

sys.argv = ["sojourn", "compare", "dumbbell-reno", "--aqm", "codel,pie"]
importlib.import_module("sojourn.cli.compare").plan = work
from sojourn.__main__ import main
sys.exit(main())
"""
IN_EXEC = "exec('import signal, time; signal.raise_signal(signal.SIGINT); time.sleep(60)')"
DEAF = """
    until = time.monotonic() + 300
    signals = [signal.SIGINT]
    while time.monotonic() < until:
        try:
            if signals:
                signal.raise_signal(signals.pop())
            time.sleep(300)
        except KeyboardInterrupt:
            ending.expect(errors.Interrupted(['pie, seed 3'], 4))
"""
ORDERLY = """
    with ending.orderly():
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            time.sleep(0.5)
            print("tidied", file=sys.stderr)
            raise
"""


def called(text: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "TMPDIR": str(folder / "tmp")}, check=False,
    )  # fmt: skip
    return done, time.monotonic() - began


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tmp").mkdir()
    return tmp_path


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_threads_that_are_not_waited_for_leave_nothing_half_written(folder):
    done, _ = called(BEGUN, folder)
    assert (done.returncode, done.stderr) == (130, "")
    assert everything(folder) == ["tmp"]


def test_an_interrupt_in_a_text_that_python_executes_gives_exit_code_130(folder):
    done, _ = called(BUSY.format(work=IN_EXEC), folder)
    assert (done.returncode, done.stderr.split("\n")) == (130, ["", "sojourn: interrupted", ""])


def test_work_that_goes_on_after_the_interrupt_is_ended_and_what_is_kept_is_said(folder):
    done, took_s = called(BUSY.format(work=DEAF), folder)
    assert done.returncode == 130
    assert done.stderr.splitlines() == [
        "sojourn: interrupted after 1 of 4 runs",
        "  finished: pie, seed 3",
        "sojourn: these are kept; the same command resumes from there",
    ]
    assert took_s < 100


def test_a_block_that_hears_the_interrupt_itself_is_let_end(folder):
    done, _ = called(BUSY.format(work=ORDERLY), folder)
    assert done.stderr.split("\n") == ["tidied", "", "sojourn: interrupted", ""]


def test_the_folder_of_a_killed_process_is_removed_by_the_next(folder):
    text = "import os\nfrom sojourn import files\nwith files.scratch():\n    {}\n"
    dead, _ = called(text.format("os.kill(os.getpid(), 9)"), folder)
    (left,) = (folder / "tmp").iterdir()
    alive = left.with_name(left.name.replace(f"-{dead_process(left)}-", f"-{os.getpid()}-"))
    alive.mkdir()
    called(text.format("pass"), folder)
    assert dead.returncode == -9
    assert list((folder / "tmp").iterdir()) == [alive]


def dead_process(folder: Path) -> str:
    return folder.name.split("-")[-2]
