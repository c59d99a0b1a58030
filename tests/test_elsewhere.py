"""The command on a system whose Python lacks all functions that only Linux has."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("elsewhere.py")


@pytest.fixture
def elsewhere(command):
    """Run the command as on Windows, in the folder of `command`."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-X", "warn_default_encoding", PROGRAM, *arguments],
            cwd=command.folder, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    return run


def test_elsewhere_every_command_is_imported_and_a_run_has_the_same_digest(elsewhere, command):
    there = elsewhere("run", "small.toml", "--fresh", "--json", "--out", "out")
    assert there.returncode == 0, there.stderr
    here = command("run", "small.toml", "--fresh", "--json")
    assert json.loads(there.stdout)["digest"] == json.loads(here.stdout)["digest"]


def test_elsewhere_a_comparison_writes_its_report(elsewhere, command):
    done = elsewhere("compare", "small.toml", "--aqm", "codel,pie", "--seeds", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (command.folder / "out" / "report.html").exists()
    assert list((command.folder / "out").rglob(".*")) == []  # neither lock nor temporary file


REFUSED = {
    "run small.toml --engine linux": "engine linux",
    "run small.toml --engine ns3": "engine ns3",
    "exec small.toml --replace voip --client true": "engine linux",
    "router --aqm codel --rate 10mbit": "sojourn router",
    "ns3 build": "ns3 build",
    "ns3 install prefix": "ns3 install",
    "kernel build": "kernel build",
}


def test_elsewhere_what_needs_linux_is_refused_in_one_line(elsewhere):
    done = elsewhere(
        *" --then ".join(
            ["doctor", *REFUSED, "stability pie --rate 10mbit --rtt 50ms --flows 5"]
        ).split()
    )
    assert done.returncode == 2, done.stderr
    assert "the engine ns3 needs Linux" in done.stdout
    said = [line for line in done.stderr.splitlines() if " run in " not in line]
    assert said.pop() == "sojourn: error: stability: needs scipy; pip install 'sojourn[stability]'"
    for what, line in zip(REFUSED.values(), said, strict=True):
        assert line.startswith(f"sojourn: error: {what}: needs Linux, and this is Windows; ")
