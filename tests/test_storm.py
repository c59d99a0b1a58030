"""The kinds of `make storm` that are written in Python, a few inputs of each (docs/storm.md).

In a process of its own, as the storm forks: pytest's may have threads.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sojourn import files

HERE = Path(__file__).parent
# What the disk has confirmed of a file in a new folder, by the record of what was written.
CONFIRMED = """\
import sys
from pathlib import Path
from storm import commands, power
from sojourn import files

def write():
    files.write(Path("out/deep/file"), "whole")
    return 0

commands.COMMANDS["write"] = write
steps = power.record(commands.fresh(Path(sys.argv[1])), "write")
print(sorted(power.left(steps, "late", {}).items()))
print([sorted(power.left(steps[:n], "early", {}).values()) for n in range(len(steps) + 1)])
"""


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=HERE.parent, env={"PYTHONPATH": str(HERE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_names_of_new_folders_survive_a_power_cut(tmp_path):
    late, early = run("-c", CONFIRMED, str(tmp_path)).splitlines()
    assert late == "[('out/deep/file', b'whole')]"
    assert early.endswith("[b'whole']]")
    assert "b'who'" not in early


def test_making_a_folder_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        files.make_folder(tmp_path / "file" / "below")
