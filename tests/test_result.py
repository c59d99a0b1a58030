"""Results: tables in memory and on disk."""

import math

import pyarrow as pa
import pytest

import sojourn
from sojourn import _core
from sojourn.errors import Cancelled, InputError
from sojourn.plots.data import distribution
from sojourn.running.result import TABLES, Result

SHORT = {"duration": "1s", "warmup": "0s"}
RECORD = {
    "record.packets": True,
    "record.signals": True,
    "record.flows": True,
    "record.bins": "1s",
    "flows.0.cc": "bbr",  # a control with state variables, so that every table has rows
    "duration": "3s",
    "warmup": "0s",
}


@pytest.fixture(scope="module")
def result():
    return sojourn.run("traffic-mix", sets=RECORD)


def test_every_table_is_arrow_with_the_columns_of_the_contract(result):
    columns = {
        "packets": ["queue", "flow", "seq", "bytes", "arrived_ns", "left_ns", "fate", "stage",
                    "cause", "marked", "mark_stage", "mark_cause", "ecn_in"],
        "signals": ["queue", "t_ns", "flow", "seq", "bytes", "sojourn_ns", "signal", "stage",
                    "cause", "state"],
        "flows": ["flow", "class", "t_ns", "sent_bytes", "delivered_bytes", "retransmitted_bytes",
                  "inflight_bytes", "cwnd_bytes", "srtt_ns", "ce_bytes"],
        "states": ["queue", "t_ns", "var", "value"],
        "flow_states": ["flow", "t_ns", "var", "value"],
        "bins": ["scope", "name", "metric", "t_ns", "value", "unit"],
        "transfers": ["flow", "class", "start_ns", "bytes", "completion_ns"],
        "streams": ["flow", "class", "stream", "start_ns", "bytes", "duration_ns", "complete",
                    "goodput_bps"],
        "programs": ["host", "command", "start_ns", "end_ns", "exit_code", "signal", "stdout",
                     "stderr"],
        "program_flows": ["flow", "class", "protocol", "server", "server_port", "client",
                          "client_port", "first_ns", "last_ns", "to_client_bytes",
                          "to_server_bytes", "cc"],
        "summary": ["scope", "name", "metric", "value", "unit"],
        "histograms": ["scope", "name", "metric", "lower_ns", "upper_ns", "count"],
        "drop_delays": ["queue", "stage", "cause", "lower_ns", "upper_ns", "count"],
    }  # fmt: skip
    for name in TABLES:
        table = result.table(name)
        assert isinstance(table, pa.Table)
        assert table.column_names == columns[name]


def test_repeated_words_are_dictionaries(result):
    for column in ("queue", "flow", "fate", "cause"):
        assert pa.types.is_dictionary(result.packets.schema.field(column).type)


def test_packets_agree_with_the_summary(result):
    fates = result.packets["fate"].cast("string").to_pylist()
    summary = result.summary
    assert len(fates) == summary["queue/bottleneck/arrived"]
    assert fates.count("sent") == summary["queue/bottleneck/sent"]
    dropped = fates.count("dropped") / len(fates)
    assert dropped == pytest.approx(summary["queue/bottleneck/drop_rate"])


def test_histograms_agree_with_the_summary(result):
    rows = [row for row in result.histograms.to_pylist() if row["metric"] == "delay"]
    assert sum(row["count"] for row in rows) == result.summary["queue/bottleneck/sent"]
    edges = [row[edge] for row in rows for edge in ("lower_ns", "upper_ns")]
    assert edges == sorted(edges)
    assert edges[-1] == round(result.summary["queue/bottleneck/delay_max"] * 1e9)


@pytest.mark.parametrize("key", ["queue/bottleneck/delay", "class/bulk/rtt"])
def test_quantiles_of_the_table_are_those_of_the_summary(key):
    run = sojourn.run("dumbbell-reno", sets={**SHORT, "record.latency": True})
    found = distribution([run], *key.split("/"))
    for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
        assert found.quantile_s(q) == pytest.approx(run.summary[f"{key}_{name}"], rel=1e-12)


def test_drops_have_their_own_distributions():
    run = sojourn.run("dumbbell-reno", sets={**SHORT, "links.bottleneck.queue": "codel"})
    rows = run.drop_delays.to_pylist()
    assert {(r["queue"], r["stage"], r["cause"]) for r in rows} == {
        ("bottleneck", "dequeue", "deterministic")
    }
    # Those dropped on arrival have not waited.
    summary = run.summary
    share = summary["queue/bottleneck/drop_rate_deterministic"]
    assert summary["queue/bottleneck/drop_rate"] > share > 0
    drops = round(summary["queue/bottleneck/arrived"] * share)
    assert sum(r["count"] for r in rows) == drops
    assert all(0.005e9 < r["lower_ns"] <= r["upper_ns"] for r in rows)


def test_a_table_can_be_read_twice_and_outlives_the_run():
    table = sojourn.run("dumbbell-reno", sets=SHORT)._run.table("states")
    first, second = pa.table(table), pa.table(table)
    assert repr(first.to_pydict()) == repr(second.to_pydict())
    assert len(table) == first.num_rows > 0


@pytest.mark.slow
def test_a_saved_result_reads_back(result, tmp_path):
    names = result.save(tmp_path / "deep" / "er")
    back = Result.open(tmp_path / "deep" / "er")
    assert names[-1] == "manifest.json"
    assert back.digest == result.digest
    assert back.summary == result.summary
    assert back.manifest == result.manifest
    for name in TABLES:
        assert back.table(name).schema == result.table(name).schema
        assert repr(back.table(name).to_pydict()) == repr(result.table(name).to_pydict())


def everything(folder):
    back = Result.open(folder)
    return [back.manifest, *(back.table(name).num_rows for name in TABLES)]


@pytest.mark.parametrize("name", ["manifest.json", "summary.parquet", "histograms.parquet"])
def test_any_bit_that_has_changed_in_a_saved_result_is_found(tmp_path, name):
    sojourn.run("dumbbell-reno", sets=SHORT).save(tmp_path)
    whole = (tmp_path / name).read_bytes()
    everything(tmp_path)
    for place in range(0, len(whole), max(1, len(whole) // 40)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        (tmp_path / name).write_bytes(damaged)
        try:
            found = everything(tmp_path)
        except InputError as error:
            assert "damaged" in str(error) or "missing" in str(error)
        else:  # a blank between two words of the manifest
            (tmp_path / name).write_bytes(whole)
            assert name == "manifest.json" and found == everything(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "empty", "missing"])
def test_a_table_that_is_cut_or_missing_is_found(tmp_path, damage):
    sojourn.run("dumbbell-reno", sets=SHORT).save(tmp_path)
    file = tmp_path / "summary.parquet"
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: 1000 if damage == "cut" else 0])
    with pytest.raises(InputError, match=r"summary\.parquet is (damaged|missing); run it again"):
        Result.open(tmp_path).summary  # noqa: B018


def test_a_save_ends_when_its_series_is_cancelled_and_leaves_the_earlier_result(result, tmp_path):
    result.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    cancel = _core.Cancel()
    cancel.cancel()
    run = _core.run(sojourn.load("traffic-mix", SHORT))
    with pytest.raises(Cancelled):
        Result(run, cancel=cancel).save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_table_without_rows_has_its_columns(tmp_path):
    result = sojourn.run("dumbbell-reno", sets=SHORT)
    result.save(tmp_path / "run")
    for one in (result, Result.open(tmp_path / "run")):
        assert one.packets.num_rows == 0
        assert "arrived_ns" in one.packets.column_names
        assert one.signals_with("drop_prob").num_rows == 0


def test_a_folder_without_manifest_is_not_a_result(tmp_path):
    with pytest.raises(InputError, match=r"lacks manifest\.json, so it is not a complete result"):
        Result.open(tmp_path)


def test_an_unknown_table_names_the_known_ones(result, tmp_path):
    with pytest.raises(KeyError, match="histograms"):
        result.table("drops")


def test_the_manifest_holds_every_default(result):
    manifest = result.manifest
    assert manifest["engine"] == "sim"
    assert manifest["versions"]["sojourn"] == sojourn.__version__
    transport = manifest["transports"][-1]  # the short files, with CUBIC
    assert (transport["ack_every"], transport["initial_window"]) == (2, 10)
    assert "beta=0.7001953125" in transport["cc"]


def test_a_jupyter_notebook_shows_the_summary(result):
    assert "delay_p95" in result._repr_html_()
    assert result.digest in repr(result)


def test_values_are_finite_where_packets_left(result):
    assert all(math.isfinite(value) for value in result.summary.values())
