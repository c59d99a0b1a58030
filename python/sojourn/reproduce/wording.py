"""Parts of the keys of values in words: ``rtt500`` is RTT 500 ms, ``p50_ms`` the median."""

from __future__ import annotations

import re

# Suffixes of keys, and their units.
_UNITS = {
    "ms": "ms", "s": "s", "mbps": "Mbit/s", "kbps": "kbit/s", "pct": "%", "packets": "packets",
    "bytes": "B", "deg": "°", "db": "dB",
}  # fmt: skip
_COMPOUND = {
    "_pct_per_100s": "% per 100 s", "_pct_of_plane": "%", "_rad_per_s": "per s", "_per_s": "per s",
}  # fmt: skip
_WORDS = {
    "droptail": "DropTail", "pie": "PIE", "madpie": "MADPIE", "pi2": "PI2", "codel": "CoDel",
    "codel_act": "CoDel-ACT", "fq_codel": "FQ_CoDel", "ared": "ARED", "red": "RED",
    "reno": "NewReno", "cubic": "CUBIC",
    "qd": "queuing delay", "owd": "one-way delay", "rtt": "RTT", "ecn": "with ECN",
    "without": "without ECN", "goodput5s": "goodput per 5 s", "drop_prob": "drop probability",
    "max": "maximum", "min": "minimum", "sd": "standard deviation", "util": "utilisation",
    "util_mean": "utilisation", "p50": "median", "zero_pct": "packets without delay",
    "excursions_above_100ms": "excursions above 100 ms", "dip_1to15s": "dip from 1 to 15 s",
    "settled_below_40ms": "time until below 40 ms",
    "r_rd": "share of random drops", "r_dd": "share of deterministic drops",
    "r_bo": "share of overflow drops", "pie_minus_madpie": "PIE minus MADPIE",
}  # fmt: skip
# Patterns of a part, each with the replacement of its groups.
_PATTERNS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"rtt(\d+)(?:ms)?", "RTT {} ms"),
        (r"n(\d+)", "n = {}"),
        (r"flows(\d+)", "{} flows"),
        (r"flows(\d+)_again", "{} flows again"),
        (r"tupdate([\d_]+)ms", "update interval {} ms"),
        (r"maxburst([\d_]+)ms", "burst allowance {} ms"),
        (r"(target|threshold|interval|reference|burst)([\d_]+)ms", "{} {} ms"),
        (r"(at|after)(\d+)s", "{} {} s"),
        (r"rate(\d+)mbps", "{} Mbit/s"),
        (r"alpha([\d_]+)", "alpha {}"),
        (r"p0_(\d+)e_(\d+)", "p0 = {}e-{}"),
        (r"sqrt_p0_([\d_]+)", "sqrt(p0) = {}"),
        (r"phase(\d+)", "phase {}"),
        (r"(\d+)kb", "{} kB"),
        (r"p(\d\d?)", "percentile {}"),
        (r"p(\d\d?)_reduction", "reduction of percentile {}"),
        (r"(above|below)_(\d+)ms", "packets {} {} ms"),
        (r"above_(\d+)kbps", "seconds above {} kbit/s"),
    )
]


def unit_of(key: str) -> str:
    """The unit of a key's suffix; empty for a count, a ratio or a probability."""
    for end, unit in _COMPOUND.items():
        if key.endswith(end):
            return unit
    return _UNITS.get(key.rpartition("_")[2], "")


def in_words(part: str) -> str:
    """A part of a key in words, without its unit if it names a quantity."""
    for one in (part, _without_unit(part)):
        if one in _WORDS:
            return _WORDS[one]
        for pattern, words in _PATTERNS:
            if found := pattern.fullmatch(one):
                return words.format(*(text.replace("_", ".") for text in found.groups()))
    return _without_unit(part).replace("_", " ")


def _without_unit(part: str) -> str:
    for end in _COMPOUND:
        if part.endswith(end):
            return part.removesuffix(end)
    rest, _, end = part.rpartition("_")
    return rest if rest and end in _UNITS else part
