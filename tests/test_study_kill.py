"""A study whose processes are killed at random instants ends with the undisturbed table.

``SOJOURN_KILLS`` is the number of instants; ``make study-kills`` takes 100, in studies of five.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow.dataset
import pytest

import sojourn
from processes import below, is_alive, wait_for
from sojourn.study.folder import open_folder
from sojourn.study.storage import StudyStore

KILLS = min(5, int(os.environ.get("SOJOURN_KILLS", "3")))
ROUNDS = int(os.environ.get("SOJOURN_KILLS", "3")) // KILLS
STUDY = """\
name = "kills"
scenario = "dumbbell-reno"
metrics = ["queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"]
seeds = {seeds}
set = {{ duration = "5s", warmup = "0s" }}
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel", "pie"]
[[axes]]
name = "flows"
key = "flows.bulk.count"
values = [1, 2, 4]
"""
# Batches of a tenth of a second and compaction at every third fragment: many instants at which a
# file is being written, renamed or removed.
CLIENT = """\
import sys
import sojourn
from sojourn.study import dispatch, running
if __name__ == "__main__":
    dispatch.BATCH_S, running._COMPACT_AT = 0.1, 2
    sojourn.study.run_study(sojourn.study.read("study.toml"), "store", jobs=2)
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "client.py"], cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True
    )


def files(store: Path) -> set[str]:
    return {path.name for path in store.glob("*/*.parquet")}


def is_at_work(client: subprocess.Popen[bytes], store: Path, before: set[str]) -> bool:
    """Whether files have changed since then, or the process has ended."""
    return client.poll() is not None or files(store) != before


def kill(client: subprocess.Popen[bytes], what: str, choice: random.Random) -> None:
    """Kill the whole tree, the client alone, or one of the processes below it."""
    family = below(client.pid)
    victims = [client.pid, *family] if what == "tree" else [client.pid]
    if what == "worker" and family:
        victims = [choice.choice(family)]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if what == "worker":
        return
    client.wait()
    assert wait_for(lambda: not any(map(is_alive, family)), 60.0), "workers outlive their client"


# The study's progress at a kill depends on the machine: a fast one may finish before the last kill.
@pytest.mark.skipif("SOJOURN_KILLS" not in os.environ, reason="`make study-kills` runs it")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_at_random_instants_the_table_is_the_undisturbed_one(tmp_path, seed):
    choice = random.Random(seed)
    (tmp_path / "study.toml").write_text(STUDY.format(seeds=40 * KILLS))
    (tmp_path / "client.py").write_text(CLIENT)
    study = sojourn.study.read(tmp_path / "study.toml")
    began = time.monotonic()
    expected = sojourn.study.run_study(
        study, tmp_path / "undisturbed", executor=ThreadPoolExecutor(2)
    ).to_arrow()
    kills, made = [], [0]
    store = tmp_path / "store"
    while len(kills) < KILLS:
        client, before = start(tmp_path), files(store)
        if choice.random() < 0.8:
            # Most kills hit a study that runs, the others one that imports or resolves.
            assert wait_for(partial(is_at_work, client, store, before), 60.0)
        time.sleep(choice.uniform(0.0, 0.4))
        assert client.poll() is None, f"complete after {len(kills)} kills: give it more seeds"
        what = choice.choice(["tree", "client", "worker"])
        kill(client, what, choice)
        kills.append(what)
        if what == "worker":
            # The study continues with another worker, until it dies itself.
            time.sleep(choice.uniform(0.0, 0.4))
            kill(client, "tree", choice)
        made.append(len(StudyStore(open_folder(store), pytest.fail).runs()))
    assert made == sorted(made)
    assert 0 < made[-1] < expected.num_rows
    last = start(tmp_path)
    assert last.wait(300) == 0
    found = sojourn.study.open_results(tmp_path / "store", pytest.fail)
    assert found.to_arrow().equals(expected)
    assert found.status().failed == 0
    rows = pyarrow.dataset.dataset(tmp_path / "store/table").to_table()
    assert len(rows) == len(expected) * rows.num_rows // len(rows["run"].unique())
    keys = set(zip(*(rows[c].to_pylist() for c in ("run", "scope", "name", "metric")), strict=True))
    assert len(keys) == rows.num_rows
    print(f"{len(kills)} kills {kills}; runs after each {made[1:]} of {expected.num_rows}; "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
