"""The report: one file without external parts, complete without JavaScript."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest

from sojourn.describing import library
from sojourn.live import page as live_page
from synthetic import AQMS, SIM, comparison

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """Tags, ids and addresses of a page; fails on tags that do not match."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.addresses, self.open = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "action", "data"):
                self.addresses.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module", autouse=True)
def _without_the_live_page(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_page, "FOLDER", tmp_path_factory.mktemp("page"))
        yield


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    comparison(seeds=3).save(folder)
    return folder


@pytest.fixture(scope="module")
def text(saved):
    return (saved / "report.html").read_text(encoding="utf-8")


def test_nothing_comes_from_elsewhere(text):
    page = Page(text)
    assert all(address.startswith("#") or address == "data:," for address in page.addresses)
    assert not re.search(r"(https?:)?//\w", text), "an address of the network"
    assert "@import" not in text
    assert all(found.startswith("#") for found in re.findall(r"url\(([^)]*)\)", text))


def test_the_report_has_no_script_without_the_live_page(text):
    page = Page(text)
    assert "script" not in page.tags
    assert not re.search(r"\son\w+=", text)


@pytest.fixture
def live_files(monkeypatch, tmp_path):
    contents = {"report.js": "// script", "report.css": "/* style */", live_page.ONE_FILE: "<p>"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(live_page, "FOLDER", tmp_path)


def _part(text, name):
    return re.search(rf'<script [^>]*id="{name}">([^<]*)</script>', text)[1]


@pytest.mark.usefixtures("live_files")
def test_with_the_live_page_the_report_holds_it_and_the_curves_of_its_figures(tmp_path):
    compared = comparison(["taildrop", "pie"], seeds=2)
    compared.scenario.document_json = library.load("dumbbell-cubic").document_json
    compared.save(tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert gzip.decompress(base64.b64decode(_part(text, "live-page"))) == b"<p>"
    data = json.loads(_part(text, "report-data"))
    assert data["play"]["aqms"] == ["taildrop", "pie"]
    assert data["play"]["seeds"] == ["1", "2"]
    figures = {figure["name"]: figure for figure in data["figures"]}
    assert set(figures) == {"delay_cdf", "delay_time", "plane", "pareto"}
    curve = figures["delay_cdf"]["curves"][0]
    assert curve["y"] == sorted(curve["y"])
    bands = zip(*(curve[edge] for edge in ("low", "y", "high")), strict=True)
    assert all(low <= y <= high for low, y, high in bands)
    for points in figures["plane"]["curves"]:
        assert points["x"] == sorted(points["x"]) and sorted(points["seeds"]) == [1, 2]
    assert {(run["aqm"], run["seed"]) for run in data["runs"]} == {
        (aqm, seed) for aqm in ("taildrop", "pie") for seed in (1, 2)
    }
    assert data["keys"]["taildrop"] != data["keys"]["pie"]


@pytest.mark.usefixtures("live_files")
def test_axes_are_those_of_the_printed_figures_whatever_the_values(tmp_path):
    for aqms in (["pie", "pi2"], ["taildrop", "fq_codel"]):
        compared = comparison(aqms, seeds=2)
        for name, figure in compared.figures().items():
            (axes, *_) = figure.axes
            scales = (axes.get_xscale(), axes.get_yscale())
            assert scales == AXES[name], (aqms, name)
        compared.save(tmp_path)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        for figure in json.loads(_part(text, "report-data"))["figures"]:
            explored = tuple("log" if figure[axis]["log"] else "linear" for axis in "xy")
            assert explored == AXES[figure["name"]]


@pytest.mark.usefixtures("live_files")
def test_a_run_of_the_kernel_is_not_played(tmp_path):
    compared = comparison(["taildrop", "pie"], seeds=2, accounts=[LINUX])
    compared.scenario.document_json = library.load("dumbbell-cubic").document_json
    compared.save(tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert json.loads(_part(text, "report-data"))["play"] is None


def test_ids_are_unique_and_references_lead_somewhere(text):
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    referred = {address[1:] for address in page.addresses if address.startswith("#")}
    referred |= set(re.findall(r"url\(#([^)]*)\)", text))
    assert referred <= set(page.ids)


def test_figures_follow_light_and_dark(text):
    assert "prefers-color-scheme: dark" in text
    drawings = text[text.index("<svg") : text.rindex("</svg>")]
    assert set(re.findall(r"#[0-9a-fA-F]{6}\b", drawings)) == set()


def test_the_verdict_and_its_figure_come_first_then_conclusions_tables_and_other_figures(text):
    parts = ('class="answer"', 'id="figure-pareto"', "In words", "<table", ">Figures<",
             'id="figure-delay_cdf"', ">Scenario<", ">Manifest<")  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    (answer,) = re.findall(r'<p class="answer">([^<]*)</p>', text)
    assert answer.count(". ") == 0 and answer.endswith(".")
    assert "%" in answer and not re.search(r"\d (%|ms)", answer)
    for aqm in AQMS:
        assert re.search(rf"</svg>\s*{aqm}</th>", text)


AXES = {
    "delay_cdf": ("log", "linear"), "plane": ("log", "linear"), "pareto": ("log", "linear"),
    "delay_time": ("linear", "log"), "completion": ("log", "linear"),
    **dict.fromkeys(("window_time", "rtt_time", "goodput_time"), ("linear", "linear")),
}  # fmt: skip
LINUX = {"engine": "linux", "linux": {"kernel": "6.1.192", "where": "guest, virtual time"}}


@pytest.mark.parametrize(
    ("accounts", "engines"),
    [
        ([SIM], "sim (the packet simulator)"),
        ([LINUX], "linux (the real kernel), kernel 6.1.192, guest, virtual time"),
        (
            [SIM, LINUX],
            "sim (the packet simulator); "
            "linux (the real kernel), kernel 6.1.192, guest, virtual time",
        ),
    ],
)
def test_the_page_names_the_engines_that_ran(tmp_path, accounts, engines):
    comparison(["taildrop", "pie"], seeds=2, accounts=accounts).save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r"<dt>engine</dt><dd>([^<]*)</dd>", page)[1] == engines


def test_text_of_the_user_is_escaped(tmp_path):
    unsafe = comparison(["taildrop", "pie"], seeds=2)
    unsafe.scenario.name = "<script>alert(1)</script>"
    unsafe.scenario.source = "<b>&"
    unsafe.save(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;b&gt;&amp;" in page


def test_every_listed_file_is_there_and_no_other(saved):
    listed = json.loads((saved / "comparison.json").read_text())["files"]
    there = {str(p.relative_to(saved)) for p in saved.rglob("*") if p.is_file()}
    assert there == set(listed)
    assert (saved / "figures" / "plane.png").read_bytes().startswith(b"\x89PNG")


def test_numbers_for_machines_have_no_nan(saved):
    text = (saved / "comparison.json").read_text()
    assert "NaN" not in text
    data = json.loads(text)
    assert data["aqms"] == list(AQMS)
    assert len(data["runs"]) == 3 * len(AQMS)
    assert "queue delay p95" in data["headline_metrics"] and "1 ms" in data["margins"]
    assert data["verdict"].endswith(".")
    assert {"metric", "difference", "low", "high", "p_adjusted"} <= set(data["differences"][0])


def test_saving_twice_gives_the_same_bytes(saved, tmp_path):
    comparison(seeds=3).save(tmp_path)
    for name in ("report.html", "comparison.json", "figures/plane.svg", "figures/plane.png"):
        assert (tmp_path / name).read_bytes() == (saved / name).read_bytes()


def test_a_jupyter_notebook_shows_the_table_and_the_conclusions():
    html = comparison(["taildrop", "pie"], seeds=3)._repr_html_()
    Page(html)
    assert "queue delay p95" in html
    assert "Against taildrop, pie" in html
