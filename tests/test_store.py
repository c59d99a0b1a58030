"""The store of runs, and the data set of a comparison."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest
from pyarrow import parquet

import sojourn
from sojourn import _core, files, report
from sojourn.agreement.page import as_markdown
from sojourn.agreement.runs import agree
from sojourn.engines import registry
from sojourn.errors import InputError, Interrupted
from sojourn.running.replicas import Silent
from sojourn.running.result import TABLES
from sojourn.running.store import FORMAT, Store, _packed, _unpacked

pytestmark = pytest.mark.slow

SHORT = {"duration": "2s", "warmup": "0s"}
LABELS = ["scenario", "scenario_digest", "engine", "aqm", "dialect", "seed"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", report=pytest.fail)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Labels of the runs that were computed."""
    engine = type(registry.DEFAULT.engine)
    prepare, found = engine.prepare, list[str]()

    def counted(self, scenario, options, controls=()):
        found.append(f"{scenario.queue('bottleneck').split(':')[0]} {scenario.seed}")
        return prepare(self, scenario, options, controls)

    monkeypatch.setattr(engine, "prepare", counted)
    return found


def compare(aqms: list[str], seeds: int, store: Store | None, **options):
    return sojourn.compare(
        "dumbbell-cubic", aqms, seeds, sets=SHORT, store=store, jobs=1, **options
    )


def test_a_store_that_cannot_be_written_is_reported_once_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = list[str]()
    store = Store(tmp_path / "file" / "store", report=said.append)
    assert compare(["codel"], 2, store)
    assert len(said) == 2  # It cannot be read either.
    assert "file/store" in said[1]
    assert "set SOJOURN_CACHE" in said[1]


def test_a_run_that_is_cancelled_while_it_is_kept_leaves_nothing(store):
    switch = _core.Cancel()
    run = _core.run(sojourn.load("dumbbell-reno", SHORT), switch)
    switch.cancel()
    with pytest.raises(_core.Cancelled):
        store.keep(store.folder / "entry.run", run, switch)
    assert not store.folder.exists()


def test_a_run_that_was_made_is_not_made_again(store, made):
    first = compare(["taildrop", "pie"], 2, store)
    again = compare(["pie", "taildrop"], 3, store)
    assert made == ["taildrop 1", "pie 1", "taildrop 2", "pie 2", "pie 3", "taildrop 3"]
    for aqm in ("taildrop", "pie"):
        for one, other in zip(first.of(aqm), again.of(aqm), strict=False):
            assert one.summary_rows == other.summary_rows
            assert one.manifest == other.manifest
            for name in TABLES:
                assert one.table(name).schema == other.table(name).schema
                assert repr(one.table(name).to_pydict()) == repr(other.table(name).to_pydict())


def test_run_and_compare_share_the_store(store, made):
    sojourn.run("dumbbell-cubic", sets=SHORT, store=store)
    queue = sojourn.load("dumbbell-cubic").queue("bottleneck")
    compare([queue.split(":")[0]], 1, store)
    assert len(made) == 1


def test_an_agreement_takes_its_runs_from_the_store(store, made):
    scenario = sojourn.load("dumbbell-cubic", SHORT)
    engines = [registry.DEFAULT, registry.DEFAULT]
    first = agree([scenario], engines, seeds=2, jobs=1, store=store)
    count = len(made)
    again = agree([scenario], engines, seeds=2, jobs=1, store=store)
    assert (count, len(made)) == (2, 2), "the second engine is the first"
    assert as_markdown(again) == as_markdown(first)


def test_without_a_store_every_run_is_made(made):
    compare(["pie"], 1, None)
    compare(["pie"], 1, None)
    assert made == ["pie 1", "pie 1"]


class InterruptsAfterTwo(Silent):
    def update(self, runs: int, simulated_s: float) -> None:
        if runs >= 2:
            raise KeyboardInterrupt


def test_an_interrupted_comparison_goes_on_where_it_stopped(store, made, tmp_path):
    with pytest.raises(Interrupted):
        compare(["taildrop", "pie"], 4, store, progress=InterruptsAfterTwo(), out=tmp_path / "out")
    kept = list(store.folder.rglob("*.run"))
    assert 2 <= len(kept) < 8
    made.clear()
    compare(["taildrop", "pie"], 4, store, out=tmp_path / "out")
    assert len(made) == 8 - len(kept)


@pytest.mark.parametrize("damage", ["bit", "cut", "empty", "text", "other format"])
def test_a_damaged_entry_is_said_removed_and_computed_again(tmp_path, made, damage):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    whole = compare(["pie"], 1, store).of("pie")[0]
    (path,) = store.folder.rglob("*.run")
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes({
        "bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut": content[:middle],
        "empty": b"",
        "text": b"not a run",
        "other format": content.replace(b"store %d" % FORMAT, b"store 9", 1),
    }[damage])  # fmt: skip
    again = compare(["pie"], 1, store).of("pie")[0]
    assert again.digest == whole.digest
    assert len(said) == 1 and str(path) in said[0] and "damaged" in said[0]
    compare(["pie"], 1, store)
    assert len(made) == 2 and len(said) == 1


def _entry(path: Path) -> dict[str, bytes]:
    return _unpacked(path.read_bytes().split(b"\n", 2)[2])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("manifest.json", files.sealed({}).encode()),
        ("manifest.json", files.sealed({"files": [], "digest": 3}).encode()),
        ("manifest.json", b"[" * 100_000),
        ("summary.json", b'[["queue", "b", "delay", null, "s"]]'),
        ("summary.json", b"{}"),
        ("summary.json", b"3"),
    ],
)
def test_an_entry_with_the_right_digest_and_no_run_is_said_and_made_again(
    tmp_path, made, file, content
):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    whole = compare(["pie"], 1, store).of("pie")[0]
    (path,) = store.folder.rglob("*.run")
    store.write(path, _packed(_entry(path) | {file: content}))
    again = compare(["pie"], 1, store).of("pie")[0]
    assert again.digest == whole.digest
    assert len(said) == 1 and "is damaged; it is removed" in said[0]
    assert len(made) == 2


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"3\n", b'{"a": -1}\n', b'{"a": "b"}\n', b'{"a": 9}']
)
def test_an_entry_that_does_not_begin_with_the_sizes_of_its_files_is_made_again(
    tmp_path, made, content
):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    compare(["pie"], 1, store)
    (path,) = store.folder.rglob("*.run")
    store.write(path, content)
    compare(["pie"], 1, store)
    assert len(made) == 2 and len(said) == 1


def test_the_entry_of_another_run_is_not_taken_for_this_one(tmp_path, made):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    compare(["pie", "codel"], 1, store)
    one, other = store.folder.rglob("*.run")
    one.write_bytes(other.read_bytes())
    digests = [run.of(aqm)[0].digest for run in [compare(["pie", "codel"], 1, store)]
               for aqm in ("pie", "codel")]  # fmt: skip
    assert digests[0] != digests[1]
    assert len(made) == 3 and len(said) == 1


def test_a_table_in_an_entry_that_is_not_parquet_is_refused_once_and_then_made_again(tmp_path):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    compare(["pie"], 1, store)
    (path,) = store.folder.rglob("*.run")
    content = _entry(path)
    facts = files.unsealed(content["manifest.json"].decode())
    facts["files"]["summary.parquet"] = hashlib.sha256(b"none").hexdigest()
    sealed = files.sealed(facts).encode()
    store.write(path, _packed(content | {"manifest.json": sealed, "summary.parquet": b"none"}))
    with pytest.raises(InputError, match=r"summary\.parquet is damaged; run it again"):
        _ = compare(["pie"], 1, store).of("pie")[0].table("summary")
    assert len(said) == 1
    assert compare(["pie"], 1, store).of("pie")[0].table("summary").num_rows


def test_every_bit_of_an_entry_counts(tmp_path):
    said: list[str] = []
    store = Store(tmp_path, said.append)
    path = tmp_path / "entry"
    store.write(path, b"content")
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        assert store.read(path) is None
        assert not path.exists()
    assert len(said) == len(whole)


def test_a_store_looks_once_in_each_folder_for_what_killed_writers_left(tmp_path, monkeypatch):
    looked, store = [], Store(tmp_path, pytest.fail)
    monkeypatch.setattr(files, "remove_leftovers", looked.append)
    for name in ("ab/one", "ab/two", "cd/three"):
        store.write(tmp_path / name, b"content")
    assert len(looked) == 2


def test_a_store_that_cannot_be_written_does_not_end_the_run(tmp_path, made):
    said: list[str] = []
    (tmp_path / "file").write_text("")
    assert compare(["pie"], 1, Store(tmp_path / "file", said.append)).failures == []
    assert said


def test_every_table_says_of_which_run_it_is(tmp_path):
    sets = SHORT | {"links.bottleneck.rate": "3mbit", "record.packets": True}
    out = tmp_path / "out"
    sojourn.compare("dumbbell-cubic", ["taildrop", "pie@linux:target=5ms"], 2, sets=sets, out=out)
    files = sorted(out.rglob("*.parquet"))
    assert {path.name for path in files} >= {"packets.parquet", "summary.parquet"}
    digests = set()
    for path in files:
        row = parquet.ParquetFile(path).read().to_pylist()[0]
        assert [name for name in row if name in LABELS] == LABELS
        assert (row["set.links.bottleneck.rate"], row["engine"]) == ("3mbit", "sim")
        assert f"replica={row['seed']}" in str(path)
        if "contender=pie" in str(path):
            assert (row["aqm"], row["dialect"]) == ("pie@linux:target=5ms", "linux")
        else:
            assert row["aqm"] == "taildrop"
        digests.add(row["scenario_digest"])
    assert len(digests) == 1


def test_the_runs_are_one_data_set_in_hives_layout(tmp_path):
    out = tmp_path / "out"
    compare(["taildrop", "pie:target=5ms"], 2, None, out=out)
    files = sorted(map(str, out.rglob("summary.parquet")))
    table = pyarrow.dataset.dataset(
        files, partitioning="hive", partition_base_dir=str(out / "runs")
    ).to_table()
    runs = set(zip(table["contender"].to_pylist(), table["replica"].to_pylist(), strict=True))
    assert runs == {(aqm, seed) for aqm in ("taildrop", "pie:target=5ms") for seed in (1, 2)}


def test_runs_from_the_store_are_saved_and_reported_in_the_same_bytes(tmp_path, store, made):
    records = {f"record.{name}": True for name in ("packets", "signals", "flows")}
    sets = {"duration": "3s", "warmup": "1s"} | records
    pages = []
    for name in ("made", "kept"):
        given = {"sets": sets, "store": store, "out": tmp_path / name, "jobs": 1}
        compared = sojourn.compare("traffic-mix", ["pie"], 1, **given)
        pages.append(report.page(compared, {}))
    assert len(made) == 1
    again = sojourn.compare("traffic-mix", ["pie"], 1, sets=sets, store=None)
    assert pages[0] == pages[1] == report.page(again, {})
    ours, theirs = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "made", tmp_path / "kept")
    )
    assert {path.stem for path in ours} >= {"packets", "signals", "transfers", "manifest"}
    assert [path for path in ours if ours[path] != theirs.pop(path)] == []
    assert theirs == {}


def test_a_saved_table_is_read_by_other_programs_with_its_labels(tmp_path):
    sets = {"duration": "1s", "warmup": "0s", "record.packets": True}
    result = sojourn.run("dumbbell-reno", sets=sets, store=None)
    result.save(tmp_path)
    read = parquet.read_table(tmp_path / "packets.parquet")
    own = read.select(result.packets.column_names)
    assert own.to_pylist() == result.packets.to_pylist()
    labels = [name for name in read.column_names if name not in result.packets.column_names]
    assert labels[:6] == ["scenario", "scenario_digest", "engine", "aqm", "dialect", "seed"]
    first = read.slice(0, 1).to_pylist()[0]
    assert (first["scenario"], first["engine"], first["seed"]) == ("dumbbell-reno", "sim", 1)
    assert first["set.duration"] == "1s"
    assert read.schema.field("seed").type == pa.uint64()


def test_runs_of_another_plan_are_removed_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    compare(["taildrop", "codel", "pie"], 3, None, out=out)
    (out / "runs" / "contender=codel" / "replica=3" / "notes.txt").write_text("mine")
    compare(["taildrop", "pie"], 2, None, out=out)
    there = {str(path.parent.relative_to(out / "runs")) for path in out.rglob("manifest.json")}
    assert there == {
        f"contender={aqm}/replica={seed}" for aqm in ("taildrop", "pie") for seed in (1, 2)
    }
    kept = [path.name for path in (out / "runs" / "contender=codel").rglob("*") if path.is_file()]
    assert kept == ["notes.txt"]


def test_new_runs_do_not_read_back_under_the_report_of_earlier_ones(tmp_path):
    sets = {"duration": "300ms", "warmup": "0s"}
    plan = {"seeds": 1, "store": None, "jobs": 1, "out": tmp_path}
    sojourn.compare("dumbbell-cubic", ["taildrop"], sets=sets, **plan).save(tmp_path, formats=[])
    assert sojourn.Comparison.open(tmp_path).aqms == ["taildrop"]
    sojourn.compare("dumbbell-cubic", ["taildrop"], sets=sets | {"duration": "400ms"}, **plan)
    with pytest.raises(InputError):
        sojourn.Comparison.open(tmp_path)


@pytest.mark.parametrize("name", ["manifest.json", "summary.parquet"])
def test_a_damaged_file_of_a_result_is_refused_in_one_sentence(tmp_path, name):
    sojourn.run("dumbbell-cubic", sets=SHORT, out=tmp_path)
    (tmp_path / name).write_bytes(b"{")
    with pytest.raises(InputError, match=f"{name}.* is damaged"):
        _ = sojourn.Result.open(tmp_path).summary
