"""A few inputs of each kind of `make storm` written in Python (docs/evidence/storm.md).

In a separate process, because the storm forks and pytest's process may have threads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# The synced state of a file in a new folder; two kills of a study; two power cuts; three kills of a
# comparison.
QUICK = """\
import random
import sys
from pathlib import Path
from storm import commands, kills, power
from sojourn import files

def write():
    files.write(Path("out/deep/file"), "whole")
    return 0

scratch = Path(sys.argv[1])
commands.COMMANDS["write"] = write
steps = power.record(commands.fresh(scratch / "write"), "write")
print(sorted(power.left(steps, "late", {}).items()))
print([sorted(power.left(steps[:n], "early", {}).values()) for n in range(len(steps) + 1)])
undisturbed = commands.Undisturbed(scratch)
why, _ = kills.chain("study", random.Random(1), undisturbed, 2)
cuts = [(22, "early"), (40, "late")]
print([why, *(power.judged("study", n, way, undisturbed) for n, way in cuts)])
print(kills.chain("compare", random.Random(2), undisturbed, 3))
"""


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=HERE.parent, env={"PYTHONPATH": str(HERE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> list[str]:
    return run("-c", QUICK, str(tmp_path_factory.mktemp("storm"))).splitlines()


def test_a_diary_keeps_what_every_call_has_met(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    from storm.diary import Diary, Met

    first = Diary(tmp_path / "out" / "kills-4.diary")
    first.add(7, Met(3, ""))
    first.add(2, Met(10, "differ: ['a\nb']"))
    again = Diary(first.path)
    assert again.read() == {7: Met(3, ""), 2: Met(10, "differ: ['a\nb']")}
    assert again.counted() == 13


@pytest.mark.long
def test_the_names_of_new_folders_survive_a_power_cut(said):
    late, early, *_ = said
    assert late == "[('out/deep/file', b'whole')]"
    assert early.endswith("[b'whole']]")
    assert "b'who'" not in early


@pytest.mark.long
@pytest.mark.nightly
def test_a_study_that_is_killed_or_loses_power_goes_on_to_the_undisturbed_table(said):
    assert said[2] == "['', '', '']"


@pytest.mark.long
@pytest.mark.nightly
def test_a_comparison_that_is_killed_goes_on_to_the_undisturbed_files_and_repeats_no_run(said):
    assert re.fullmatch(r"\('', [123]\)", said[3])
