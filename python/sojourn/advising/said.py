"""Advice in words, for the terminal and the page."""

from __future__ import annotations

from sojourn.advising.line import COST_NS, GRADES, LOADS, Advice, Line
from sojourn.describing.formatting import counted


def of_line(line: Line) -> str:
    """``50 Mbit/s down, 10 Mbit/s up, docsis, round trip 40 ms, household``."""
    return (
        f"{line.down_bps / 1e6:g} Mbit/s down, {line.up_bps / 1e6:g} Mbit/s up, {line.medium}, "
        f"round trip {line.rtt_s * 1e3:g} ms, {line.purpose}"
    )


def verdict(advice: Advice) -> str:
    """What the set-up changes, in two sentences."""
    (now,) = [it for it in advice.outcomes if it.name == "now"]
    (then,) = [it for it in advice.outcomes if it.name == advice.choice]
    return (
        f"With {advice.choice}, load adds {milliseconds(then.added_p95_s)} of delay (p95) instead "
        f"of {milliseconds(now.added_p95_s)}. Downloads get {then.down_bps / 1e6:.3g} Mbit/s "
        f"instead of {now.down_bps / 1e6:.3g}, uploads {then.up_bps / 1e6:.3g} Mbit/s instead of "
        f"{now.up_bps / 1e6:.3g}."
    )


def rows(advice: Advice) -> list[tuple[str, ...]]:
    """The set-ups as a table: the first row has their names, the first column the figures'."""
    found = advice.outcomes
    return [
        ("", *(it.name for it in found)),
        ("round trip under load", *(milliseconds(it.loaded_rtt_s) for it in found)),
        ("added delay, p95", *(milliseconds(it.added_p95_s) for it in found)),
        ("responsiveness", *(f"{it.rpm:.0f} RPM" for it in found)),
        ("grade", *(it.grade for it in found)),
        ("downloads", *(f"{it.down_bps / 1e6:.3g} Mbit/s" for it in found)),
        ("uploads", *(f"{it.up_bps / 1e6:.3g} Mbit/s" for it in found)),
    ]


def sentences(line: Line, advice: Advice) -> list[str]:
    """Differences, cost, doubts and the meaning of the figures."""
    downloads, uploads = LOADS[line.purpose]
    bounds = ", ".join(f"{name} below {below:g} ms" for name, below in GRADES)
    costs = [
        f"{name} {it.difference.mean / 1e6:+.3g} Mbit/s ({it.difference.low / 1e6:+.3g} to "
        f"{it.difference.high / 1e6:+.3g})"
        for name, it in (("downloads", advice.down), ("uploads", advice.up))
    ]
    delay = advice.added.difference
    return [
        f"changes: added delay {milliseconds(delay.mean)} ({milliseconds(delay.low)} to "
        f"{milliseconds(delay.high)}); {'; '.join(costs)}",
        _cpu(line, advice),
        *(f"how sure: {text}" for text in advice.sure),
        f"Load: {counted(downloads, 'download')}, {counted(uploads, 'upload')} and a probe "
        f"every 50 ms; means over {line.seeds} seeds, differences with 95 % intervals.",
        "RPM: a minute over the mean round trip of the probe, without the connection set-up of "
        "draft-ietf-ippm-responsiveness.",
        f"Grade by the added delay: {bounds}, else F.",
    ]


def _cpu(line: Line, advice: Advice) -> str:
    """The CPU cost of the discipline itself at the line's rates."""
    packets_per_s = (line.down_bps + line.up_bps) / (8 * 1514)
    cost_ns = COST_NS[advice.choice]
    return (
        f"CPU: our {advice.choice} takes {cost_ns} ns a packet where benches/RESULTS.md measured "
        f"it, {packets_per_s * cost_ns / 1e7:.2g} % of that core at {packets_per_s:,.0f} packets "
        "of 1514 B a second; forwarding, and a slower router, cost more"
    )


def milliseconds(span_s: float) -> str:
    """Three digits of milliseconds."""
    span_ms = span_s * 1e3
    return f"{span_ms:,.0f} ms" if abs(span_ms) >= 1000 else f"{span_ms:.3g} ms"
