"""Bad expectations give one line each, in every way to run them, and no test passes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sojourn import _core
from test_expectations import BAD, GOOD, HOME, NAME, run
from test_pytest_plugin import session

__all__ = ["run", "session"]

PROGRESS = r"\d+ of \d+ runs in .* s"
WITHOUT = BAD.replace('metric = "delay_p95"\n', "")
BOUND = 'below = "1ms"'
CONTRADICTORY = [
    ('below = "1ms"\nabove = "2ms"', "expect[0].below: no value is above 2ms and below 1ms"),
    ('below = "1ms"\nabove = "1ms"', "expect[0].below: no value is above 1ms and below 1ms"),
    ('within = ["3ms", "2ms"]', "expect[0].within: no value is above 3ms and below 2ms"),
    ('within = ["1ms", "2ms"]\nbelow = "3ms"', "expect[0].within: cannot be combined with below"),
    ('equivalent = "5%"\nbelow = "3ms"', "expect[0].equivalent: is a percentage, but below is"),
    ('equivalent = "5%"', "expect[0].equivalent: needs a reference"),
    ('below = "1ms"\nabove = "5%"', "is a percentage, but"),
    ('against = "codel"', "expect[0]: has no bound; write below, above, within, or equivalent"),
    ('below = "0%"\nagainst = "codel"', "expect[0].below: 0% of a reference is meaningless"),
]
SHARE = BAD.replace("delay_p95", "utilisation")
BEYOND = [
    ("above = 50", "expect[0].above: 50 is beyond every value: utilisation is at most 1; 50 perc"),
    ('below = "150%"', "expect[0].below: 150% is beyond every value: utilisation is at most 1"),
    ('equivalent = 5\nagainst = "pie"', "expect[0].equivalent: 5 is beyond every value"),
]
REFUSED = [
    *((SHARE.replace(BOUND, bounds), sentence) for bounds, sentence in BEYOND),
    (WITHOUT, 'expect[0].metric: this key is missing; write for example metric = "delay_p95"'),
    *((BAD.replace(BOUND, bounds), sentence) for bounds, sentence in CONTRADICTORY),
    (GOOD.replace('["pie", "codel"]', "[]"), "expect[0].for: is empty; name AQMs, or leave it out"),
]
# A transfer that ends before counting begins, so its class has no value.
NEVER = BAD.replace("delay_p95", "completion_p50")
OTHER = '[[expect]]\nmetric = "goodput"\nabove = "50%"\nagainst = "baseline"\n'


def one_line(errors: str) -> str:
    assert "Traceback" not in errors
    # In front of it, the terminal may show how many runs were made.
    (line,) = [line for line in errors.splitlines() if not re.fullmatch(PROGRESS, line)]
    return line


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[each for _, each in REFUSED])
@pytest.mark.parametrize("option", ["", "--tap", "--json"])
def test_the_command_refuses_it_in_one_line_and_writes_no_report(run, text, sentence, option):
    done = run(text, *filter(None, [option]), "--junit", "report.xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in one_line(done.stderr), done.stderr
    assert f"{NAME}:" in done.stderr
    assert not (run.folder / "report.xml").exists()


def test_a_report_of_an_earlier_run_does_not_outlive_a_refusal(run):
    assert run(GOOD, "--junit", "report.xml").returncode == 0
    assert run(WITHOUT, "--junit", "report.xml").returncode == 2
    assert not (run.folder / "report.xml").exists()


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[each for _, each in REFUSED])
def test_pytest_collects_it_as_one_line(session, text, sentence):
    (session.folder / NAME).write_text(HOME + text)
    done = session("--junit-xml", "report.xml")
    assert done.returncode == 2, done.stdout
    assert sentence in collected(done.stdout)
    assert "passed" not in done.stdout
    (suite,) = ET.parse(session.folder / "report.xml").getroot()
    assert (suite.get("errors"), suite.get("tests")) == ("1", "1")


def collected(shown: str) -> str:
    """The one line of the only file that could not be collected."""
    assert "Traceback" not in shown
    errors = shown.partition("= ERRORS =")[2].partition("!!!!")[0]
    first, line = [line for line in errors.splitlines() if line.strip("_= ")]
    assert "ERROR collecting" in first
    return line


def test_a_syntax_error_is_one_line_everywhere(run, session):
    (run.folder / NAME).write_text("name = [\n")
    done = run("", head="name = [\n")
    assert done.returncode == 2
    assert f"{NAME}:" in one_line(done.stderr)
    (session.folder / NAME).write_text("name = [\n")
    assert collected(session().stdout).startswith(f"{NAME}:")


def stored(folder: Path, version: str) -> None:
    values = {"class/bulk/goodput": {str(seed): 9e6 for seed in range(1, 41)}}
    content = {"format": 1, "sojourn": version, "values": values}
    (folder / "home.scenario.baseline.json").write_text(json.dumps(content))


def test_a_baseline_of_another_version_passes_nowhere(run, session):
    stored(run.folder, "0.0.0")
    for options in ((), ("--tap",), ("--junit", "report.xml")):
        done = run(OTHER, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "was stored by Sojourn 0.0.0 (format 1)" in one_line(done.stderr)
    assert not (run.folder / "report.xml").exists()
    (session.folder / NAME).write_text(HOME + OTHER)
    stored(session.folder, "0.0.0")
    shown = session().stdout
    assert "1 failed" in shown and "was stored by Sojourn 0.0.0" in shown
    assert "Traceback" not in shown
    stored(session.folder, _core.__version__)
    assert "1 passed" in session().stdout, "of this version it is read"


def test_a_metric_that_no_run_has_passes_nowhere(run, session):
    done = run(GOOD + NEVER, "--tap", "--junit", "report.xml")
    assert (done.returncode, done.stdout) == (2, "")
    sentence = "completion_p50 has no value in any run; class/bulk has "
    assert sentence in one_line(done.stderr)
    (session.folder / NAME).write_text(HOME + GOOD + NEVER)
    shown = session().stdout
    assert "1 failed, 2 passed" in shown and sentence in shown
    assert "Traceback" not in shown


@pytest.fixture
def partly() -> tuple[str, str]:
    """A scenario whose only flow begins after the end in some runs, with an expectation."""
    head = HOME.replace("count = 2", "count = 1").replace("0s..1s", "0s..6s")
    return head, BAD.replace("1ms", "9s")


def test_a_metric_that_some_runs_lack_is_invalid_and_passes_nowhere(run, session, partly):
    head, text = partly
    done = run(text, "--tap", "--junit", "report.xml", head=head)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "not ok 1 - " in done.stdout and "outcome: invalid" in done.stdout
    assert "has no value under " in done.stdout
    (suite,) = ET.parse(run.folder / "report.xml").getroot()
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    (session.folder / NAME).write_text(head + text)
    shown = session().stdout
    assert "1 failed" in shown and "invalid: " in shown and "has no value under " in shown


def test_a_missing_kernel_is_refused_by_the_command_and_skipped_by_pytest(
    run, session, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.folder / "empty"))
    monkeypatch.delenv("SOJOURN_CACHE")
    on_linux = GOOD.replace('["pie", "codel"]', '[{ engine = "linux" }]')
    for options in ((), ("--tap",), ("--junit", "report.xml")):
        done = run(on_linux, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "sojourn kernel build" in one_line(done.stderr)
    (session.folder / NAME).write_text(HOME + on_linux)
    done = session("--junit-xml", "report.xml")
    assert "1 skipped" in done.stdout and "sojourn kernel build" in done.stdout
    (suite,) = ET.parse(session.folder / "report.xml").getroot()
    assert (suite.get("skipped"), suite.get("tests")) == ("1", "1")


def test_a_missing_compiler_is_a_skip_with_the_reason(session, monkeypatch):
    (session.folder / "mine.c").write_text("int mine;\n")
    (session.folder / "test_mine.py").write_text(
        "from sojourn.authoring.build import build\nfrom pathlib import Path\n\n\n"
        "def test_mine(sojourn_run):\n    build(Path('mine.c'))\n"
    )
    monkeypatch.setenv("CC", "no-such-compiler")
    done = session()
    assert "1 skipped" in done.stdout, done.stdout
    assert "`no-such-compiler` is not on this machine; install it" in done.stdout
