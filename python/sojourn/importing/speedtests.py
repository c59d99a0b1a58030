"""Results of speed tests: one rate for each direction and a round-trip time.

Sources: `speedtest --format=json` of Ookla, speedtest-cli 2.1, librespeed-cli 1.0, fast-cli 3,
ndt7-client-go 0.5, `networkQuality -c` of macOS, and the summary of @cloudflare/speedtest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.importing import units
from sojourn.importing.measured import Measurement, StepCurve

_LENGTH_S = 60.0
_PROGRESS = {"testStart", "ping", "download", "upload", "log"}
"""Lines of Ookla's JSON before its result, by their `type`."""

_Place = tuple[str, ...]


@dataclass(frozen=True)
class _Kind:
    name: str
    keys: frozenset[str]
    """Keys of the result and of the objects directly in it."""
    down: _Place
    up: _Place
    bps: float
    """bit/s per unit of the rates, if the result does not name it."""
    rtt_ms: _Place


def _kind(name: str, keys: str, down: str, up: str, bps: float, rtt_ms: str) -> _Kind:
    places = (tuple(text.split(".")) for text in (down, up, rtt_ms))
    one, two, three = places
    return _Kind(name, frozenset(keys.split()), one, two, bps, three)


_KINDS = (
    _kind("Ookla's speedtest", "download upload bandwidth", "download.bandwidth",
          "upload.bandwidth", 8.0, "ping.latency"),
    _kind("librespeed-cli", "download upload ping jitter bytes_sent", "download", "upload", 1e6,
          "ping"),
    _kind("speedtest-cli", "download upload ping bytes_sent", "download", "upload", 1.0, "ping"),
    _kind("fast-cli", "downloadSpeed latency", "downloadSpeed", "uploadSpeed", 1e6, "latency"),
    _kind("networkQuality", "dl_throughput ul_throughput", "dl_throughput", "ul_throughput", 1.0,
          "base_rtt"),
    _kind("ndt7", "Download Throughput", "Download.Throughput.Value", "Upload.Throughput.Value",
          1e6, "Download.Latency.Value"),
    _kind("ndt7", "Download MinRTT Unit", "Download.Value", "Upload.Value", 1e6, "MinRTT.Value"),
    _kind("Cloudflare's speed test", "download latency downLoadedLatency", "download", "upload",
          1.0, "latency"),
)  # fmt: skip


def keys_of(document: dict[str, Any]) -> set[str]:
    """The keys of a document and of the objects directly in it."""
    inner = (value for value in document.values() if isinstance(value, dict))
    return set(document).union(*inner)


def is_result(document: Any) -> bool:
    """Whether this is the result of a speed test."""
    return isinstance(document, dict) and _of(document) is not None


def _of(document: dict[str, Any]) -> _Kind | None:
    known = keys_of(document)
    return next((kind for kind in _KINDS if kind.keys <= known), None)


def results(documents: Iterable[Any]) -> list[Any]:
    """Documents without those that tell of a test's progress, if a result follows them."""
    found = list(documents)
    kept = [row for row in found if not (isinstance(row, dict) and _is_progress(row))]
    return kept if any(map(is_result, kept)) else found


def _is_progress(row: dict[str, Any]) -> bool:
    return {"Key", "Value"} <= set(row) or row.get("type") in _PROGRESS


def read(document: dict[str, Any], name: str) -> Measurement:
    """The rates and the round-trip time of a result.

    Raises:
        InputError: it has no rate.
    """
    kind = _of(document)
    assert kind is not None
    result = Measurement(f"result of {kind.name}")
    result.down = _rate(document, kind, kind.down, name)
    result.up = _rate(document, kind, kind.up, name)
    if not (result.down or result.up):
        raise InputError(f"{name}: is a result of {kind.name} without a rate; run the test again")
    for way, found in (("downstream", result.down), ("upstream", result.up)):
        if found:
            result.read.append(f"{found.mean / 1e6:.4g} Mbit/s {way} in the mean of the test")
        else:
            result.unknown.append(f"the rate {way}: the result has none")
    if rtt_ms := _number(_at(document, kind.rtt_ms)):
        result.base_rtt_s = rtt_ms / 1e3
        result.read.append(f"a base round trip of {rtt_ms:.4g} ms")
    if (lost := _number(document.get("packetLoss"))) is not None and kind is _KINDS[0]:
        result.loss = lost / 100
        result.read.append(f"{lost:.3g} % of the packets were lost")
    result.unknown.append(
        f"how the rates changed: the result has one for the whole test; {_LENGTH_S:g} s are "
        "simulated"
    )
    result.unknown.append("the rate of the link itself: it carries at least what the test got")
    return result


def _rate(document: dict[str, Any], kind: _Kind, place: _Place, name: str) -> StepCurve | None:
    value = _number(_at(document, place))
    if not value:
        return None
    # Next to `Value` stands its `Unit`, next to `downloadSpeed` its `downloadUnit`.
    of_unit = place[-1].removesuffix("Value").removesuffix("Speed") + "Unit"
    unit = _at(document, (*place[:-1], of_unit))
    factor = units.rate_factor(unit) if isinstance(unit, str) else kind.bps
    if factor is None:
        raise InputError(f"{name}: `{unit}` is not a known unit of a rate")
    if not 0 < value * factor < 1e15:
        raise InputError(f"{name}: {value * factor:g} bit/s is not a rate")
    return StepCurve((0.0,), (value * factor,), _LENGTH_S)


def _at(document: Any, place: _Place) -> Any:
    for key in place:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value - value == 0 else None
