"""The tables of a study: typed axes in SI units, plain names; the lines of the docs and results."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sojourn
from sojourn.cli import main
from sojourn.study.tables import metric_columns, value_columns

DELAY, USED = "queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"
STUDY = {
    "name": "typed", "scenario": "dumbbell-reno", "metrics": [DELAY, USED], "seeds": 2,
    "set": {"duration": "1s", "warmup": "0s", "links.bottleneck.delay": "1ms"},
    "axes": [
        {"name": "aqm", "key": "links.bottleneck.queue", "values": ["codel", "pie"]},
        {"name": "rtt", "key": "flows.bulk.rtt", "values": ["9.5ms", "49.1345ms", "100ms", "0.2s"]},
        {"name": "rate", "key": "links.bottleneck.rate", "values": ["2mbit"]},
        {"name": "flows", "key": "flows.bulk.count", "values": [1]},
    ],
}  # fmt: skip
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "studies.md"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = tmp_path_factory.mktemp("tables") / "out" / "sweep"
    study = sojourn.study.parse(STUDY)
    return sojourn.study.run_study(study, store, executor=ThreadPoolExecutor(2))


def test_axes_with_a_unit_are_numbers_in_si_units_whose_column_names_it(results):
    table = results.table("runs")
    assert table.column_names == [
        "point", "aqm", "rtt_s", "rate_bps", "flows", "seed", "run", "delay_p95_s", "utilisation",
    ]  # fmt: skip
    assert {name: str(table.schema.field(name).type) for name in table.column_names[1:5]} == {
        "aqm": "string", "rtt_s": "double", "rate_bps": "double", "flows": "int64",
    }  # fmt: skip
    assert table["rtt_s"].to_pylist()[:8:2] == pytest.approx([0.0095, 0.0491345, 0.1, 0.2])
    assert set(table["rate_bps"].to_pylist()) == {2e6}


def test_points_have_their_intervals_and_values_all_numbers(results):
    points = results.table("points").to_pylist()
    assert [row["point"] for row in points] == list(range(8))
    for row, expected in zip(points, results.estimates(), strict=True):
        assert row["seeds"] == 2 and row["rtt_s"] > 0
        found = expected.estimates[DELAY]
        ends = (row["delay_p95_s_low"], row["delay_p95_s"], row["delay_p95_s_high"])
        assert ends == (found.low, found.mean, found.high)
    values = results.table("values")
    assert values.column_names[-5:] == ["scope", "name", "metric", "value", "unit"]
    run = results.points[3].address(2)
    alone = sojourn.run(
        "dumbbell-reno", seed=2, store=None, aqms="codel",
        sets={**STUDY["set"], "flows.bulk.rtt": "0.2s", "links.bottleneck.rate": "2mbit",
              "flows.bulk.count": 1},
    )  # fmt: skip
    rows = [row for row in values.to_pylist() if row["run"] == run]
    found = {(row["scope"], row["name"], row["metric"]): row["value"] for row in rows}
    assert found == {row[:3]: row[3] for row in alone.summary_rows}
    assert {(row["rtt_s"], row["aqm"], row["seed"]) for row in rows} == {(0.2, "codel", 2)}


def test_values_that_mix_kinds_are_texts_and_a_plain_zero_has_every_unit():
    rows = [{"a": "100p", "b": 0, "c": 1, "d": True}, {"a": "1MB", "b": "5ms", "c": 2.5}]
    found = {name: column.to_pylist() for name, column in value_columns("abcd", rows).items()}
    assert found == {"a": ["100p", "1MB"], "b_s": [0.0, 0.005], "c": [1.0, 2.5], "d": [True, None]}
    assert list(value_columns(["target_s"], [{"target_s": "5ms"}])) == ["target_s"]


def test_metrics_of_one_name_have_their_link_or_class_before_it():
    units = dict.fromkeys(["queue/up/delay_p95", "queue/down/delay_p95", "class/x/owd_p95"], "s")
    found = metric_columns([*units, "class/flows/jain", "queue/flows/jain"], units, ["flows"])
    assert list(found.values()) == [
        "up_delay_p95_s", "down_delay_p95_s", "owd_p95_s", "class_flows_jain", "queue_flows_jain",
    ]  # fmt: skip


def test_the_lines_of_the_docs_give_the_numbers_of_the_runs(results, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(Path(results.store.folder.address).parents[1])
    (block,) = re.findall(r"^import duckdb\n\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    queries = re.findall(r'"""(.*?)"""', block, re.S)
    short, used = (duckdb.sql(query).fetchall() for query in queries)
    rows = results.to_arrow().to_pylist()
    # As texts, '9.5ms' and '100ms' would not be below and above '50ms'.
    below = [row for row in rows if row["rtt_s"] < 0.05]
    assert {row["rtt_s"] for row in below} == {0.0095, 0.0491345}
    for found, kept, column in ((short, below, "delay_p95_s"), (used, rows, "utilisation")):
        expected = {}
        for row in kept:
            expected.setdefault(row["aqm"], []).append(row[column])
        assert [aqm for aqm, _ in found] == ["codel", "pie"]
        for aqm, value in found:
            middle = sorted(expected[aqm])
            mean = sum(middle) / len(middle)
            median = (middle[len(middle) // 2 - 1] + middle[len(middle) // 2]) / 2
            assert value == pytest.approx(median if kept is below else mean)


def test_export_writes_the_table_that_is_named(results, tmp_path, capsys):
    store = str(results.store.folder.address)
    for name, rows in (("runs", 16), ("points", 8)):
        file = tmp_path / f"{name}.csv"
        assert main(["study", "export", store, str(file), "--table", name]) == 0
        assert len(file.read_text().splitlines()) == rows + 1
    assert "16 rows, 9 columns" in capsys.readouterr().err


def test_where_leaves_the_points_that_meet_all_axes_with_their_index(results, tmp_path, capsys):
    store, file = str(results.store.folder.address), tmp_path / "some.csv"
    for aqm in ("pie", "codel"):
        asked = ["--where", "rtt=<= 0.1s", "--where", "rtt=0.2s", "--where", f"aqm={aqm}"]
        for table in ("runs", "points", "values"):
            assert main(["study", "export", store, str(file), "--table", table, *asked]) == 0
            rows = [line.split(",")[:2] for line in file.read_text().splitlines()[1:]]
            every = results.table(table).to_pylist()
            wanted = [row["point"] for row in every if row["aqm"] == aqm]
            assert [(int(point), name.strip('"')) for point, name in rows] == [
                (point, aqm) for point in wanted
            ]
    some = results.where({"rtt": "< 50ms", "flows": 1})
    assert [each.point.values["rtt"] for each in some.points[:]] == ["9.5ms", "49.1345ms"] * 2
    assert some.status().wanted == 8
    for given, message in (
        ("rt=1s", "unknown axis `rt`; did you mean `rtt`"),
        ("rtt=3s", "the axis `rtt` has no value `3s`"),
        ("rtt=> 3s", "none of 8 points meets it"),
        ("rtt", "write AXIS=VALUE"),
    ):
        assert main(["study", "export", store, str(file), "--where", given]) == 2
        assert message in capsys.readouterr().err


def test_a_store_whose_study_has_not_ended_has_no_table_of_its_runs(tmp_path):
    study = sojourn.study.parse(STUDY)
    sojourn.study.run_study(study, tmp_path, executor=ThreadPoolExecutor(2))
    assert (tmp_path / "runs.parquet").is_file()
    from sojourn.study.running import parse_part

    sojourn.study.run_study(study, tmp_path, part=parse_part("1/2"), executor=ThreadPoolExecutor(2))
    assert not (tmp_path / "runs.parquet").exists()
