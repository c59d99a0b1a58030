"""Reasons why claims do not hold: templates whose numbers are filled in from measured values.

Measured values are in braces, with a format as in Python:

* ``{light.pie.qd.p50_ms:.1f}``: a value of the claim's item; ``{F3/light...:.1f}`` of another one.
  In reasons for orders, in paragraphs, and where the same reason gives its interval, the value is
  the mean over the seeds, as on both sides of an order; otherwise it is that of all seeds pooled;
* ``{a - b:.1f}``, ``{a / b:.2f}``: of two values; ``{a falls to b:.0f}``: the decrease in percent;
* ``{± a:.1f}``: half of the value's 95 % interval over the seeds;
* ``{worst:.2f}``: the value of the part that decided the verdict, ``{± worst:.2f}`` its interval;
* ``{see a title}``: a paragraph that several reasons share, printed once;
* ``{=64}``: a parameter or a citation, which is kept as written.

Tests refuse numbers outside braces, because they would become outdated unnoticed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from string import Formatter

# The value of a name, or half of its interval where the name begins with ``± ``; NaN if unknown.
Lookup = Callable[[str], float]

INTERVAL = "± "
WORST = "worst"
SEE = "see "
_NUMBER = re.compile(r"(?<!\w)(?<![A-Za-z]-)\d[\d.,]*")
_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    " - ": lambda a, b: a - b,
    " / ": lambda a, b: a / b if b else math.nan,
    " falls to ": lambda a, b: 100.0 * (1.0 - b / a) if a else math.nan,
}


def fill(template: str, look: Lookup) -> str:
    """The reason with its numbers; a dash for a value that was not measured in this run."""
    return "".join(
        text + ("" if name is None else _shown(name, spec or "", look))
        for text, name, spec, _conversion in Formatter().parse(template)
    )


def names(template: str) -> list[str]:
    """The measured values that the reason uses, without ``± ``."""
    fields = [name for name in _fields(template) if not name.startswith(("=", SEE))]
    return [one.removeprefix(INTERVAL) for name in fields for one in _operands(name)[1]]


def intervals(template: str) -> set[str]:
    """Names whose interval the reason gives."""
    fields = _fields(template)
    return {name.removeprefix(INTERVAL) for name in fields if name.startswith(INTERVAL)}


def paragraphs(template: str) -> list[str]:
    """Titles of the paragraphs that the reason refers to."""
    return [name.removeprefix(SEE) for name in _fields(template) if name.startswith(SEE)]


def parameters(template: str) -> list[str]:
    """The literal parts of the reason: parameters and citations."""
    return [name[1:] for name in _fields(template) if name.startswith("=")]


def stray_numbers(template: str) -> list[str]:
    """Numbers that are neither measured nor marked as parameters; PI2 and p99 are names."""
    texts = [text for text, *_ in Formatter().parse(template)]
    return [
        number for text in texts for number in re.findall(r"(?<!\w)(?<![A-Za-z]-)\d[\d.,]*", text)
    ]


def _fields(template: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(template) if name is not None]


def _shown(name: str, spec: str, look: Lookup) -> str:
    if name.startswith("="):
        return name[1:]
    if name.startswith(SEE):
        return f"see “{name.removeprefix(SEE)}”"
    operate, operands = _operands(name)
    value = operate(*map(look, operands))
    return format(value, spec).replace("-", "−") if math.isfinite(value) else "–"


def _operands(name: str) -> tuple[Callable[..., float], list[str]]:
    for word, operate in _OPERATIONS.items():
        if word in name:
            return operate, name.split(word)
    return float, [name]
