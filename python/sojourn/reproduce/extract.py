"""Extracts of runs: small arrays that are kept instead of the whole result.

Eight thousand runs with all their tables would fill a disk; an item needs only a few columns.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.errors import RunFailed

if TYPE_CHECKING:
    from sojourn.running.result import Result

# Incremented whenever a function of this file keeps other data.
FORMAT = 2

Arrays = dict[str, Any]

# Codes of column `fate` of kept packets.
SENT, OVERFLOW, RANDOM, DETERMINISTIC, WAITING = range(5)
_CAUSES = {"overflow": OVERFLOW, "random": RANDOM, "deterministic": DETERMINISTIC}


def extract(result: Result, keep: tuple[str, ...]) -> Arrays:
    """The summary of a run and the extracts that an item needs.

    Args:
        result: result of one run.
        keep: names in `EXTRACTORS`.

    Returns:
        Arrays by name, ``part/column``; texts are arrays of unicode.
    """
    arrays = _summary(result)
    for name in keep:
        arrays |= {f"{name}/{column}": data for column, data in EXTRACTORS[name](result).items()}
    return arrays


def packed(result: Result, keep: tuple[str, ...]) -> bytes:
    """The kept arrays of a run as the content of an entry of the store.

    Raises:
        RunFailed: the run is not a valid experiment.
    """
    if result.invalid:
        raise RunFailed(f"not a valid experiment: {'; '.join(result.invalid)}")
    return pack(extract(result, keep))


def pack(arrays: Arrays) -> bytes:
    """Arrays as the content of an entry of the store."""
    buffer = io.BytesIO()
    save = np.savez_compressed if sum(a.nbytes for a in arrays.values()) > 50_000 else np.savez
    save(buffer, **arrays)
    return buffer.getvalue()


def unpack(content: bytes) -> Arrays:
    """The arrays that `pack` was given."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def packets_of(arrays: Arrays) -> int:
    """The number of packets through the queues of a stored run."""
    return int(arrays["summary/facts"][1])


def _summary(result: Result) -> Arrays:
    rows = result.summary
    return {
        "summary/keys": np.array(list(rows), dtype=np.str_),
        "summary/values": np.array(list(rows.values()), dtype=np.float64),
        "summary/facts": np.array([result.digest, str(result.manifest["packets"])]),
    }


def _delays(result: Result) -> Arrays:
    """Every distribution of the run: per ``scope/name/metric`` edges (ns) and counts."""
    table = result.histograms
    columns = [table[name].cast("string").to_pylist() for name in ("scope", "name", "metric")]
    keys = np.array(["/".join(parts) for parts in zip(*columns, strict=True)], dtype=np.str_)
    arrays: Arrays = {}
    for key in np.unique(keys):
        here = keys == key
        for column in ("lower_ns", "upper_ns", "count"):
            arrays[f"{key}/{column}"] = table[column].to_numpy()[here].astype(np.int64)
    return arrays


def _states(result: Result) -> Arrays:
    """Samples of the first queue: times (s), names of the variables, values (times x names)."""
    table = result.states
    queue = table["queue"].combine_chunks()
    first = np.asarray(queue.indices) == 0
    var = table["var"].combine_chunks()
    codes = np.asarray(var.indices)[first]
    t_ns, values = table["t_ns"].to_numpy()[first], table["value"].to_numpy()[first]
    used = np.unique(codes)
    names = np.array(var.dictionary.to_pylist())[used]
    of_var = [codes == code for code in used]
    return {
        "t_s": t_ns[of_var[0]] * 1e-9,
        "names": names,
        "values": np.stack([values[here] for here in of_var], axis=1),
    }


def _goodput(result: Result) -> Arrays:
    """Delivered payload per flow: times (s), class of each flow, bytes so far (times x flows)."""
    table = result.flows
    flow = np.asarray(table["flow"].combine_chunks().indices)
    t_ns, inverse = np.unique(table["t_ns"].to_numpy(), return_inverse=True)
    flows, columns = np.unique(flow, return_inverse=True)
    delivered = np.zeros((len(t_ns), len(flows)))
    delivered[inverse, columns] = table["delivered_bytes"].to_numpy()
    classes = table["class"].combine_chunks()
    class_of = np.zeros(len(flows), dtype=np.int64)
    class_of[columns] = np.asarray(classes.indices)
    names = np.array(classes.dictionary.to_pylist(), dtype=np.str_)
    return {"t_s": t_ns * 1e-9, "classes": names[class_of], "delivered_bytes": delivered}


def _transfers(result: Result) -> Arrays:
    """Finished transfers: class, size in bytes, completion in seconds."""
    table = result.transfers
    return {
        "class": np.array(table["class"].cast("string").to_pylist(), dtype=np.str_),
        "bytes": table["bytes"].to_numpy().astype(np.int64),
        "completion_s": table["completion_ns"].to_numpy() * 1e-9,
    }


def _packets(result: Result) -> Arrays:
    """Every packet at the first queue by time of its fate: times (ns), bytes, flow, fate code."""
    table = result.packets
    first = np.asarray(table["queue"].combine_chunks().indices) == 0
    fates = table["fate"].cast("string").to_numpy(zero_copy_only=False)[first]
    causes = table["cause"].cast("string").to_numpy(zero_copy_only=False)[first]
    codes = np.where(fates == "waiting", WAITING, SENT)
    for word, code in _CAUSES.items():
        codes[(fates == "dropped") & (causes == word)] = code
    left = table["left_ns"].fill_null(0).to_numpy()[first]
    return {
        "arrived_ns": table["arrived_ns"].to_numpy()[first].astype(np.int64),
        "left_ns": left.astype(np.int64),
        "bytes": table["bytes"].to_numpy()[first].astype(np.int32),
        "flow": np.asarray(table["flow"].combine_chunks().indices)[first].astype(np.int32),
        "fate": codes.astype(np.int8),
    }


_ARRIVAL_BIN_NS = 100_000_000


def _arrivals(result: Result) -> Arrays:
    """Bytes of each group's packets that left the first queue, laid out as by `_goodput`.

    Only the first copy of a packet counts. For flows with one connection this equals what has
    arrived, in order or not, except for the effects of the wire behind the queue.
    """
    table = result.packets
    sent = np.asarray(table["queue"].combine_chunks().indices) == 0
    sent &= table["fate"].cast("string").to_numpy(zero_copy_only=False) == "sent"
    flows = table["flow"].combine_chunks()
    flow, seq = np.asarray(flows.indices)[sent].astype(np.int64), table["seq"].to_numpy()[sent]
    left_ns = table["left_ns"].fill_null(0).to_numpy()[sent].astype(np.int64)
    order = np.lexsort((left_ns, seq, flow))
    again = (np.diff(flow[order]) == 0) & (np.diff(seq[order].astype(np.int64)) == 0)
    first = order[np.concatenate([[True], ~again])] if order.size else order
    names = [str(name).rpartition(".")[0] or str(name) for name in flows.dictionary.to_pylist()]
    groups, group_of = np.unique(np.array(names, dtype=np.str_), return_inverse=True)
    bins = left_ns[first] // _ARRIVAL_BIN_NS
    arrived = np.zeros((int(bins.max(initial=0)) + 1, len(groups)))
    np.add.at(arrived, (bins, group_of[flow[first]]), table["bytes"].to_numpy()[sent][first])
    return {
        "t_s": np.arange(1, len(arrived) + 1) * (_ARRIVAL_BIN_NS * 1e-9),
        "classes": groups,
        "delivered_bytes": arrived.cumsum(axis=0),
    }


EXTRACTORS: dict[str, Callable[[Result], Arrays]] = {
    "delays": _delays,
    "states": _states,
    "goodput": _goodput,
    "transfers": _transfers,
    "packets": _packets,
    "arrivals": _arrivals,
}
# The tables that a scenario must record for each extract.
RECORDS = {"states": "states", "goodput": "flows", "packets": "packets", "arrivals": "packets"}
