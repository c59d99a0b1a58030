"""The page of a study: self-contained, with the table's values; a click selects a point."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

import sojourn
from sojourn.comparing.statistics import Estimate
from sojourn.errors import InputError
from sojourn.study.page import page as pages
from sojourn.study.page.charts import front
from sojourn.study.page.differences import Differences, differences, verdicts
from sojourn.study.page.metric_axes import metric_axis, robust_ends
from sojourn.study.page.page import save
from sojourn.study.page.predicted import phase_margins_deg
from sojourn.study.points import resolve

DELAY, USED = "queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"
# Ends a script element in any case of its letters, and starts what hides the end of one.
HOSTILE = "a </SCRIPT><script>document.title = 'run'</script><!--<script> study"
STUDY = {
    "name": HOSTILE, "scenario": "dumbbell-reno", "metrics": [DELAY, USED], "seeds": 2,
    "set": {"name": HOSTILE, "duration": "1s", "warmup": "0s"},
    "axes": [
        {"name": "aqm", "key": "links.bottleneck.queue", "values": ["pie", "codel"]},
        {"name": "flows", "key": "flows.bulk.count", "values": [1, 10, 2]},
        {"name": "rtt", "key": "flows.bulk.rtt", "values": ["100ms", "60ms"]},
        {"name": "cc", "key": "flows.bulk.cc", "values": ["reno", "cubic"]},
    ],
}  # fmt: skip
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# A click as a user makes it, once the figures are drawn, on a cell of the first heat map.
CLICK = """<script>
const looking = setInterval(() => {
  const cells = document.querySelectorAll("#m0-1 .mark-rect.role-mark path");
  if (!document.body.dataset.drawn || !cells.length) return;
  clearInterval(looking);
  for (const type of ["mousedown", "mouseup", "click"])
    cells[CELL].dispatchEvent(new MouseEvent(type, { bubbles: true }));
}, 50);
</script>"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    pytest.importorskip("altair")
    folder = tmp_path_factory.mktemp("page")
    results = sojourn.study.run_study(
        sojourn.study.parse(STUDY), folder / "s", executor=ThreadPoolExecutor(2)
    )
    save(results, folder / "s.html")
    return results, (folder / "s.html").read_text()


def of(page, name):
    return json.loads(re.search(rf'<script [^>]*id="{name}">([^<]*)</script>', page)[1])


@pytest.mark.slow
def test_the_page_needs_no_network_and_has_every_point_with_scenario_series_and_command(made):
    results, page = made
    markup = re.sub(
        r"<script\b[^>]*>.*?</script>", "<script>", page, flags=re.DOTALL | re.IGNORECASE
    )
    assert "src=" not in markup
    assert re.findall("href=[^>]*", markup) == ['href="data:,"']
    assert f"<title>{html.escape(HOSTILE).replace('&#x27;', '&#39;')}</title>" in page
    points = of(page, "points")
    assert len(points) == 24
    assert points["8"]["label"] == "aqm pie, flows 2, rtt 100ms, cc reno"
    assert "--set flows.bulk.count=2" in points["8"]["command"]
    assert "count = 2" in points["8"]["scenario"]
    delay = results.estimates()[8].estimates[DELAY]
    title = "queue delay p95 of bottleneck (ms)"
    assert points["8"]["numbers"][0][:2] == [title, f"{1e3 * delay.mean:.4g}"]
    series = points["8"]["series"]
    assert len(series["delay_ms"]) == len(series["rate_mbps"]) > 200
    assert max(filter(None, series["rate_mbps"])) == pytest.approx(10.0, rel=0.3)


@pytest.mark.slow
def test_predicted_and_observed_have_the_same_axes(made):
    _, page = made
    predicted, observed = (of(page, "specs")[f"stability-{i}"] for i in (0, 1))
    for channel in ("x", "y"):
        assert predicted["spec"]["encoding"][channel] == observed["spec"]["encoding"][channel]
    assert predicted["facet"]["sort"] == observed["facet"]["sort"] == ["pie"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_click_on_a_cell_selects_its_point_in_every_figure_and_opens_it(made, tmp_path):
    _, page = made
    # The click is a script that the page's own policy would refuse.
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    (allowed,) = re.findall(r"script-src ([^;]*);", policy)
    assert "unsafe" not in allowed and allowed.count("sha256-") == 2
    clicked = page.replace(html.escape(allowed).replace("&#x27;", "&#39;"), "'unsafe-inline'", 1)
    assert clicked != page
    (tmp_path / "click.html").write_text(clicked + CLICK.replace("CELL", "3"))
    found = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
         (tmp_path / "click.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    chosen = re.search(r'<body [^>]*data-shown="(\d+)"', found)[1]
    point = of(page, "points")[chosen]
    # The maps show one congestion control; the cell belongs to the first one.
    assert point["label"].endswith("cc reno")
    shown = found[found.index('id="point"') :]
    assert f"<td>{point['numbers'][0][1]}</td>" in shown
    assert point["command"].split(" --set")[0] in shown
    assert "count = " in shown
    assert "mark-line" in shown[: shown.index("<summary>")]
    # The hostile name of the study is text everywhere.
    assert "<title>run</title>" not in found
    assert found.lower().count("<script") == 7
    # In the parallel axes its line is thicker than the others.
    parallel = found[found.index('id="parallel"') : found.index('id="trade-off"')]
    assert parallel.count('stroke-width="4"') == 1


@pytest.mark.slow
def test_a_study_without_runs_or_with_too_many_points_has_no_page(made, tmp_path, monkeypatch):
    results, _ = made
    store = sojourn.study.storage.StudyStore(sojourn.study.folder.open_folder(tmp_path))
    with pytest.raises(InputError, match="no run is there yet"):
        save(sojourn.study.Results(sojourn.study.parse(STUDY), store), tmp_path / "s.html")
    monkeypatch.setattr(pages, "MOST_POINTS", 23)
    with pytest.raises(InputError, match=r"24 points are more than the 23.*--where AXIS=VALUE"):
        save(results, tmp_path / "s.html")
    save(results.where({"rtt": "60ms"}), tmp_path / "s.html", with_series=False)
    page = (tmp_path / "s.html").read_text()
    assert "24 runs at 12 of 24 points" in page
    assert len(of(page, "data")["points"]) == 12


def test_a_margin_is_predicted_where_the_model_has_the_aqm_and_the_traffic():
    study = sojourn.study.parse(STUDY)
    found = resolve(study)
    margins = phase_margins_deg(found, "bottleneck")
    assert {found[i].point.values["aqm"] for i in margins} == {"pie"}
    of_point = {found[i].point.label: margin for i, margin in margins.items()}
    few, many = (of_point[f"aqm pie, flows {n}, rtt 100ms, cc reno"] for n in (1, 10))
    assert few < many


def test_other_traffic_has_no_prediction():
    study = sojourn.study.parse(
        {"name": "s", "scenario": "onoff", "metrics": [DELAY],
         "axes": [{"name": "aqm", "key": "links.bottleneck.queue", "values": ["pie"]}]}
    )  # fmt: skip
    assert phase_margins_deg(resolve(study), "bottleneck") == {}


def test_a_scale_is_logarithmic_for_wide_metrics_but_not_where_an_interval_reaches_zero():
    wide = [Estimate(0.001, 0.0005, 5), Estimate(1.0, 0.1, 5)]
    assert metric_axis(DELAY, "s", wide).title == "queue delay p95 of bottleneck (ms)"
    assert metric_axis(DELAY, "s", wide).has_log_ends
    at_zero = metric_axis(DELAY, "s", [*wide, Estimate(0.1, 0.2, 5)])
    assert (at_zero.is_log, at_zero.has_log_ends) == (True, False)
    assert not metric_axis(USED, "1", [Estimate(0.5, 0.1, 5), Estimate(1.0, 0.1, 5)]).is_log


def test_an_outlier_does_not_stretch_a_scale_of_colours():
    values = [float(i) for i in range(20)]
    assert robust_ends([*values, 1e6]) == (1.0, 19.0)
    assert robust_ends([3.0, 5.0]) == (3.0, 5.0)
    assert robust_ends([4.0] * 20) == (4.0, 4.0)


@pytest.mark.slow
def test_aqms_are_tested_against_the_first_at_every_point_of_the_other_axes(made):
    results, page = made
    delays, used = differences(results, [metric_axis(DELAY, "s", []), metric_axis(USED, "1", [])])
    assert (delays.baseline, delays.aqms, delays.where) == ("pie", ["codel"], "flows, rtt, cc")
    assert len(delays.rows) == len(used.rows) == 12
    here = {"flows": 1, "rtt": "100ms", "cc": "reno"}
    numbers = results.numbers([DELAY])
    of = {
        each.point.values["aqm"]: [1e3 * numbers[run][DELAY] for run in each.addresses(2)]
        for each in results.points
        if here.items() <= each.point.values.items()
    }
    mean = (sum(of["codel"]) - sum(of["pie"])) / 2
    (row,) = [row for row in delays.rows if row.label == "flows 1, rtt 100ms, cc reno"]
    shown = float(row.cells[0].text.partition(" ")[0].replace("−", "-"))
    assert shown == pytest.approx(mean, abs=0.51)
    assert "queue delay p95 of bottleneck (ms): differences from pie" in page
    assert delays.summary.startswith("Paired by seed, with 95 % intervals. Of 12 differences")


def test_the_page_begins_with_a_verdict_on_each_aqm():
    def table(title, *counts):
        return Differences(title, "flows", "taildrop", ["codel", "pie"], [], "", list(counts))

    assert verdicts([
        table("queue delay p95 of bottleneck (ms)", (5, 0, 6), (2, 1, 6)),
        table("utilisation of bottleneck (%)", (0, 0, 6), (0, 0, 6)),
    ]) == [
        "Against taildrop, codel lowers queue delay p95 of bottleneck at 5 of 6 points; shows no "
        "significant difference in utilisation of bottleneck.",
        "Against taildrop, pie lowers queue delay p95 of bottleneck at 2 of 6 points; raises queue "
        "delay p95 of bottleneck at 1 of 6 points; shows no significant difference in utilisation "
        "of bottleneck.",
    ]  # fmt: skip
    assert verdicts([table("a", (0, 0, 0), (0, 0, 0))])[0] == (
        "codel has too few seeds to be compared with taildrop."
    )
    assert verdicts([]) == []


def test_the_front_has_what_no_other_beats_in_both():
    pairs = [(1.0, 0.8), (2.0, 0.9), (2.0, 0.8), (None, 1.0)]
    assert front(pairs, [DELAY, USED]) == [True, True, False, False]
