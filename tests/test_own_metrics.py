"""Custom metrics, figures in the user's style, comparisons read back."""

import os
import sys

import matplotlib as mpl
import numpy as np
import pytest

import sojourn
from sojourn.cli import main
from sojourn.comparing.own_metrics import bring_metrics
from sojourn.errors import InputError
from sojourn.plots import style

METRIC = '''"""A metric for the tests."""

import numpy as np

import sojourn


@sojourn.metric(unit="s", better="lower", doc="Largest change of queue delay")
def worst_change(result):
    rows = result.states.to_pylist()
    return np.nanmax(np.abs(np.diff([r["value"] for r in rows if r["var"] == "delay_mean"])))


def plain(result):
    return 1.0
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A user's folder with a custom metric."""
    (tmp_path / "mine.py").write_text(METRIC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A comparison with its folder."""
    folder = tmp_path_factory.mktemp("saved")
    sets = {"duration": "6s", "warmup": "1s"}
    comparison = sojourn.compare("dumbbell-reno", ["taildrop", "codel"], 2, sets=sets, out=folder)
    comparison.save(folder)
    return comparison, folder


@sojourn.metric(unit="1", doc="A constant")
def two(result):
    return 2.0


@pytest.mark.slow
def test_a_metric_of_ones_own_is_estimated_tested_and_exploratory(mine, saved):
    comparison, folder = saved
    again = sojourn.Comparison.open(folder, metrics=["mine.py:worst_change", two])
    rows = {(row["metric"], row["aqm"]): row for row in again.table().to_pylist()}
    name = f"own/{comparison.link}/worst_change"
    assert rows[name, "taildrop"]["n"] == 2
    assert rows[name, "taildrop"]["unit"] == "s"
    test = next(row for row in again.differences().to_pylist() if row["metric"] == name)
    assert test["family"] == "exploratory"
    assert rows[f"own/{comparison.link}/two", "codel"]["mean"] == 2.0


def test_the_command_shows_a_metric_of_ones_own(mine, capsys):
    words = "compare dumbbell-reno --aqm taildrop,codel --seeds 2 --metric mine.py:worst_change"
    assert main([*words.split(), "--set", "duration=6s", "--set", "warmup=1s"]) == 0
    assert "worst_change [ms]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("mine.py:plain", "decorated with sojourn.metric"),
        ("mine.py:other", "it has worst_change"),
        ("mine.py", "name a function in a file"),
        ("no.py:metric", "no.py: no such file"),
    ],
)
def test_a_metric_that_is_none_is_refused_with_what_would_be_right(mine, wanted, sentence):
    with pytest.raises(InputError, match=sentence):
        bring_metrics([wanted])


def test_a_metric_says_its_unit_and_its_failure_names_metric_and_run(saved):
    with pytest.raises(InputError, match="say its unit"):
        sojourn.metric(unit="", doc="nothing")
    broken = sojourn.metric(unit="1", doc="Broken")(lambda result: 1 / 0)
    with pytest.raises(InputError, match=r"metric <lambda>, .*seed \d+.*ZeroDivisionError"):
        broken(saved[0].of("codel")[0])


def test_a_metric_that_ends_the_process_is_a_metric_that_fails(saved):
    ends = sojourn.metric(unit="1", doc="Ends")(lambda result: sys.exit(5))
    with pytest.raises(InputError, match=r"metric <lambda>, .*SystemExit: 5"):
        ends(saved[0].of("codel")[0])
    at_once = sojourn.metric(unit="1", doc="Ends")(lambda result: os._exit(0))
    with pytest.raises(InputError, match=r"SystemExit: it called os\._exit\(0\)"):
        at_once(saved[0].of("codel")[0])


@pytest.mark.slow
def test_a_comparison_is_read_back_and_drawn_again_without_running(saved, tmp_path):
    comparison, folder = saved
    again = sojourn.Comparison.open(folder)
    # As text, because NaN, a missing value, is not equal to itself.
    assert repr(again.table().to_pydict()) == repr(comparison.table().to_pydict())
    again.save(tmp_path / "again", formats=("pdf", "svg"), size="column")
    names = {path.name for path in (tmp_path / "again" / "figures").iterdir()}
    assert {"delay_cdf.pdf", "delay_cdf.svg", "plane.pdf", "plane.svg"} <= names
    with pytest.raises(InputError, match="has no comparison"):
        sojourn.Comparison.open(tmp_path)


def test_the_repr_of_a_comparison_is_its_table(saved):
    shown = repr(saved[0])
    assert "queue delay p95" in shown
    assert "taildrop" in shown
    assert "codel" in shown


def test_figures_honour_what_the_user_has_set(saved):
    with mpl.rc_context({"font.size": 14.0}), style.styled():
        assert mpl.rcParams["font.size"] == 14.0
        assert not mpl.rcParams["axes.spines.top"], "what she has not set is ours"
    with style.styled():
        assert mpl.rcParams["font.size"] == 9.0
    with style.sized("column"):
        drawing, _ = style.new(2.0, "A title")
    assert drawing.get_figwidth() == pytest.approx(3.5)


def test_fourteen_contenders_have_fourteen_distinct_colours():
    names = [f"law{i}" for i in range(14)]
    colours = style.colours(names)
    rgb = np.array([mpl.colors.to_rgb(colours[name]) for name in names])
    distances = np.abs(rgb[:, None] - rgb[None, :]).sum(axis=2) + 9 * np.eye(14)
    assert distances.min() > 0.2


def test_an_unknown_format_or_size_is_refused_before_the_work(capsys, tmp_path):
    out = ["--out", str(tmp_path / "o")]
    run = ["compare", "dumbbell-reno", "--aqm", "codel", *out, "--format", "svg,gif"]
    assert main(run) == 2
    assert "--format gif: is not one of svg, png, pdf, pgf" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
