"""Reasons why claims do not hold: their numbers are measured, or parameters and citations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.engines import registry
from sojourn.reproduce import reasons, select
from sojourn.reproduce.paper import Paper

VALUES = {"a": 10.0, "b": 7.5, "c.d_ms": 1.26, "± a": 0.5, "F3/a": 3.0, "zero": 0.0}


def look(name: str) -> float:
    return VALUES.get(name, math.nan)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{a:.0f} ms", "10 ms"),
        ("{c.d_ms:.1f}", "1.3"),
        ("{a - b:.1f}", "2.5"),
        ("{b - a:.1f}", "−2.5"),
        ("{a / b:.2f}", "1.33"),
        ("{a falls to b:.0f} %", "25 %"),
        ("{a:.0f} ± {± a:.1f}", "10 ± 0.5"),
        ("{F3/a:.0f}", "3"),
        ("Linux {=6.1}, {=64} flows", "Linux 6.1, 64 flows"),
        ("{see A title}.", "see “A title”."),
        ("{nothing:.1f}", "–"),
        ("{a / zero:.1f}", "–"),
    ],
)
def test_a_reason_is_filled_with_what_was_measured(template: str, text: str) -> None:
    assert reasons.fill(template, look) == text


def test_numbers_outside_braces_are_found_and_names_with_digits_are_none() -> None:
    assert reasons.stray_numbers("35 % of 0.5 at {a:.1f}, {=64}, PI2, p99, ns-2, 1,000") == [
        "35", "0.5", "1,000"
    ]  # fmt: skip


def test_what_a_reason_takes_is_known_without_a_run() -> None:
    template = "{a - b:.1f} {± c:.1f} {worst:.0f} {=7} {see A title}"
    assert reasons.names(template) == ["a", "b", "c", "worst"]
    assert reasons.parameters(template) == ["7"]
    assert reasons.paragraphs(template) == ["A title"]


def papers() -> Iterator[Paper]:
    """Every paper on every engine that can run it."""
    for engine in (registry.DEFAULT.engine, registry.find("linux")):
        for paper, _items in select.select([], engine):
            yield paper


def templates(paper: Paper) -> Iterator[tuple[str, str]]:
    """Every reason and paragraph with its name."""
    yield from ((claim.id, claim.differs) for claim in paper.claims if claim.differs)
    yield from paper.paragraphs.items()


PAPERS = [pytest.param(paper, id=f"{paper.key}-{i}") for i, paper in enumerate(papers())]


@pytest.mark.parametrize("paper", PAPERS)
def test_no_reason_has_a_number_that_is_neither_measured_nor_a_parameter(paper: Paper) -> None:
    stray = {name: reasons.stray_numbers(text) for name, text in templates(paper)}
    assert {name: found for name, found in stray.items() if found} == {}


CITATION = r"(fact [a-z]+-\d+|Figure \d+|[23]\.\d+(\.\d+)?|[456]\.\d+|20\d\d|p?9\d)"


def known_numbers(paper: Paper) -> set[str]:
    """Numbers of scenarios, claims and notes, which a reason may use without a measurement."""
    texts = [paper.title, paper.source, paper.about]
    for item in paper.items:
        texts += [item.id, item.title, item.note]
        for key, case in item.all_cases("full").items():
            texts += [key, repr(case.scenario)]
    for claim in paper.claims:
        texts += [claim.what, *(part.label for part in claim.parts)]
        texts += [str(part.published) for part in claim.parts if part.published]
    return set(re.findall(r"(?<!\d)(?<!\d\.)\d+(?:\.\d+)?", " ".join(texts)))


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_reason_names_as_a_parameter_is_one_or_cites_a_source(paper: Paper) -> None:
    known = known_numbers(paper)
    strange = {
        name: found
        for name, text in templates(paper)
        if (
            found := [
                word
                for word in reasons.parameters(text)
                if not re.fullmatch(CITATION, word)
                and not set(re.findall(r"\d+(?:\.\d+)?", word)) <= known
            ]
        )
    }
    assert strange == {}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paragraph_that_a_reason_refers_to_is_there_and_every_one_is_used(
    paper: Paper,
) -> None:
    used = {title for _, text in templates(paper) for title in reasons.paragraphs(text)}
    assert used == set(paper.paragraphs)


@pytest.mark.parametrize("paper", PAPERS)
def test_reasons_name_items_of_their_paper(paper: Paper) -> None:
    items = {item.id for item in paper.items}
    for name, text in templates(paper):
        named = [word.rpartition("/")[0] for word in reasons.names(text)]
        assert {item for item in named if item} <= items, name


# Quantities without a unit: counts, ratios, probabilities, correlations.
PLAIN = r"drops|straightness|level|overshoot|correlation|ratio|excursions|r_[rdb][do]|over fair"


@pytest.mark.parametrize("paper", PAPERS)
def test_both_sides_of_an_order_have_their_unit(paper: Paper) -> None:
    orders = [part for claim in paper.claims if claim.tag == "order" for part in claim.parts]
    bare = {part.label for part in orders for side in part.sides if not side.unit}
    assert {label for label in bare if not re.search(PLAIN, label)} == set()


DATA = Path(__file__).parent / "data" / "reason_values.txt"


def test_every_value_that_a_reason_names_was_measured() -> None:
    """`make reproduce-full` writes the file from its measurements."""
    measured = dict(line.split() for line in DATA.read_text().splitlines())
    assert all(math.isfinite(float(value)) for value in measured.values())
    wanted = {
        f"{paper.key}.{item or where}.{key}"
        for paper in papers()
        for where, text in placed(paper)
        for item, _, key in [name.rpartition("/") for name in reasons.names(text)]
        if key != reasons.WORST
    }
    assert wanted <= set(measured)


def placed(paper: Paper) -> Iterator[tuple[str, str]]:
    """Every reason and paragraph with the item that its keys belong to."""
    yield from ((claim.where, claim.differs) for claim in paper.claims)
    yield from (("", text) for text in paper.paragraphs.values())
