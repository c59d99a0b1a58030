"""Parsers in Python with nearly valid texts: refused with a message, or parsed.

The parsers in Rust have targets in `fuzz`, scenarios the storm (docs/evidence/storm.md). An input
depends only on its number."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn.describing import aqm_list, quantity
from sojourn.errors import InputError
from sojourn.search import attack_file, goals, tune_file
from sojourn.stability.study import axes
from sojourn.study import definition

COUNT = 150
WORDS = [
    "", " ", "\n", ",", ":", "=", "(", ")", "[", "]", "{", "}", '"', "'", "#", ".", "-", "+", "0",
    "1e9", "1e400", "nan", "inf", "-0", "18446744073709551616", "ns", "ms", "s", "bdp", "mbit", "%",
    "true", "false", "fq(", "pie", "limit", "[[axes]]", "[set]", "[only]", "[until]", "from", "to",
    "points", "values", "seeds", "1.5", "[1, 2]", "{}", '""', "\x00", "\ufeff", "é", "∞",
    "1979-05-27", "07:32:00", "[[", "]]", "a.b.c", "9" * 5000,
]  # fmt: skip
STUDY = """
name = "x"
scenario = "dumbbell-reno"
metrics = ["queue/bottleneck/delay_p95"]
seeds = 3
only = [{ aqm = "pie" }]
skip = [{ flows = ">20" }]
[until]
metric = "queue/bottleneck/delay_p95"
within = "10%"
max_seeds = 30
[set]
duration = "30s"
[sampling]
points = 4
seed = 1
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel", "pie"]
[[axes]]
name = "flows"
key = "flows.bulk.count"
from = 1
to = 50
points = 5
scale = "log"
"""


def edited(text: str, draw: random.Random) -> str:
    """A text with up to eight random edits."""
    for _ in range(draw.randint(1, 8)):
        at = draw.randint(0, len(text))
        end = min(len(text), at + draw.randint(0, 12))
        word = draw.choice(WORDS)
        copied = text[at:end]
        place = draw.randint(0, len(text))
        text = draw.choice([
            text[:at] + word + text[at:], text[:at] + word + text[end:], text[:at] + text[end:],
            text[:place] + copied + text[place:],
        ])  # fmt: skip
    return text


def from_file(read: Callable[[Path], Any]) -> Callable[[str, Path], Any]:
    """A function that applies a reader of files to a text."""

    def reads(text: str, folder: Path) -> Any:
        file = folder / "input.toml"
        file.write_text(text, encoding="utf-8", errors="replace")
        return read(file)

    return reads


def of_text(read: Callable[[str], Any]) -> Callable[[str, Path], Any]:
    return lambda text, _folder: read(text)


def shipped(found: dict[str, Path]) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in found.values()]


PARSERS: dict[str, tuple[Callable[[str, Path], Any], list[str]]] = {
    "studies": (from_file(definition.read), [*shipped(definition.shipped()), STUDY]),
    "tunes": (from_file(tune_file.read_tune), shipped(tune_file.shipped("tune"))),
    "attacks": (from_file(attack_file.read_attack), shipped(tune_file.shipped("attack"))),
    "lists of AQMs": (of_text(aqm_list.split), ["pie,fq(codel):target=5ms,limit=10p,red@linux"]),
    "quantities": (of_text(quantity.quantity), ["5ms", "10mbit", "1.5kB", "20p", "0.5"]),
    "goals": (of_text(lambda text: goals.read_goal(text, "b")),
              ["min queue/b/delay_p95 where queue/b/utilisation >= 0.9", "min delay_p95"]),
    "axes of times": (of_text(lambda text: axes.times_s("--rtt", text, 5)), ["1ms..1s", "5ms,9ms"]),
    "axes of rates": (of_text(lambda text: axes.rates_bps("--rate", text, 5)), ["1mbit..1gbit"]),
    "axes of counts": (of_text(lambda text: axes.counts("--flows", text, 5)), ["1..100", "1,5"]),
}  # fmt: skip


@pytest.mark.parametrize("parser", PARSERS)
def test_a_text_that_is_nearly_right_is_refused_in_a_sentence_or_read(parser, tmp_path):
    read, right = PARSERS[parser]
    for number in range(COUNT):
        draw = random.Random(f"{parser} {number}")
        text = edited(draw.choice(right), draw)
        try:
            read(text, tmp_path)
        except (InputError, sojourn.ScenarioError, OSError) as error:
            # The system refuses a name of thousands of characters.
            assert str(error).strip(), (number, text)
        except Exception as error:
            pytest.fail(f"{parser}, input {number}: {error!r}\n{text}")
