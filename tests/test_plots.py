"""Figures: the same results give the same bytes; missing values are reported."""

import io
import shutil
import subprocess

import numpy as np
import pytest

from sojourn import _core, plots
from sojourn.errors import InputError, NothingToPlot
from sojourn.plots import clouds, outputs, style
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.running.result import Result
from synthetic import AQMS, comparison, result

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compared():
    return comparison(seeds=4)


def test_every_kind_is_drawn(compared):
    assert list(compared.figures()) == list(plots.KINDS)


@pytest.mark.long
def test_equal_results_give_equal_figures_byte_for_byte(compared):
    first, second = compared.figures(), compared.figures()
    for name, figure in first.items():
        assert style.svg(figure) == style.svg(second[name])
        assert style.png(figure) == style.png(second[name])
        assert style.svg(figure) == style.svg(figure)


def _by_savefig(figure, form, metadata):
    buffer = io.BytesIO()
    with style.styled():
        figure.savefig(buffer, format=form, metadata=metadata)
    return buffer.getvalue()


def test_a_figure_that_is_drawn_once_has_the_bytes_that_savefig_writes(compared):
    figure = compared.figures()["plane"]
    without_date = {"Date": None, "Creator": None}
    assert style.svg(figure).encode() == _by_savefig(figure, "svg", without_date)
    assert style.png(figure) == _by_savefig(figure, "png", {"Software": None})


def test_a_bounding_box_of_the_users_own_is_honoured(compared):
    import matplotlib as mpl

    figure = compared.figures()["plane"]
    plain = style.png(figure)
    with mpl.rc_context({"savefig.bbox": "tight"}):
        assert style.png(figure) == _by_savefig(figure, "png", {"Software": None}) != plain


def test_an_aqm_has_the_same_colour_in_all_figures(compared):
    colours = style.colours(AQMS)
    assert len(set(colours.values())) == len(AQMS)
    for name, figure in compared.figures().items():
        for colour in colours.values():
            assert colour in style.svg(figure), (name, colour)


def test_drawing_leaves_the_settings_of_others_alone(compared):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    compared.figures()
    assert dict(mpl.rcParams) == before


def test_names_of_ten_crowded_clouds_overlap_nowhere_and_stay_within_the_axes():
    # Nine of them are at one position at the top of a column's width.
    points = {f"law_{i}": np.array([[10.0, 100.0], [11.0, 99.9]]) for i in range(9)}
    points["low"] = np.array([[10.0, 80.0]])
    drawing, axes, colours = clouds.begin(points, {aqm: [] for aqm in points}, "crowded")
    drawing.set_size_inches(3.5, 3.5)
    clouds.finish(drawing, axes, points, colours)
    drawing.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(points)
    for i, box in enumerate(boxes):
        assert axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1, axes.texts[i]
        assert not any(box.overlaps(other) for other in boxes[:i]), axes.texts[i]


@pytest.mark.parametrize("name", list(plots.KINDS))
def test_results_without_values_are_refused_with_a_sentence(name):
    class Empty:
        digest, warnings = "", []

        def table(self, name):
            return _core.Table.empty(name)

        def summary(self):
            return []

    with pytest.raises(NothingToPlot):
        plots.kind(name)({"pie": [Result(Empty())]}, "bottleneck")


def test_one_aqm_and_one_seed_are_enough():
    for name in plots.KINDS:
        plots.kind(name)({"pie": [result("pie", 1)]}, "bottleneck")


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(KeyError, match="delay_cdf"):
        plots.kind("pie_chart")


def test_pgf_names_the_programs_that_it_needs_and_how_to_install_one(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _program: None)
    with pytest.raises(
        InputError, match=r"xelatex or pdflatex or lualatex is missing; apt-get install .*pdf"
    ):
        outputs.check_format("pgf")
    monkeypatch.setitem(style.mpl.rcParams, "pgf.texsystem", "lualatex")
    with pytest.raises(InputError, match=r"lualatex is missing; apt-get install"):
        outputs.check_format("pgf")


@pytest.mark.parametrize("points", [9.0, 14.0])
@pytest.mark.parametrize(("aqms", "size"), [(1, "page"), (6, "page"), (5, "column")])
def test_panels_over_time_overlap_neither_each_other_nor_their_neighbours(
    compared, aqms, size, points
):
    results = {aqm: compared.of(aqm) for aqm in list(AQMS)[-aqms:]}
    with style.mpl.rc_context({"font.size": points}), style.sized(size):
        drawing = plots.kind("delay_time")(results, "bottleneck")
        drawing.canvas.draw()
        panels = [axes for axes in drawing.axes if axes.get_visible()]
        boxes = [axes.get_tightbbox(for_layout_only=True) for axes in panels]
        texts = {text.get_text()[:5]: text.get_window_extent() for text in drawing.texts}
    left, below, title = texts["queue"], texts["time "], texts["Queue"]
    for i, box in enumerate(boxes):
        assert left.x1 < box.x0 and below.y1 < box.y0 and box.y1 < title.y0, (i, box)
        assert box.x1 <= drawing.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_figure_in_pdf_embeds_truetype_and_no_type_3_font(compared):
    pdf = style.saved(plots.kind("pareto")({a: compared.of(a) for a in AQMS}, "bottleneck"), "pdf")
    # Font dictionaries are outside the compressed streams.
    assert b"/Subtype /Type3" not in pdf
    assert b"/Subtype /Type0" in pdf or b"/Subtype /TrueType" in pdf
    assert b"/FontFile2" in pdf
    with style.styled():
        assert style.mpl.rcParams["ps.fonttype"] == 42


@pytest.mark.long
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_a_figure_in_pgf_is_read_by_latex(compared, tmp_path):
    (tmp_path / "figure.pgf").write_bytes(style.saved(compared.figures()["pareto"], "pgf"))
    packages = r"\usepackage{pgf}\usepackage{lmodern}\usepackage[strings]{underscore}"
    body = r"\def\mathdefault#1{#1}\input{figure.pgf}"
    (tmp_path / "paper.tex").write_text(
        rf"\documentclass{{article}}{packages}\begin{{document}}{body}\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_value_of_an_interval_is_drawn_over_it():
    curve = Curve.of_intervals("", [1.0, 2.0], [5.0, 7.0], style.PALETTE[0])
    assert (list(curve.x), list(curve.y)) == ([0.0, 1.0, 2.0], [5.0, 7.0, 7.0])
    assert curve.steps  # each value until the next point


def test_curves_that_only_colours_tell_apart_differ_in_dashes() -> None:
    two = [Curve(name, [0, 1], [0, 1], "blue") for name in ("a", "b")]
    other = [Curve("b", [0, 1], [1, 0], "blue")]
    both = [Panel("one", two, "x", "y"), Panel("two", other, "x", "y")]
    one, next_one = curves("title", both).axes
    first, second = (line.get_linestyle() for line in one.lines)
    assert first != second
    assert next_one.lines[0].get_linestyle() == second, "a label has one line style"
