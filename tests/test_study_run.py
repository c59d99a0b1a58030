"""Running studies: the store's content, repeated runs, and faults."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import signal
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest
from pyarrow import parquet

import sojourn
from processes import ended
from sojourn import files
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.store import simulator
from sojourn.study import batch as batches
from sojourn.study import executors, storage
from sojourn.study.batch import BaseScenario, Batch, BatchOutcome, BatchRun
from sojourn.study.dispatch import Dispatcher
from sojourn.study.doubts import doubts
from sojourn.study.folder import open_folder
from sojourn.study.plan import plan_study
from sojourn.study.running import StudyPart, parse_part
from sojourn.study.storage import StudyStore

pytestmark = pytest.mark.slow

DELAY, JAIN = "queue/bottleneck/delay_p95", "class/bulk/jain"
STUDY = {
    "name": "small", "scenario": "dumbbell-reno", "metrics": [DELAY, JAIN], "seeds": 2,
    "set": {"duration": "1s", "warmup": "0s"},
    "axes": [
        {"name": "aqm", "key": "links.bottleneck.queue", "values": ["codel", "pie"]},
        {"name": "flows", "key": "flows.bulk.count", "values": [1, 3]},
    ],
}  # fmt: skip


def study(**more):
    return sojourn.study.parse(STUDY | more)


def run(store, found=None, **options):
    options.setdefault("executor", ThreadPoolExecutor(2))
    return sojourn.study.run_study(found or study(), store, report=pytest.fail, **options)


@pytest.fixture
def made(monkeypatch) -> list[int]:
    """Seeds of the runs that were computed."""
    engine, found = type(registry.DEFAULT.engine), list[int]()
    prepare = engine.prepare

    def counted(self, scenario, options, controls=()):
        found.append(scenario.seed)
        return prepare(self, scenario, options, controls)

    monkeypatch.setattr(engine, "prepare", counted)
    return found


def test_a_study_has_one_row_per_run_with_the_numbers_of_a_single_run(tmp_path):
    table = run(tmp_path).to_arrow().to_pylist()
    assert [(row["aqm"], row["flows"], row["seed"]) for row in table] == [
        (aqm, flows, seed) for aqm in ("codel", "pie") for flows in (1, 3) for seed in (1, 2)
    ]
    sets = STUDY["set"] | {"links.bottleneck.queue": "pie", "flows.bulk.count": 3}
    alone = sojourn.run("dumbbell-reno", seed=2, sets=sets, store=None)
    assert table[-1]["delay_p95_s"] == alone.summary[DELAY]
    assert table[-1]["jain"] == alone.summary[JAIN]
    # A single flow has no fairness index.
    assert table[0]["jain"] is None


def test_the_store_is_parquet_with_each_run_once(tmp_path):
    run(tmp_path)
    assert list((tmp_path / "fragments").iterdir()) == []
    rows = pyarrow.dataset.dataset(tmp_path / "table").to_table()
    keys = list(
        zip(*(rows[c].to_pylist() for c in ("run", "scope", "name", "metric")), strict=True)
    )
    assert len(set(keys)) == len(keys)
    assert len(rows["run"].unique()) == 8


def test_what_is_there_is_not_run_again(tmp_path, made):
    run(tmp_path)
    assert sorted(made) == [1] * 4 + [2] * 4
    made.clear()
    first = run(tmp_path).to_arrow()
    assert made == []
    more = run(tmp_path, study(seeds=3))
    assert made == [3] * 4
    assert more.to_arrow().num_rows == 12
    assert run(tmp_path).to_arrow().equals(first)


def test_a_run_that_compare_has_kept_is_taken_from_there(tmp_path, made):
    sets = STUDY["set"] | {"flows.bulk.count": 3}
    sojourn.compare("dumbbell-reno", ["codel", "pie"], 2, sets=sets, jobs=1)
    made.clear()
    run(tmp_path)
    # Only the runs of the points with one flow are missing.
    assert len(made) == 4


def test_seeds_are_added_until_the_rule_is_met(tmp_path):
    until = {"metric": DELAY, "within": "1s", "max_seeds": 20}
    document = {key: value for key, value in STUDY.items() if key != "seeds"}
    results = run(tmp_path, sojourn.study.parse(document | {"until": until}))
    assert results.to_arrow().num_rows == 4 * 8
    assert results.status().unmet == 0
    until = until | {"within": "0.001ms", "max_seeds": 12}
    results = run(tmp_path, sojourn.study.parse(document | {"until": until}))
    assert max(results.to_arrow()["seed"].to_pylist()) == 12
    wide = next(e for e in results.estimates() if e.seeds == 12).estimates[DELAY]
    assert wide.n == 12
    assert wide.low < wide.mean < wide.high
    assert results.status().unmet == sum(each.seeds == 12 for each in results.estimates())


def test_the_same_run_in_two_fragments_is_one_row_before_and_after_compaction(tmp_path):
    base = BaseScenario(
        (sojourn.study.definition.find_scenario("dumbbell-reno")).read_text(), "toml", "", ""
    )
    runs = [BatchRun(f"{n:040}", base, (("duration", '"1s"'), ("warmup", '"0s"')), n, "sim", 0)
            for n in (1, 2, 3)]  # fmt: skip
    for part in (runs[:2], runs[1:], runs):
        batches.work(Batch(str(tmp_path), tuple(part), simulator()))
    store = StudyStore(open_folder(tmp_path), pytest.fail)
    expected = _content(store)
    assert len({row["run"] for row in expected}) == 3
    assert store.fragments() == 3
    store.compact()
    assert store.fragments() == 0
    assert _content(store) == expected
    assert sorted(pyarrow.dataset.dataset(tmp_path / "table").to_table().to_pylist(), key=repr) == (
        expected
    )


def _content(store: StudyStore) -> list[dict]:
    rows = [row for table in store.tables() for row in table.to_pylist()]
    keys = [(row["run"], row["scope"], row["name"], row["metric"]) for row in rows]
    assert len(set(keys)) == len(keys)
    return sorted(rows, key=repr)


@pytest.mark.parametrize("step", range(4))
def test_compaction_that_dies_at_any_step_loses_and_doubles_nothing(tmp_path, monkeypatch, step):
    run(tmp_path, part=StudyPart())
    store = StudyStore(open_folder(tmp_path), pytest.fail)
    expected = _content(store)
    monkeypatch.setattr(storage, "FILE_BYTES", 1)
    steps = iter(range(100))
    for name in ("write", "remove"):
        act = getattr(store.folder, name)

        def dies(*arguments, act=act):
            if next(steps) == step:
                raise KeyboardInterrupt
            act(*arguments)

        monkeypatch.setattr(store.folder, name, dies)
    with pytest.raises(KeyboardInterrupt):
        store.compact()
    assert _content(store) == expected
    fresh = StudyStore(open_folder(tmp_path), pytest.fail)
    fresh.compact()
    assert _content(fresh) == expected
    table = pyarrow.dataset.dataset(tmp_path / "table").to_table()
    assert sorted(table.to_pylist(), key=repr) == expected


def test_a_damaged_file_is_reported_and_its_runs_are_made_again(tmp_path):
    before = run(tmp_path).to_arrow()
    (file,) = (tmp_path / "table").iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    reports: list[str] = []
    after = sojourn.study.run_study(
        study(), tmp_path, executor=ThreadPoolExecutor(2), report=reports.append
    )
    assert "is damaged" in reports[0]
    assert after.to_arrow().equals(before)


def _text_rows(rows):
    return rows.set_column(1, "seed", rows["seed"].cast("string"))


def _missing(rows):
    return rows.set_column(9, "value", pa.nulls(rows.num_rows, pa.float64()))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (None, "cannot be read as Parquet"),
        (lambda rows: rows.drop_columns("value"), "is not of runs: its columns are run, seed"),
        (_text_rows, "its column seed is of the type string, not uint64"),
        (_missing, "its column value has missing values"),
    ],
)
def test_a_fragment_with_the_right_digest_and_no_runs_is_put_away_and_said(tmp_path, change, why):
    before = run(tmp_path).to_arrow()
    (file,) = (tmp_path / "table").iterdir()
    content = b"none"
    if change is not None:
        buffer = io.BytesIO()
        parquet.write_table(change(parquet.read_table(file)), buffer)
        content = buffer.getvalue()
    name = hashlib.sha256(content).hexdigest()[:40]
    (tmp_path / "fragments" / f"{name}.parquet").write_bytes(content)
    reports: list[str] = []
    results = sojourn.study.open_results(tmp_path, reports.append)
    assert results.status().made == before.num_rows
    assert results.to_arrow().equals(before)
    assert len(reports) == 1 and why in reports[0]
    assert (tmp_path / "damaged" / f"{name}.parquet").read_bytes() == content


@pytest.mark.parametrize("facts", [{}, {"format": 2}, {"format": 2, "simulator": 3},
                                   {"format": 2, "simulator": "x", "study": []}])  # fmt: skip
def test_a_study_json_with_the_right_checksum_and_no_study_is_refused(tmp_path, facts):
    store = StudyStore(open_folder(tmp_path), pytest.fail)
    store.begin({"study": {}, "folder": "/some/where"})
    (tmp_path / "study.json").write_text(files.sealed(facts))
    with pytest.raises(InputError, match=r"study\.json is damaged.*; remove it and run"):
        store.facts()


def test_what_a_writer_killed_in_study_json_left_is_removed_when_the_study_begins(tmp_path):
    store = StudyStore(open_folder(tmp_path), pytest.fail)
    store.begin({})
    left = tmp_path / f".study.json.{files._host()}.{ended()}.{'a' * 16}.tmp"
    left.touch()
    # The study is unchanged, so nothing is written or compacted.
    store.begin({})
    assert not left.exists()


def test_a_study_json_that_has_changed_since_is_refused(tmp_path):
    store = StudyStore(open_folder(tmp_path), pytest.fail)
    store.begin({"folder": "/some/where"})
    file = tmp_path / "study.json"
    file.write_text(file.read_text().replace("/some/where", "/some/when"))
    with pytest.raises(InputError, match=r"study\.json is damaged.*; remove it and run"):
        store.facts()


def test_a_damaged_note_of_a_failed_run_is_reported_and_the_run_tried_again(tmp_path):
    reports: list[str] = []
    store = StudyStore(open_folder(tmp_path), reports.append)
    note = {"reason": "a sentence", "point": {"aqm": "pie"}, "seed": 1}
    store.set_aside("whole", note)
    store.set_aside("damaged", note)
    store.set_aside("empty", {})
    file = tmp_path / "failed" / "damaged.json"
    file.write_bytes(file.read_bytes()[:-9])
    assert store.failed() == {"whole": note}
    assert len(reports) == 2 and all("its run is tried again" in each for each in reports)
    assert not file.exists()


def test_more_runs_than_can_be_listed_are_refused_before_any_is_made(tmp_path):
    with pytest.raises(InputError, match=r"seeds: 400,000,000,000 runs take .* ask for fewer"):
        run(tmp_path, study(seeds=10**11))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_the_study_with_a_remedy_and_resume_goes_on(tmp_path, monkeypatch, made):
    write = storage.StudyStore.write
    written: list[str] = []

    def fills(self, rows):
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(write(self, rows))
        return written[0]

    monkeypatch.setattr(storage.StudyStore, "write", fills)
    with pytest.raises(OSError, match="No space left on device; make room, then resume"):
        run(tmp_path, executor=ThreadPoolExecutor(1))
    monkeypatch.undo()
    kept = len(StudyStore(open_folder(tmp_path)).runs())
    assert kept >= 1
    assert run(tmp_path).status().made == 8


def test_a_store_of_another_version_is_refused(tmp_path, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr(storage, "simulator", lambda: "9.9.9 abc")
    with pytest.raises(InputError, match=r"its runs are of .*, this is 9\.9\.9 abc; give another"):
        run(tmp_path)
    # Under the names that this version gives the points, no run would be found.
    with pytest.raises(InputError, match=r"this is 9\.9\.9 abc; use that version"):
        sojourn.study.open_results(tmp_path)


def test_a_worker_of_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "simulator", lambda: "9.9.9 abc")
    with pytest.raises(InputError, match=r"a worker has Sojourn 9\.9\.9 abc"):
        run(tmp_path)


def test_a_metric_that_no_end_of_the_axes_has_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no `queue/bottleneck/dalay`; did you mean `queue/b"):
        run(tmp_path, study(metrics=["queue/bottleneck/dalay"]))
    with pytest.raises(InputError, match=r"`delay_p95`; did you mean `queue/bottleneck/delay_p95`"):
        run(tmp_path, study(metrics=["delay_p95"]))


def test_a_metric_that_runs_in_the_store_lack_is_refused_however_often_it_is_tried(tmp_path):
    wrong = study(metrics=["queue/bottleneck/dalay"])
    run(tmp_path, study(seeds=1))
    for found in (wrong, wrong, study(metrics=["queue/bottleneck/dalay"], seeds=1)):
        with pytest.raises(InputError, match="has no `queue/bottleneck/dalay`"):
            run(tmp_path, found)


def test_a_metric_that_only_a_kept_run_has_is_not_refused(tmp_path):
    run(tmp_path)
    one_flow = [*STUDY["axes"][:1], STUDY["axes"][1] | {"values": [1]}]
    assert len(run(tmp_path, study(axes=one_flow, seeds=3)).to_arrow()) == 6


def test_a_plan_with_pilots_refuses_such_a_metric_before_anything_is_run():
    with pytest.raises(InputError, match=r"no `queue/bottleneck/dalay`; did you mean `queue/b"):
        plan_study(study(metrics=["queue/bottleneck/dalay"]), pilots=2)


def test_a_stopping_rule_in_another_unit_than_its_metric_is_refused(tmp_path):
    more = {key: value for key, value in STUDY.items() if key != "seeds"}
    rule = {"metric": DELAY, "within": "5mbit", "max_seeds": 20}
    with pytest.raises(InputError, match=r"until.within: is in mbit, but .*delay_p95 is in s;"):
        run(tmp_path, sojourn.study.parse(more | {"until": rule}))
    with pytest.raises(InputError, match="is a plain number, but"):
        plan_study(sojourn.study.parse(more | {"until": rule | {"within": 0.005}}), pilots=2)
    plan_study(sojourn.study.parse(more | {"until": rule | {"within": "1ms"}}), pilots=2)


def test_parts_make_the_whole(tmp_path):
    whole = run(tmp_path / "whole").to_arrow()
    for number in (1, 2, 3):
        run(tmp_path / "parts", part=StudyPart(number, 3))
    results = sojourn.study.open_results(tmp_path / "parts")
    assert results.to_arrow().equals(whole)
    assert results.status().fragments > 0


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "a/b", "1/0"])
def test_a_part_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="write K/N"):
        parse_part(text)


def test_a_store_may_be_behind_an_address(tmp_path):
    pytest.importorskip("fsspec")
    found = run("memory://study")
    assert found.to_arrow().equals(run(tmp_path).to_arrow())
    assert found.status().fragments == 0


def test_an_address_of_an_unknown_protocol_is_refused():
    pytest.importorskip("fsspec")
    with pytest.raises(InputError, match="moon://x"):
        open_folder("moon://x")


def test_processes_give_the_same_table_as_threads(tmp_path):
    one = sojourn.study.run_study(study(), tmp_path / "processes", jobs=2).to_arrow()
    assert one.equals(run(tmp_path / "threads").to_arrow())


def listening():
    """Listening addresses and ports of this process and its children."""
    psutil = pytest.importorskip("psutil")
    own = psutil.Process()
    found = (each.net_connections("tcp") for each in (own, *own.children(recursive=True)))
    return {tuple(c.laddr) for all_of in found for c in all_of if c.status == "LISTEN"}


def test_dask_gives_the_same_table_as_threads(tmp_path):
    pytest.importorskip("distributed")
    before = listening()
    workers = executors.cluster("local", 2)
    assert workers.count == 2
    assert {host for host, _ in listening() - before} == {"127.0.0.1"}
    one = sojourn.study.run_study(study(), tmp_path / "dask", executor=workers).to_arrow()
    assert one.equals(run(tmp_path / "threads").to_arrow())


@pytest.mark.parametrize("where", ["local", "slurm"])
def test_an_argument_that_a_cluster_does_not_take_is_refused_in_one_sentence(monkeypatch, where):
    def kind(
        *, n_workers=1, threads_per_worker=1, host="", dashboard_address="",
        worker_dashboard_address="",
    ):  # fmt: skip
        raise AssertionError("it has another argument")

    made = types.SimpleNamespace(LocalCluster=kind, SLURMCluster=kind)
    monkeypatch.setattr(executors, "_module", lambda name: made)
    with pytest.raises(InputError, match=rf"cluster {where}: does not start: .*'color'"):
        executors.cluster(where, 1, {"color": "red", "dashboard_address": ":1"})


def test_a_cluster_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_CONNECT_S", 0.2)
    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9: does not answer"):
        executors.cluster("tcp://127.0.0.1:9")


POISON = f"{5:040}"


def kills(batch: Batch) -> BatchOutcome:
    """The work of a worker that one run kills."""
    if POISON in [run.address for run in batch.runs]:
        os.kill(os.getpid(), signal.SIGKILL)
    made = tuple(run.address for run in batch.runs)
    return BatchOutcome(made, {}, 0.01 * len(made), 1)


def test_a_run_that_kills_its_worker_is_set_aside_and_the_others_are_made():
    made: list[str] = []
    aside: dict[str, str] = {}
    dispatcher = Dispatcher(
        executors.processes(2), "", "",
        finish=lambda _batch, outcome: made.extend(outcome.made),
        set_aside=lambda run, reason: aside.update({run.address: reason}),
        work=kills,
    )  # fmt: skip
    base = BaseScenario("", "toml", "", "")
    dispatcher.run(BatchRun(f"{n:040}", base, (), 1, "sim", n) for n in range(20))
    assert sorted(made) == [f"{n:040}" for n in range(20) if n != 5]
    assert list(aside) == [POISON]
    assert "worker died" in aside[POISON]


def test_a_run_that_fails_is_set_aside_with_its_scenario_and_tried_again_on_demand(
    tmp_path, monkeypatch
):
    def fails(run, kept):
        raise sojourn.errors.RunFailed("a bug")

    monkeypatch.setattr(batches, "_made", fails)
    results = run(tmp_path)
    assert results.status().failed == 8
    (facts, *_) = results.store.failed().values()
    assert facts["reason"] == "RunFailed: a bug"
    assert sojourn.Scenario.load(facts["scenario"], format="json").seed == facts["seed"]
    monkeypatch.undo()
    # A run stays set aside until a retry is requested.
    assert run(tmp_path).status().made == 0
    results.store.retry()
    assert run(tmp_path).status().made == 8


def test_the_command_runs_resumes_and_exports(command, tmp_path):
    (Path(command.folder) / "s.toml").write_text(
        'name = "s"\nscenario = "small.toml"\nseeds = 1\n'
        'metrics = ["queue/bottleneck/utilisation"]\n[set]\nduration = "1s"\n'
        '[[axes]]\nname = "flows"\nkey = "flows.bulk.count"\nvalues = [1, 2]\n'
    )
    assert command("study", "begin", "s.toml", "--store", "st").returncode == 0
    assert command("study", "work", "st", "--part", "1/2", "--jobs", "1").returncode == 0
    assert "1 of 2 runs" in command("study", "status", "st").stdout
    assert command("study", "resume", "st", "--jobs", "1").returncode == 0
    assert command("study", "export", "st", "t.csv").returncode == 0
    lines = (command.folder / "t.csv").read_text().splitlines()
    assert len(lines) == 3
    assert "must end in" in command.refused("study", "export", "st", "t.doc")


def test_resuming_a_study_resolves_each_point_once(tmp_path, monkeypatch):
    from sojourn.cli import main as click_main
    from sojourn.study import points as module

    run(tmp_path)
    resolved = []
    some = module._some
    monkeypatch.setattr(module, "_some", lambda base, of: resolved.extend(of) or some(base, of))
    monkeypatch.setattr(module, "load", lambda *_: pytest.fail("a point is resolved alone"))
    assert click_main(["study", "resume", str(tmp_path), "--jobs", "1"]) == 0
    assert [each.index for each in resolved] == [0, 1, 2, 3]
    found = sojourn.study.open_results(tmp_path, pytest.fail)
    assert [each.point.index for each in found.points] == list(range(len(found.points)))
    assert found.to_arrow().num_rows and found.status().made and len(resolved) == 8


def test_a_doubtful_study_warns_once_of_each_kind(tmp_path) -> None:
    cake = "cake:bandwidth=5mbit"
    shapers = {"name": "aqm", "key": "links.bottleneck.queue",
               "values": [cake, f"{cake},target=20ms", "fq_codel"]}  # fmt: skip
    calm = {"duration": "2s", "warmup": "0s", "links.bottleneck.rate": "1gbit",
            "flows.bulk.access_rate": "1mbit", "flows.bulk.start": "0s",
            "flows.bulk.count": 1}  # fmt: skip

    def warned(where: str, found) -> list[str]:
        return doubts(run(tmp_path / where, found))

    found = warned("shapers", study(axes=[shapers]))
    (different,) = [text for text in found if "different rates over bottleneck" in text]
    assert "(5mbit, unshaped)" in different
    axis = {"name": "aqm", "key": "links.bottleneck.queue", "values": ["codel", "pie"]}
    found = warned("calm", study(axes=[axis], set=calm, metrics=[DELAY]))
    (idle,) = [text for text in found if "no AQM had anything to do" in text]
    assert idle.startswith("At 2 of 2 points")
    (alike,) = [text for text in found if "Every seed gives the same values" in text]
    assert "at 2 points" in alike
    found = warned("one", study(axes=[axis], seeds=1, set={"duration": "1s", "warmup": "990ms"}))
    assert any(text.startswith("One seed per point") for text in found)
    (short,) = [text for text in found if "shorter than 10 base RTTs" in text]
    assert short.endswith("(and at 1 more point)") and short.startswith("aqm codel: ")
    sound = {"duration": "20s", "warmup": "2s", "flows.bulk.start": "0s..1s"}
    assert warned("sound", study(axes=[axis], set=sound)) == []
