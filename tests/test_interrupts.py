"""Ctrl-C and SIGTERM end a command with one line at any point of its Python code."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from processes import below, wait_for

pytestmark = pytest.mark.slow

# `compare` with a replaced computation.
CLIENT = """\
import importlib
import os
import signal
import sys
import time
from sojourn.cli import main

class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.{number})
        time.sleep(0.01)

def in_a_destructor(*arguments, **options):
    Destroyed()
    time.sleep(200)

class Failing:
    def __del__(self):
        raise ValueError

def signalled(unraisable):
    os.kill(os.getpid(), signal.{number})
    time.sleep(0.01)

def in_the_hook(*arguments, **options):
    Failing()
    time.sleep(200)

def translated(*arguments, **options):
    try:
        os.kill(os.getpid(), signal.{number})
        time.sleep(200)
    except KeyboardInterrupt:
        raise RuntimeError("a library's own words")

def late(*arguments, **options):
    os.kill(os.getpid(), signal.{number})
    time.sleep(0.5)
    raise KeyError("not interrupted")

if {where} is in_the_hook:
    sys.unraisablehook = signalled
importlib.import_module("sojourn.cli.compare").plan = {where}
code = main(["compare", "dumbbell-reno", "--aqm", "codel,pie"], ends_process={ends})
{after}
sys.exit(code)
"""

# One run of many minutes.
STUDY = """\
name = "long"
scenario = "small.toml"
set = { duration = "1000000s" }
metrics = ["queue/bottleneck/delay_p95"]
seeds = 1
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel"]
"""


def interrupted(
    where: str, number: str, after: str = "", ends: bool = False, **options
) -> subprocess.CompletedProcess[str]:
    text = CLIENT.format(where=where, number=number, after=after, ends=ends)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120,
                          check=False, **options)  # fmt: skip


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("where", ["in_a_destructor", "in_the_hook", "translated"])
def test_an_interrupt_that_python_or_a_library_drops_ends_the_command(where, number):
    done = interrupted(where, number)
    assert done.returncode == 130
    assert done.stderr.strip() == "sojourn: interrupted"


def test_a_dropped_interrupt_ends_a_command_that_ignores_ctrl_c():
    # As a shell's background job does.
    done = interrupted("in_a_destructor", "SIGTERM", preexec_fn=ignore_ctrl_c)
    assert done.returncode == 130
    assert done.stderr.strip() == "sojourn: interrupted"


def ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_that_arrives_twice_gives_one_message(number):
    done = interrupted("translated", number, f"os.kill(os.getpid(), signal.{number})", ends=True)
    assert done.returncode == 130
    assert done.stderr.strip() == "sojourn: interrupted"


def test_a_study_does_not_wait_for_its_runs(command):
    (command.folder / "study.toml").write_text(STUDY)
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "study", "run", "study.toml", "--store", "store",
         "--jobs", "1"],
        cwd=command.folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert wait_for(lambda: below(process.pid))
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()
        assert "interrupted" in process.stderr.read()


def test_a_job_in_the_background_goes_on_ignoring_ctrl_c():
    done = interrupted("late", "SIGINT", preexec_fn=lambda: signal.signal(2, signal.SIG_IGN))
    assert "KeyError: 'not interrupted'" in done.stderr
