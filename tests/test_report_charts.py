"""The charts of a report, drawn without matplotlib."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from sojourn.plots import KINDS
from sojourn.plots.naming import Area, placed
from sojourn.report.canvas import AxisScale, Canvas, text_width
from sojourn.report.charts import WIDTHS, charts
from synthetic import comparison

WITHOUT = """\
import sys
sys.path[:0] = [{tests!r}]
from synthetic import comparison
names = comparison(["taildrop", "codel"], seeds=2).save({out!r}, formats=())
print(names, "matplotlib" in sys.modules)
"""


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (AxisScale(0.0, 1.01), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (AxisScale(83.1, 99.4), [85, 90, 95]),
        (AxisScale(0.5, 60.0, is_log=True), [0.5, 1, 2, 5, 10, 20, 50]),
        (AxisScale(0.01, 100.0, is_log=True), [0.01, 0.1, 1, 10, 100]),
        (AxisScale(11.0, 23.0, is_log=True), [12, 14, 16, 18, 20, 22]),
    ],
)
def test_a_scale_has_a_few_plain_numbers_within_its_ends(scale, ticks):
    assert scale.ticks(7 if scale.low == 11.0 else 6) == pytest.approx(ticks)


def test_a_scale_may_run_backwards_and_places_its_ends_exactly():
    scale = AxisScale(1.0, 100.0, True, 300.0, 40.0)
    assert scale.at([1.0, 10.0, 100.0]) == pytest.approx([300.0, 170.0, 40.0])


def test_a_line_is_interrupted_where_a_value_is_missing():
    canvas = Canvas(100, 50, "t")
    canvas.line(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, np.nan, 3.0, 4.0]), "red")
    assert 'd="M0.0 0.0L1.0 1.0M3.0 3.0L4.0 4.0"' in canvas.svg()


def test_a_text_that_would_not_fit_is_smaller():
    sizes = []
    for most in (1000.0, 60.0):
        canvas = Canvas(400, 50, "t")
        canvas.text(0, 0, "pie:target=10ms,tupdate=10ms", most=most)
        sizes.append(float(re.findall(r'font-size="([\d.]+)"', canvas.svg())[-1]))
    assert sizes[0] == 12.0 and sizes[1] < 4.0


def test_a_title_that_is_too_wide_takes_two_lines_and_moves_the_rest_down():
    one, two = (Canvas(width, 50, "Delay and utilisation of the link") for width in (400, 200))
    assert (one.height, two.height, two.top - one.top) == (50, 66, 16)
    assert ">Delay and</text>" not in one.svg()
    assert ">Delay and utilisation</text>" in two.svg() and ">of the link</text>" in two.svg()


def test_the_width_of_a_text_is_hardly_less_than_that_in_a_wide_font():
    font_manager = pytest.importorskip("matplotlib.font_manager")
    text_path = pytest.importorskip("matplotlib.textpath").TextPath
    for weight in ("normal", "bold"):
        font = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
        for text in ("pi2:target=20ms,tupdate=30ms", "fq_codel", "pie@ns2", "Delay and goodput"):
            wide = text_path((0, 0), text, size=12, prop=font).get_extents().width
            assert 0.97 * wide <= text_width(text, is_bold=weight == "bold") <= 1.3 * wide, text


def test_a_name_crosses_no_line_and_its_leader_ends_at_a_point():
    dots = {"codel": np.array([[100.0, 100.0], [104.0, 110.0]])}
    bar = (102.0, 60.0, 102.0, 140.0)
    area = Area(0.0, 0.0, 300.0, 200.0)
    (plain,) = placed(dots, {"codel": 20.0}, 12.0, area)
    (found,) = placed(dots, {"codel": 20.0}, 12.0, area, [bar])
    assert plain.at[1] < 140 and plain.leader is None
    x, y = found.at
    assert abs(x - 102.0) > 20.0 or not 60.0 - 6.0 < y < 140.0 + 6.0
    assert found.leader is not None and found.leader[1] in {(100.0, 100.0), (104.0, 110.0)}
    full = [(float(x), 0.0, float(x), 200.0) for x in range(0, 300, 5)]
    (crossing,) = placed(dots, {"codel": 20.0}, 12.0, area, full)
    assert crossing.at == plain.at


@pytest.mark.slow
def test_intervals_end_at_the_edges_of_the_plane():
    svg = charts(comparison(["taildrop", "pie"], seeds=2))["pareto"]["wide"]
    lines = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", svg)
    assert all(0 < float(x) < 640 for line in lines for x in line[::2])
    assert all(28 <= float(y) <= 310 for line in lines for y in line[1::2])


@pytest.mark.slow
def test_every_kind_of_figure_has_a_chart_for_both_widths_with_all_contenders_in_it():
    compared = comparison(seeds=3)
    found = charts(compared)
    assert found.keys() == KINDS.keys()
    for name, by_size in found.items():
        assert by_size.keys() == WIDTHS.keys(), name
        for size, svg in by_size.items():
            root = ElementTree.fromstring(svg)
            texts = ["".join(each.itertext()) for each in root.iter("text")]
            assert set(compared.aqms) <= set(texts), (name, size)
            _, _, width, height = map(float, root.attrib["viewBox"].split())
            assert width == WIDTHS[size]
            places = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"', svg)
            assert all(0 <= float(x) <= width and 0 < float(y) <= height for x, y in places), name
            assert not re.search(r"#[0-9a-fA-F]{6}", svg), "colours are those of the page's theme"


@pytest.mark.slow
def test_two_charts_of_the_same_results_are_the_same_and_one_run_is_enough():
    assert charts(comparison(["pie"], seeds=1)) == charts(comparison(["pie"], seeds=1))


def test_a_name_is_text_and_never_markup():
    canvas = Canvas(400, 50, "Delay at <b>&")
    canvas.text(0, 30, 'pie:"<i>')
    svg = canvas.svg()
    assert svg.count("Delay at &lt;b&gt;&amp;") == 2 and "pie:&quot;&lt;i&gt;" in svg
    assert "<b>" not in svg and "<i>" not in svg


@pytest.mark.slow
def test_a_report_without_figures_in_files_does_not_load_matplotlib(tmp_path):
    text = WITHOUT.format(tests=str(Path(__file__).parent), out=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['report.html', 'comparison.json'] False", done.stderr
    assert 'id="figure-pareto"' in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_width_of_figures_needs_figures(command):
    message = command.refused(
        "compare", "small.toml", "--aqm", "codel,pie", "--size", "column", "--out", "out"
    )
    assert "--size column: is that of figures in files; add --figures" in message


@pytest.mark.slow
def test_the_line_below_the_completion_times_is_within_both_charts():
    for size, svg in charts(comparison(seeds=1))["completion"].items():
        texts = ElementTree.fromstring(svg).iter("text")
        (below,) = (each for each in texts if (each.text or "").startswith("whiskers"))
        half = text_width(below.text or "", float(below.attrib["font-size"])) / 2
        x = float(below.attrib["x"])
        assert half - 0.1 <= x <= WIDTHS[size] - half + 0.1, size
