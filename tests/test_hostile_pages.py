"""Names that contain markup have no effect on pages in Chromium: escaped, and refused by policy.

Each page is opened twice, as written and without its policy, so neither protection hides a failure
of the other. The live page is tested by web/tests/hostile.test.mjs."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sojourn
from sojourn.comparing.comparison import Comparison
from sojourn.describing.library import load
from sojourn.markup import drawing_in_html, policy
from sojourn.running.result import Result
from synthetic import SIM, SyntheticRun, comparison
from test_authoring import checked
from test_reproduce import TINY

RAN = "document.documentElement.dataset.ran = 1"
# Texts that end a script element in any case, hide its end, leave attributes, or run code.
HOSTILE = f"""</SCRIPT></style><script>{RAN}</script>"'><img src=x onerror="{RAN}"><!--<script>"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
META = re.compile(r'<meta\s+http-equiv="Content-Security-Policy"\s+content="([^"]*)"\s*/?>')

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]


def renamed(value: Any) -> Any:
    """A table, or rows of one, in which the bottleneck and the class of files are hostile."""
    hostile = {"bottleneck": HOSTILE, "web": HOSTILE}
    if isinstance(value, pa.Table):
        rows = value.to_pylist()
        changed = [{k: hostile.get(v, v) for k, v in row.items()} for row in rows]
        return pa.Table.from_pylist(changed)
    return [tuple(hostile.get(cell, cell) for cell in row) for row in value]


def hostile_result(result: Result) -> Result:
    tables = {name: renamed(result.table(name)) for name in ("flows", "states", "histograms")}
    return Result(SyntheticRun(tables, renamed(result.summary_rows), SIM))


def report(folder: Path) -> Path:
    """A report of runs whose scenario, AQM, link and class have hostile names."""
    made = comparison(["taildrop", "pie"], seeds=3)
    scenario = made.scenario
    scenario.name = scenario.source = scenario.origin = HOSTILE
    scenario.sets = [(HOSTILE, HOSTILE)]
    taildrop, pie = ([hostile_result(one) for one in of] for of in made.results.values())
    results = {"taildrop": taildrop, HOSTILE: pie}
    Comparison(scenario, HOSTILE, made.seeds, results, [HOSTILE]).save(folder)
    return folder / "report.html"


def report_that_plays(folder: Path) -> Path:
    """A report of real runs, so it contains the scenario's text and, if built, the live page."""
    text = 'name = "NAME"\n'.replace("NAME", HOSTILE.replace("\\", "\\\\").replace('"', '\\"'))
    source = load("dumbbell-reno").source
    (folder / "hostile.toml").write_text(text + re.sub(r'(?m)^name = "dumbbell.*\n', "", source))
    sets = {"duration": "2s", "warmup": "0s"}
    found = sojourn.compare(folder / "hostile.toml", ["taildrop", "pie"], seeds=2, sets=sets)
    found.save(folder)
    return folder / "report.html"


def study(folder: Path) -> Path:
    pytest.importorskip("altair")
    wanted = {
        "name": HOSTILE, "scenario": "dumbbell-reno", "seeds": 2,
        "metrics": ["queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"],
        "set": {"duration": "1s", "warmup": "0s"},
        "axes": [
            {"name": "aqm", "key": "links.bottleneck.queue", "values": ["pie", "codel"]},
            {"name": "title", "key": "name", "values": [HOSTILE, "plain"]},
        ],
    }  # fmt: skip
    results = sojourn.study.run_study(sojourn.study.parse(wanted), folder / "store", jobs=1)
    from sojourn.study.page import save

    save(results, folder / "study.html")
    return folder / "study.html"


def check(folder: Path) -> Path:
    from sojourn.authoring.check_page import save

    plain = checked()
    own = {HOSTILE if name == "own" else name: grid for name, grid in plain.grid.items()}
    others = {HOSTILE if name == "own" else name: of for name, of in plain.others.items()}
    findings = [replace(one, promise=HOSTILE, detail=HOSTILE) for one in plain.findings]
    save(
        replace(
            plain, law=HOSTILE, doc=HOSTILE, source=HOSTILE, command=HOSTILE, findings=findings,
            aqms=list(own), grid=own, others=others, sentences=[HOSTILE],
        ),
        folder,
    )  # fmt: skip
    return folder / "check.html"


def paper(folder: Path) -> Path:
    return dossier_of(folder) / "tiny.html"


def papers(folder: Path) -> Path:
    return dossier_of(folder) / "index.html"


def dossier_of(folder: Path) -> Path:
    from sojourn.reproduce import dossier, outcome, select
    from sojourn.running.store import Store

    items = tuple(replace(item, title=HOSTILE, note=HOSTILE) for item in TINY.items)
    claims = tuple(replace(claim, what=HOSTILE) for claim in TINY.claims)
    hostile = replace(
        TINY, title=HOSTILE, source=HOSTILE, about=HOSTILE, items=items, claims=claims
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select, "known", lambda: {"tiny": hostile})
        dossier.save(outcome.reproduce(["tiny"], store=Store(folder / "store"), jobs=1), folder)
    return folder


def dom(page: str, folder: Path) -> str:
    """Chromium's document of a page after ten seconds of virtual time."""
    (folder / "opened.html").write_text(page, encoding="utf-8")
    return subprocess.run(
        [CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--virtual-time-budget=10000",
         f"--user-data-dir={folder / 'profile'}", "--dump-dom",
         (folder / "opened.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip


@pytest.fixture(scope="module", params=[report, report_that_plays, study, check, paper, papers])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    make: Callable[[Path], Path] = request.param
    return make(tmp_path_factory.mktemp(make.__name__)).read_text(encoding="utf-8")


def test_a_name_that_is_markup_is_text(page: str, tmp_path: Path) -> None:
    assert RAN in page.replace("\\u003c", "<")
    for text in (page, META.sub("", page)):
        found = dom(text, tmp_path)
        markup = re.sub(r"<script\b.*?</script>", "", found, flags=re.DOTALL)
        assert "data-ran" not in found
        assert "<img" not in markup


def test_the_policy_of_a_page_refuses_the_network_and_foreign_scripts(
    page: str, tmp_path: Path
) -> None:
    (found,) = META.findall(page[: page.index("<body")])
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(found).split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert not re.search(r"https?:|\*|'self'|'unsafe-(eval|hashes)'", html.unescape(found))
    assert "unsafe-inline" not in rules.get("script-src", "")
    assert [name for name in rules if "unsafe-inline" in rules[name]] == ["style-src"]
    foreign = f"<script>{RAN}</script><img src=x onerror='{RAN}'></body>"
    place = page.rindex("</body>")
    infected = page[:place] + foreign + page[place + len("</body>") :]
    assert "data-ran" not in dom(infected, tmp_path)
    assert 'data-ran="1"' in dom(META.sub("", infected), tmp_path)


def test_a_drawing_may_have_any_text_but_no_active_element() -> None:
    text = "<svg><text>&lt;img src=x onerror=alert(1)&gt;</text></svg>"
    assert drawing_in_html(text) == text
    for active in ("<img src=x onerror=alert(1)>", "<script>", '<a href="https://example.org">'):
        with pytest.raises(ValueError, match="which no page may hold"):
            drawing_in_html(f"<svg>{active}</svg>")


def test_a_policy_names_programs_by_their_content() -> None:
    one, other = policy(["a()"]), policy(["b()"], "'wasm-unsafe-eval'", "worker-src blob:")
    assert one.startswith("default-src 'none'; script-src 'sha256-")
    assert one.split("; ")[1] != other.split("; ")[1]
    assert "'wasm-unsafe-eval'" in other.split("; ")[1] and other.endswith("; worker-src blob:")
    assert "script-src" not in policy()
