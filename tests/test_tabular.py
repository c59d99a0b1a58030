"""Every result as Arrow, pandas and polars."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pytest

import sojourn
from sojourn import tabular

SETS = {"duration": "1s", "warmup": "0s"}


def study(store):
    axes = [{"name": "rtt", "key": "flows.bulk.rtt", "values": ["100ms", "150ms"]}]
    found = sojourn.study.parse(
        {"name": "s", "scenario": "dumbbell-reno", "set": SETS, "axes": axes, "seeds": 1,
         "metrics": ["queue/bottleneck/delay_p95"]}
    )  # fmt: skip
    return sojourn.study.run_study(found, store, executor=ThreadPoolExecutor(1))


def tune(store):
    from sojourn.search.tune_file import parse_tune

    pytest.importorskip("optuna")
    search = parse_tune(
        {"name": "t", "aqm": "pie", "goal": "minimise delay_p95", "trials": 2, "seeds": 2,
         "held_out_seeds": 2,
         "parameters": [{"name": "target", "from": "5ms", "to": "40ms", "scale": "log"}],
         "scenarios": [{"scenario": "dumbbell-reno", "set": SETS}],
         "held_out": [{"scenario": "dumbbell-cubic", "set": SETS}]}
    )  # fmt: skip
    return sojourn.search.tune(search, str(store), executor=ThreadPoolExecutor(1))


RESULTS = {
    "run": (lambda _: sojourn.run("dumbbell-reno", sets=SETS), "metric"),
    "compare": (lambda _: sojourn.compare("dumbbell-reno", "codel,pie", 2, sets=SETS), "aqm"),
    "diff": (lambda _: sojourn.diff("codel", "pie", "dumbbell-reno", sets=SETS), "what"),
    "study": (study, "rtt_s"),
    "tune": (tune, "target_s"),
    "stability": (
        lambda _: sojourn.stability.analyse("pie", rtt_s=[0.01, 0.1], rate_bps=1e7, flows=4),
        "phase_margin_deg",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_the_same_table_in_arrow_pandas_and_polars(name, tmp_path):
    make, column = RESULTS[name]
    result = make(tmp_path)
    table = result.to_arrow()
    assert isinstance(table, pyarrow.Table) and table.num_rows
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    frames = (result.to_pandas(), result.to_polars())
    for frame in frames:
        assert list(frame.columns) == table.column_names
        assert len(frame) == table.num_rows
        assert list(frame[column]) == table[column].to_pylist()


def test_a_comparison_has_the_numbers_of_its_runs():
    compared = sojourn.compare("dumbbell-reno", "codel,pie", 2, sets=SETS)
    rows = compared.to_arrow().to_pylist()
    row = next(r for r in rows if (r["aqm"], r["seed"], r["metric"]) == ("pie", 2, "delay_p95"))
    assert row["value"] == compared.of("pie")[1].summary["queue/bottleneck/delay_p95"]
    assert (row["scope"], row["name"], row["unit"]) == ("queue", "bottleneck", "s")
    assert len(rows) == 2 * 2 * len(compared.metrics)


def test_an_agreement_and_a_reproduction_have_their_cells_and_values():
    from sojourn.agreement.cells import Agreement, CellAgreement, cells_table
    from sojourn.reproduce import Reproduction

    cells = [CellAgreement("s", "delay_p50", (0.0115, 0.010), noise=float("nan"))]
    (row,) = cells_table(cells, ("sim", "linux")).to_pylist()
    assert row["gap"] == pytest.approx(0.15)
    assert (row["engine"], row["reference"], row["noise"]) == ("sim", "linux", None)
    assert not row["agrees"]
    for kind in (Agreement, Reproduction):
        assert {"to_arrow", "to_pandas", "to_polars"} <= set(dir(kind))


def test_tables_of_a_result_are_named(tmp_path):
    result = sojourn.run("dumbbell-reno", sets=SETS)
    assert result.to_arrow("transfers").equals(result.transfers)
    assert result.to_arrow("states").num_rows == result.states.num_rows > 0
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(result.to_pandas("histograms"), pandas.DataFrame)
    assert isinstance(result.to_polars("histograms"), polars.DataFrame)
    with pytest.raises(KeyError):
        result.to_arrow("nonsense")


def test_columns_of_a_table_have_the_same_types_with_rows_as_without():
    from sojourn.running.result import TABLES

    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    record = {f"record.{name}": True for name in ("packets", "signals", "flows")}
    few = sojourn.run("dumbbell-reno", sets=SETS | {"record.states": False})
    full = sojourn.run("dumbbell-reno", sets=SETS | record | {"record.bins": "100ms"})
    assert len(full.columns("packets")["seq"]) and not few.columns("packets")["seq"]
    for name in TABLES:
        assert few.to_arrow(name).schema.equals(full.to_arrow(name).schema)
        assert few.to_polars(name).schema == full.to_polars(name).schema
        assert dict(few.to_pandas(name).dtypes) == dict(full.to_pandas(name).dtypes), name
    assert few.to_pandas("packets").dtypes["arrived_ns"] == "int64"


def test_an_unknown_number_of_a_summary_is_refused_with_those_that_are_meant():
    summary = sojourn.run("dumbbell-reno", sets=SETS).summary
    with pytest.raises(KeyError, match="`delay_p95` in this run; it has queue/bottleneck/delay_p9"):
        summary["delay_p95"]
    with pytest.raises(KeyError, match=r"did you mean `queue/bottleneck/delay_p95`.*tables\.md"):
        summary["queue/bottleneck/dela_p95"]
    assert summary.get("delay_p95") is None and "delay_p95" not in summary


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_package_is_named_with_how_to_install_it(name, monkeypatch):
    def absent(wanted):
        raise ImportError(wanted)

    monkeypatch.setattr(tabular, "import_module", absent)
    make = {"pandas": tabular.as_pandas, "polars": tabular.as_polars}[name]
    with pytest.raises(ImportError, match=f"^to_{name}: {name} is not installed; pip install"):
        make(pyarrow.table({}))


WITHOUT_ARROW = """
import sys
sys.modules["pyarrow"] = sys.modules["scipy"] = None
import sojourn

sets = {"duration": "1s", "warmup": "0s", "record.packets": True}
result = sojourn.run("dumbbell-reno", sets=sets)
result.save(sys.argv[1])
again = sojourn.Result.open(sys.argv[1])
for name in ("packets", "summary", "signals"):
    columns = result.columns(name)
    frames = result.to_polars(name), result.to_pandas(name), again.to_polars(name)
    assert all(list(frame.columns) == list(columns) for frame in frames), name
    assert frames[0].to_dict(as_series=False) == frames[2].to_dict(as_series=False)
    assert columns == again.columns(name) and len(result.rows(name)) == len(frames[1])
compared = sojourn.compare("dumbbell-reno", "codel,pie", 2, sets=sets)
assert len(compared.to_pandas()) == len(compared.to_polars())
assert compared.to_polars()["seed"].to_list() == list(compared.to_pandas()["seed"])
try:
    result.to_arrow()
except ImportError as error:
    assert "pip install 'sojourn[arrow]'" in str(error)
else:
    raise AssertionError
"""


@pytest.mark.slow
def test_without_pyarrow_and_scipy_results_are_saved_read_and_shown(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    subprocess.run([sys.executable, "-c", WITHOUT_ARROW, tmp_path / "out"], check=True)


def test_the_rows_of_a_result_are_those_of_arrow():
    sets = {"duration": "4s", "warmup": "0s", "record.packets": True, "record.signals": True}
    result = sojourn.run("traffic-mix", aqms=["pie"], sets=sets)
    for name in ("packets", "signals", "states", "summary", "histograms", "bins"):
        expected = result.table(name)
        assert repr(result.columns(name)) == repr(expected.to_pydict())  # NaN is not NaN
        assert repr(result.rows(name, 3, 2)) == repr(expected.slice(3, 2).to_pylist())
    assert result.signals.num_rows
