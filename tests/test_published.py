"""Published values in figures, axes that panels share, marks that are spread."""

from __future__ import annotations

import pytest

from sojourn.papers.kids import common as kids
from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.shares import spread
from sojourn.reproduce import published, select
from sojourn.reproduce.claims import between, number
from sojourn.reproduce.paper import Mark, Paper
from sojourn.reproduce.published import at, level


def figure(*y_labels: str):
    panels = [
        Panel("", [Curve("", [0.0, 1.0], [0.0, float(i + 1)], "#000000")], "t", label)
        for i, label in enumerate(y_labels)
    ]
    return curves("title", panels)


def paper(*marks: Mark) -> Paper:
    claims = (
        number("x-F1-1", "exact", "", "a", 90, "%"),
        between("x-F1-2", "approx", "", "a", None, 3, "ms"),
        between("x-F1-3", "approx", "", "a", 2, 4, "ms"),
    )
    return Paper("x", "", "", "", (), claims, marks=marks)


def drawn(mark: Mark):
    """The lines that one mark adds to a figure: positions and marker."""
    made = figure("y")
    before = len(made.axes[0].lines)
    published.draw(made, "F1", paper(mark))
    lines = made.axes[0].lines[before:]
    return [(list(one.get_xdata()), list(one.get_ydata()), one.get_marker()) for one in lines]


def test_a_number_is_a_diamond_where_the_paper_has_it() -> None:
    assert drawn(at("F1", 0, "F1-1", 0.5, scale=0.01)) == [([0.5], [pytest.approx(0.9)], "D")]


def test_a_bound_points_to_where_it_is_met_and_a_range_is_a_bar() -> None:
    assert drawn(at("F1", 0, "F1-2", 0.5)) == [([0.5], [3.0], "v")]
    assert drawn(Mark("F1", 0, "F1-2", y=0.5)) == [([3.0], [0.5], "<")]
    assert [shape for _, _, shape in drawn(at("F1", 0, "F1-3", 0.5))] == ["None", "_"]
    made = figure("y")
    published.draw(made, "F1", paper(at("F1", 0, "F1-3", 0.5)))
    assert {line.get_color() for line in made.axes[0].lines[-2:]} == {style.INK}


def test_a_level_crosses_the_axes_and_stays_in_sight() -> None:
    made = figure("y")
    published.draw(made, "F1", paper(level("F1", 0, "F1-3")))
    assert [one.get_ydata()[0] for one in made.axes[0].lines[-2:]] == [2.0, 4.0]
    assert made.axes[0].get_ylim()[1] > 4.0


def test_marks_of_other_figures_are_left_out() -> None:
    assert drawn(at("F2", 0, "F1-1", 0.5)) == []


def test_every_mark_is_that_of_a_number_that_its_paper_prints() -> None:
    for each in select.known().values():
        claims = {"-".join(claim.id.split("-")[-2:]): claim for claim in each.claims}
        assert each.marks, each.key
        for mark in each.marks:
            assert claims[mark.claim].parts[mark.part].published is not None
            assert mark.claim.startswith(mark.figure)


def test_panels_of_one_quantity_share_their_scale_and_others_do_not() -> None:
    same = figure("y", "y").axes
    assert same[0].get_ylim() == same[1].get_ylim()
    other = figure("y", "z").axes
    assert other[0].get_ylim() != other[1].get_ylim()
    assert other[0].get_xlim() == other[1].get_xlim()


@pytest.mark.parametrize(
    ("places", "moved"),
    [
        ([0.1, 0.9], [0.1, 0.9]),
        ([0.5, 0.5], [0.4, 0.6]),
        ([0.5, 0.55, 0.6], [0.35, 0.55, 0.75]),
        ([0.6, 0.5, 0.0], [0.65, 0.45, 0.0]),
    ],
)
def test_marks_that_overlap_are_spread_around_their_middle(places, moved) -> None:
    assert spread(places, 0.2) == pytest.approx(moved)


def test_published_boxes_stand_at_the_box_of_their_aqm() -> None:
    from sojourn.papers.kids.marks import MARKS
    from sojourn.plots.boxes import shift_of

    assert [round(shift_of(i, 3), 3) for i in range(3)] == [-0.267, 0.0, 0.267]
    of_f9 = [mark.x for mark in MARKS if mark.figure == "F9"]
    assert of_f9 == [shift_of(kids.AQMS.index("ared"), 3), 0.0]
