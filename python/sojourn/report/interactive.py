"""The parts of a report that need JavaScript: figures to explore, runs to play.

The script and the live page are built by `make web`; an installation without them writes reports
without this part, and a browser without JavaScript does not show it.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn.comparing.compared_runs import ComparedRuns
from sojourn.errors import InputError, ScenarioError
from sojourn.live import page
from sojourn.live.texts import written
from sojourn.markup import json_in_html, policy, script_in_html, style_in_html
from sojourn.report import curves
from sojourn.report.keys import keys

if TYPE_CHECKING:
    from markupsafe import Markup

_MODULE = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)


def parts(comparison: ComparedRuns) -> dict[str, Markup | str] | None:
    """Script, style, data and live page of a report; None if `make web` has not run."""
    if not (page.FOLDER / "report.js").is_file():
        return None
    play = _play(comparison)
    data = {
        "keys": {aqm: asdict(each) for aqm, each in keys(comparison.aqms).items()},
        "figures": curves.figures(comparison),
        "runs": curves.runs(comparison),
        "link": comparison.link,
        "play": play,
    }
    whole = _live_page() if play else ""
    return {
        "data": json_in_html(data),
        "page": base64.b64encode(gzip.compress(whole.encode(), mtime=0)).decode() if play else "",
        "script": script_in_html((page.FOLDER / "report.js").read_text(encoding="utf-8")),
        "style": style_in_html((page.FOLDER / "report.css").read_text(encoding="utf-8")),
    }


def policy_of(parts: dict[str, Markup | str]) -> str:
    """The policy of a report with these parts.

    A page opened from a blob inherits the policy of its opener, so this policy allows what the live
    page needs: its own program, a worker, WebAssembly.
    """
    if not parts["page"]:
        return policy([parts["script"]])
    programs = [parts["script"], *_MODULE.findall(_live_page())]
    return policy(programs, "'wasm-unsafe-eval'", "worker-src blob:")


def _live_page() -> str:
    return (page.FOLDER / page.ONE_FILE).read_text(encoding="utf-8")


def _play(comparison: ComparedRuns) -> dict[str, Any] | None:
    """The data with which the live page repeats a run; None if it cannot, as with a custom law.

    Only runs of the engine `sim` are repeated: the page has no other engine.
    """
    runs = [run for aqm in comparison.aqms for run in comparison.of(aqm)]
    if not runs or {run.manifest.get("engine") for run in runs} != {"sim"}:
        return None
    try:
        text = written(comparison.scenario)
        for aqm in comparison.aqms:
            _core.Scenario.load(text, sets=[(f"links.{comparison.link}.queue", json.dumps(aqm))])
    except (InputError, ScenarioError):
        return None
    return {
        "text": text,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "seeds": [str(seed) for seed in comparison.seeds],
    }
