"""Two AQMs on the same arrivals, and why a packet was dropped."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sojourn
from sojourn.comparing.diff import Difference

SHORT = {"duration": "8s", "warmup": "0s"}


@pytest.fixture(scope="module")
def found() -> Difference:
    return sojourn.diff("pie@linux", "pie@rfc8033", "traffic-mix", sets=SHORT)


def test_the_first_difference_is_a_signal_of_one_and_not_of_the_other(found: Difference) -> None:
    first = found.first
    assert first is not None
    other = 1 - first["side"]
    assert first["fate"] in found.fates[first["side"]]
    assert found.fates[other] != found.fates[first["side"]]
    packet = found.results[other].packets.slice(first["packet"], 1).to_pylist()[0]
    assert (packet["flow"], packet["seq"]) == (first["flow"], first["seq"])
    names = [[name for name, _, _ in state] for state in first["states"]]
    assert names[0] == names[1] and "drop_prob" in names[0]


def test_counts_and_delays_are_those_of_the_replays(found: Difference) -> None:
    for side, result in enumerate(found.results):
        dropped = sum(pair[side] for key, pair in found.counts.items() if "dropped" in key)
        fates = result.packets["fate"].to_pylist()
        assert dropped == fates.count("dropped")
        assert len(fates) == found.arrivals
        assert found.delays["delay_mean"][side] == result.summary["queue/bottleneck/delay_mean"]


def test_the_replay_of_the_first_is_the_run(found: Difference) -> None:
    run = sojourn.run(
        "traffic-mix", sets={**SHORT, "links.bottleneck.queue": "pie@linux", "record.packets": True}
    )
    key = [("arrived_ns", "ascending"), ("flow", "ascending"), ("seq", "ascending")]
    columns = ["arrived_ns", "flow", "seq", "fate", "cause", "left_ns"]
    ours = run.packets.filter(pa.compute.equal(run.packets["queue"].cast("string"), "bottleneck"))
    replayed = found.results[0].packets
    assert _plain(ours, columns, key) == _plain(replayed, columns, key)


def _plain(table: pa.Table, columns: list[str], key: list[tuple[str, str]]) -> list[dict]:
    texts = {"flow", "fate", "cause"}
    arrays = [table[c].cast("string") if c in texts else table[c] for c in columns]
    return pa.table(arrays, names=columns).sort_by(key).to_pylist()


def test_equal_aqms_do_not_differ() -> None:
    found = sojourn.diff("codel", "codel", "traffic-mix", sets=SHORT)
    assert found.first is None and found.different == 0
    assert found.to_json()["first"] is None


def test_signals_carry_the_state_and_off_there_are_none() -> None:
    sets = {**SHORT, "links.bottleneck.queue": "madpie"}
    off = sojourn.run("traffic-mix", sets=sets)
    on = sojourn.run("traffic-mix", sets={**sets, "record.signals": True})
    assert off.digest == on.digest
    assert off.signals.num_rows == 0
    certain = [
        row for row in on.signals_with("drop_due", "nonsense").to_pylist()
        if row["cause"] == "deterministic"
    ]  # fmt: skip
    assert certain and all(row["drop_due"] == 1.0 for row in certain)
    assert all(row["nonsense"] is None for row in certain)


def test_signals_survive_the_disk(tmp_path) -> None:
    queue = {"links.bottleneck.queue": "madpie"}
    run = sojourn.run("traffic-mix", sets={**SHORT, **queue, "record.signals": True})
    run.save(tmp_path)
    stored = sojourn.Result.open(tmp_path).signals_with("drop_prob").to_pylist()
    assert stored == run.signals_with("drop_prob").to_pylist()
    assert len(stored) > 10


@pytest.mark.slow
def test_the_command_saves_numbers_and_a_picture(command) -> None:
    done = command(
        "diff",
        "pie",
        "codel",
        "traffic-mix",
        "--set",
        "warmup=0s",
        "--set",
        "duration=5s",
        "--out",
        "out",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert "open loop" in shown["how"]
    assert {path.name for path in (command.folder / "out").iterdir()} == {"diff.json", "diff.png"}
    assert shown["first"]["fates"][0] != shown["first"]["fates"][1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["pie@linx", "pie"], "did you mean `linux`"),
        (["pi", "piee"], "did you mean `pie`"),
        (["pie", "pi2", "two-way"], "gets the AQM by --link"),
        (["pie", "pi2", "two-way", "--link", "nix"], "no such link; it has downlink, uplink"),
        (["pie", "pi2", "nowhere"], "no shipped scenario of that name"),
    ],
)
def test_bad_input_is_one_sentence(command, arguments: list[str], says: str) -> None:
    done = command("diff", *arguments)
    assert done.returncode == 2
    assert says in done.stderr and len(done.stderr.strip().splitlines()) == 1
