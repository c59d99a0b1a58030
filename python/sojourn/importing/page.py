"""Compares the content of a file with a run of its scenario, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sojourn import files
from sojourn.errors import InputError
from sojourn.importing.measured import Measurement
from sojourn.importing.picture import picture, unit_of
from sojourn.importing.scenario import Imported
from sojourn.importing.simulated import ImportedRun, ImportedSeries
from sojourn.markup import drawing_in_html, policy
from sojourn.reading import shown
from sojourn.report import page_style, template
from sojourn.report.charts import WIDTHS

_OF = {
    "rate of the link": "a link of",
    "captured traffic": "traffic of",
    "round trip": "round trips of",
    "one-way delay": "one-way delays of",
    "loss": "losses of",
}

# On a narrow screen the table and the commands are wrapped.
_STYLE = """
tbody th { white-space: normal; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def check(path: Path, source: Path, output: Path | None) -> None:
    """Refuse a page that cannot be written, before any work.

    Args:
        path: the page.
        source: the measurement file.
        output: the scenario's file.

    Raises:
        InputError: it cannot be written, or would replace one of the two.
    """
    import tempfile

    for other, what in ((source, "the measurement file"), (output, "the scenario's file")):
        if other is not None and path.absolute() == other.absolute():
            raise InputError(f"--report {shown(path)}: is {what}; choose another name")
    if path.exists() and not path.is_file():
        raise InputError(f"--report {shown(path)}: is not a regular file; name one")
    folder = next(each for each in path.absolute().parents if each.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"--report {shown(path)}: cannot be written ({error.strerror}); choose another name"
        ) from None


def write(path: Path, text: str) -> None:
    """Write the page.

    Raises:
        InputError: it cannot be written.
    """
    try:
        files.write(path, text)
    except OSError as error:
        raise InputError(f"--report {shown(path)}: cannot be written ({error.strerror})") from None


def page(
    source: str,
    measured: Measurement,
    result: Imported,
    found: ImportedRun,
    commands: Sequence[str],
) -> str:
    """The page as HTML.

    Args:
        source: the file's name.
        measured: its content.
        result: its scenario.
        found: what one run of the scenario gives.
        commands: what makes the page and runs the scenario.
    """
    drawn = {size: drawing_in_html(picture(found, size)) for size in WIDTHS if found.found}
    whole = {
        "title": f"{source}, read and simulated",
        "answer": answer(found),
        "format": measured.format,
        "run": f"One run of {found.length_s:.4g} s, seed {found.seed}, through a queue with tail "
        "drop.",
        "css": page_style(_STYLE),
        "policy": policy(),
        "drawn": drawn,
        "notes": _notes(measured, found),
        "after": f"{found.warmup_s:.3g} s" if found.warmup_s else "",
        "rows": [_row(one, found.warmup_s) for one in found.found],
        "read": result.read,
        "assumed": result.assumed,
        "left_out": found.left_out,
        "commands": "\n".join(commands),
    }
    return str(template(Path(__file__).parent, "page.html.j2").render(whole))


def answer(found: ImportedRun) -> str:
    """What the file is, and how far the simulation agrees, in one sentence."""
    if not found.found:
        return (
            "The file has no rate, delay or loss over time, so nothing in it can be compared with "
            "the simulation."
        )
    ends = [
        one.edges_s[1:][np.isfinite(one.read)] for one in found.found if not one.is_constant
    ]  # fmt: skip
    length_s = max((each[-1] for each in ends if len(each)), default=0.0)
    read = [f"{number(length_s)} s"] if length_s else []
    read += [_read(one) for one in found.found]
    simulated = [_simulated(one, found.warmup_s) for one in found.found]
    return f"Read: {', '.join(read)}; simulated: {', '.join(simulated)}."


def _named(one: ImportedSeries) -> str:
    return f"{one.name} {one.way}" if one.way else one.name


def _read(one: ImportedSeries) -> str:
    """``a link of 4 to 10 Mbit/s down``."""
    values, (unit, factor) = one.read[np.isfinite(one.read)], unit_of(one)
    if not len(values):
        return f"no {_named(one)}"
    low, high = (number(factor * float(end)) for end in (values.min(), values.max()))
    span = low if low == high else f"{low} to {high}"
    least = "at least" if one.name == "round trip" and one.is_constant else ""
    return " ".join(filter(None, (_OF[one.name], least, span, unit, one.way)))


def _simulated(one: ImportedSeries, warmup_s: float) -> str:
    """``mean rate down 6.1 instead of 7.2 Mbit/s``."""
    read, simulated = _typical(one, warmup_s)
    name = "median" if one.kind == "time" else "mean"
    what = f"{name} {f'rate {one.way}' if one.kind == 'rate' else one.name}"
    unit = unit_of(one)[0]
    if read == simulated:
        return f"{what} {read} {unit} as read"
    return f"{what} {simulated} instead of {read} {unit}"


def _typical(one: ImportedSeries, warmup_s: float) -> tuple[str, str]:
    factor = unit_of(one)[1]
    read, simulated = one.typical(warmup_s)
    return number(factor * read), number(factor * simulated)


def _row(one: ImportedSeries, warmup_s: float) -> tuple[str, str, str, str, str]:
    """Quantity, unit, read, simulated and their ratio."""
    read, simulated = one.typical(warmup_s)
    what = f"{_named(one)}, {'median' if one.kind == 'time' else 'mean'}"
    ratio = f"{100 * simulated / read:.0f} %" if read > 0 and np.isfinite(simulated) else "\u2013"
    return what, unit_of(one)[0], *_typical(one, warmup_s), ratio


def number(value: float) -> str:
    """Three digits, or all before the point; a dash if it is not known."""
    if not np.isfinite(value):
        return "\u2013"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _notes(measured: Measurement, found: ImportedRun) -> list[str]:
    """What explains a difference."""
    names = {one.name: one for one in found.found}
    notes = []
    if len({one.way for one in found.found if one.way}) > 1:
        notes.append("The ACKs of each way share the other way's queue with its data.")
    if "captured traffic" in names:
        notes.append(
            "Captured: all packets of a direction, at IP level. Simulated: what the link carried."
        )
    if "rate of the link" in names:
        notes.append("The simulated rate is what the link carried: it cannot exceed the rate read.")
    if one := names.get("round trip"):
        what = "The file has the least round trip" if one.is_constant else "Round trips were read"
        loaded = ", during a transfer" if measured.is_loaded else ", perhaps without load"
        simulated = (
            "probes in a run without the scenario's transfers, which would fill the queue"
            if measured.shows_only_probes
            else "transfers that fill the queue, smoothed"
        )
        notes.append(
            f"{what}{'' if one.is_constant else loaded}; those simulated are of {simulated}."
        )
    if "one-way delay" in names:
        load = (
            "in a run without the scenario's transfers, which would fill the queue"
            if measured.shows_only_probes
            else "with its queueing"
        )
        notes.append(f"The simulated one-way delay is that of the voice call, {load}.")
    if one := names.get("loss"):
        what = "The file has one share of losses, drawn as a level. " if one.is_constant else ""
        notes.append(f"{what}Simulated losses are those of the voice call.")
    return notes
