"""The arrays that `reproduce` keeps of a run, computed by hand from tables of a few rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sojourn.reproduce.extract import (
    DETERMINISTIC,
    EXTRACTORS,
    OVERFLOW,
    RANDOM,
    RECORDS,
    SENT,
    WAITING,
    extract,
)
from sojourn.reproduce.pool import Pool
from sojourn.running.result import Result

SUMMARY = [
    ("queue", "bottleneck", "utilisation", 0.75, "1"),
    ("run", "", "events", 1234.0, "events"),
]


def coded(*texts: str | None) -> pa.Array:
    return pa.array(texts, pa.string()).dictionary_encode()


def u64(*values: int | None) -> pa.Array:
    return pa.array(values, pa.uint64())


TABLES = {
    # Rows of two distributions interleaved; edges as the core writes them, in nanoseconds.
    "histograms": pa.table(
        {
            "scope": coded("queue", "class", "queue", "class"),
            "name": coded("bottleneck", "web", "bottleneck", "web"),
            "metric": coded("delay", "completion", "delay", "completion"),
            "lower_ns": u64(1_000, 6_999_000, 2_000, 9_000_001),
            "upper_ns": u64(1_001, 7_000_000, 2_003, 9_000_001),
            "count": u64(5, 1, 3, 2),
        }
    ),
    # The first queue is the first in the table; samples of the second queue are not kept.
    "states": pa.table(
        {
            "queue": coded("bottleneck", "bottleneck", "uplink", "bottleneck", "bottleneck"),
            "t_ns": u64(100_000_000, 100_000_000, 100_000_000, 200_000_000, 200_000_000),
            "var": coded("rate", "drops", "rate", "rate", "drops"),
            "value": pa.array([8e6, 1.0, 5e5, 9e6, 2.0]),
        }
    ),
    # Two samples of three flows, the second sample in another order of flows.
    "flows": pa.table(
        {
            "flow": coded("a", "b", "c", "c", "a", "b"),
            "class": coded("bulk", "web", "bulk", "bulk", "bulk", "web"),
            "t_ns": u64(*[500_000_000] * 3, *[1_000_000_000] * 3),
            "delivered_bytes": u64(10, 20, 30, 300, 100, 200),
        }
    ),
    "transfers": pa.table(
        {
            "flow": coded("b", "b"),
            "class": coded("web", "chunks"),
            "start_ns": u64(0, 0),
            "bytes": u64(30_000, 1_500),
            "completion_ns": u64(250_000_000, 1_500_000_000),
        }
    ),
    # Every fate and cause at the first queue, and one packet elsewhere.
    "packets": pa.table(
        {
            "queue": coded("bottleneck", "bottleneck", "uplink", *["bottleneck"] * 3),
            "flow": coded("a", "b", "z", "a", "b", "c"),
            "seq": u64(3, 0, 0, 4, 1, 0),
            "arrived_ns": u64(1, 22, 333, 4_444, 55_555, 666_666),
            "left_ns": u64(1_001, 22, 999, 4_454, 55_655, None),
            "bytes": u64(1_500, 40, 7, 1_499, 1_498, 1_497),
            "fate": coded("sent", "dropped", "sent", "dropped", "dropped", "waiting"),
            "cause": coded(None, "overflow", None, "random", "deterministic", None),
        }
    ),
}


class TinyRun:
    digest = "00000000deadbeef"
    warnings: list[str] = []  # noqa: RUF012

    def table(self, name: str) -> pa.Table:
        return TABLES[name]

    def summary(self) -> list[tuple[str, str, str, float, str]]:
        return SUMMARY

    def manifest_json(self) -> str:
        return json.dumps({"packets": 77})

    def write(self, folder: str) -> list[str]:
        raise NotImplementedError(folder)


# Every kept array with its type, by extractor.
EXPECTED: dict[str, dict[str, tuple[Any, Any]]] = {
    "delays": {
        "queue/bottleneck/delay/lower_ns": ([1_000, 2_000], np.int64),
        "queue/bottleneck/delay/upper_ns": ([1_001, 2_003], np.int64),
        "queue/bottleneck/delay/count": ([5, 3], np.int64),
        "class/web/completion/lower_ns": ([6_999_000, 9_000_001], np.int64),
        "class/web/completion/upper_ns": ([7_000_000, 9_000_001], np.int64),
        "class/web/completion/count": ([1, 2], np.int64),
    },
    "states": {
        "t_s": ([0.1, 0.2], np.float64),
        "names": (["rate", "drops"], np.str_),
        "values": ([[8e6, 1.0], [9e6, 2.0]], np.float64),
    },
    "goodput": {
        "t_s": ([0.5, 1.0], np.float64),
        "classes": (["bulk", "web", "bulk"], np.str_),
        "delivered_bytes": ([[10, 20, 30], [100, 200, 300]], np.float64),
    },
    "transfers": {
        "class": (["web", "chunks"], np.str_),
        "bytes": ([30_000, 1_500], np.int64),
        "completion_s": ([0.25, 1.5], np.float64),
    },
    "packets": {
        "arrived_ns": ([1, 22, 4_444, 55_555, 666_666], np.int64),
        "left_ns": ([1_001, 22, 4_454, 55_655, 0], np.int64),
        "bytes": ([1_500, 40, 1_499, 1_498, 1_497], np.int32),
        "flow": ([0, 1, 0, 1, 3], np.int32),
        "fate": ([SENT, OVERFLOW, RANDOM, DETERMINISTIC, WAITING], np.int8),
    },
    "arrivals": {
        "t_s": ([0.1], np.float64),
        "classes": (["a", "b", "c", "z"], np.str_),
        "delivered_bytes": ([[1_500, 0, 0, 0]], np.float64),
    },
}


@pytest.fixture
def result() -> Result:
    return Result(TinyRun())


def test_every_extractor_has_its_expected_arrays_here() -> None:
    assert EXPECTED.keys() == EXTRACTORS.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_extractor_keeps_these_arrays_and_no_other(result: Result, name: str) -> None:
    arrays = extract(result, (name,))
    expected = {f"{name}/{column}": value for column, value in EXPECTED[name].items()}
    kept = {key for key in arrays if not key.startswith("summary/")}
    assert kept == expected.keys()
    for key, (values, kind) in expected.items():
        assert np.issubdtype(arrays[key].dtype, kind), key
        if kind is np.float64:
            np.testing.assert_allclose(arrays[key], values, rtol=1e-15, err_msg=key)
        else:
            np.testing.assert_array_equal(arrays[key], values, err_msg=key)


def test_the_summary_is_always_kept_with_digest_and_number_of_packets(result: Result) -> None:
    arrays = extract(result, ())
    assert set(arrays) == {"summary/keys", "summary/values", "summary/facts"}
    assert arrays["summary/keys"].tolist() == ["queue/bottleneck/utilisation", "run/events"]
    assert arrays["summary/values"].tolist() == [0.75, 1234.0]
    assert arrays["summary/facts"].tolist() == ["00000000deadbeef", "77"]


def test_several_extractors_keep_their_arrays_side_by_side(result: Result) -> None:
    arrays = extract(result, tuple(EXPECTED))
    count = sum(len(columns) for columns in EXPECTED.values())
    assert len(arrays) == 3 + count
    # Kept arrays survive a file without pickled objects.
    assert not any(array.dtype.hasobject for array in arrays.values())


def test_codes_of_fates_are_part_of_the_file_format() -> None:
    assert (SENT, OVERFLOW, RANDOM, DETERMINISTIC, WAITING) == (0, 1, 2, 3, 4)


def test_tables_that_are_not_recorded_by_default_are_asked_for() -> None:
    tables = {"states": "states", "goodput": "flows", "packets": "packets"}
    assert tables | {"arrivals": "packets"} == RECORDS


def test_an_arrival_counts_once_when_it_leaves_the_queue() -> None:
    sent = {
        "queue": coded(*["bottleneck"] * 5),
        "flow": coded("bulk.1", "bulk.2", "bulk.1", "bulk.1", "call"),
        "seq": u64(0, 0, 1, 0, 0),
        "left_ns": u64(50_000_000, 120_000_000, 130_000_000, 140_000_000, 320_000_000),
        "bytes": u64(1_500, 1_500, 1_000, 1_500, 218),
        "fate": coded(*["sent"] * 5),
    }

    class Sent(TinyRun):
        def table(self, name: str) -> pa.Table:
            return pa.table(sent) if name == "packets" else TABLES[name]

    pool = Pool([extract(Result(Sent()), ("arrivals",))], {})
    # The second copy of bulk.1's packet 0 does not count.
    (bulk,), (call,) = pool.arrivals_bps("bulk", 0.1), pool.arrivals_bps("call", 0.2)
    np.testing.assert_allclose(bulk, [120e3, 200e3, 0, 0])
    np.testing.assert_allclose(call, [0, 218 * 8 / 0.2])


def test_a_pool_reads_the_kept_arrays_in_seconds_and_bits(result: Result) -> None:
    pool = Pool([extract(result, tuple(EXPECTED))] * 2, {})
    assert pool.number("queue/bottleneck/utilisation") == 0.75
    assert pool.sum("run/events") == 2468.0
    delays = pool.distribution()
    np.testing.assert_allclose(delays.upper_s, [1.001e-6, 2.003e-6])
    assert delays.counts.tolist() == [10.0, 6.0]
    (t_s, drops), _ = pool.states("drops")
    assert (t_s.tolist(), drops.tolist()) == ([0.1, 0.2], [1.0, 2.0])
    assert pool.throughput_bps()[0][1].tolist() == [8e6, 9e6]
    assert pool.completions_s("web").tolist() == [0.25, 0.25]
    assert pool.completions_s("web", 1_500).tolist() == []
    assert pool.completions_s("chunks", 1_500).tolist() == [1.5, 1.5]
    (rates, _) = pool.goodput_bps("bulk", 0.5)
    assert rates.tolist() == [[160.0, 480.0], [1440.0, 4320.0]]
    assert pool.goodput_bps("bulk", 0.5, per="class")[1].tolist() == [[640.0], [5760.0]]
    packets = pool.packets()[0]
    np.testing.assert_allclose(packets.arrived_s, np.array([1, 22, 4_444, 55_555, 666_666]) * 1e-9)
    assert packets.is_sent.tolist() == [True, False, False, False, False]
    np.testing.assert_allclose(packets.delay_s[:4], [1e-6, 0.0, 1e-8, 1e-7], atol=1e-18)
    np.testing.assert_allclose(packets.lost_s(OVERFLOW, DETERMINISTIC), [22e-9, 55_655e-9])
    assert len(pool.seed(1).runs) == 1
