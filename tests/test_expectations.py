"""`sojourn test`: decisions, reports and errors."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from guests import needs_kernel
from sojourn.testing import expectations, figure
from sojourn.testing.decisions import Decision
from sojourn.testing.remedies import commands

HOME = """name = "home"
duration = "4s"
warmup = "1s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
buffer = "200p"
queue = "pie"
[[flows]]
name = "bulk"
count = 2
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "bulk" }
"""
GOOD = """[[expect]]
metric = "goodput"
above = "5mbit"
for = ["pie", "codel"]
"""
BAD = """[[expect]]
metric = "delay_p95"
below = "1ms"
"""
NAME = "home.scenario.toml"


@pytest.fixture
def run(command, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setenv("SOJOURN_CACHE", str(command.folder / "cache"))

    def run(text, *options, head=HOME):
        (command.folder / NAME).write_text(head + text)
        return command("test", NAME, *options)

    run.folder = command.folder
    return run


def test_expectations_that_hold_pass_for_every_case(run):
    done = run(GOOD)
    assert done.returncode == 0, done.stderr
    assert "goodput of bulk above 5mbit (pie)" in done.stdout
    assert "goodput of bulk above 5mbit (codel)" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 passed"


def test_a_failure_comes_first_with_two_commands_that_show_it(run):
    done = run(GOOD + BAD)
    first, live, diff, *_ = done.stdout.splitlines()
    assert done.returncode == 1
    assert first.startswith(f"failed     {NAME}:20: delay_p95 of bottleneck below 1ms: ")
    assert first.endswith("8 seeds")
    assert live.split()[:3] == ["sojourn", "live", NAME]
    assert diff.split()[:2] == ["sojourn", "diff"]


def test_a_doubtful_experiment_is_warned_of_once_in_text_and_data(run):
    idle = HOME.replace('rtt = "40ms"', 'rtt = "40ms"\naccess_rate = "1mbit"')
    met = BAD.replace('"1ms"', '"1s"')
    done = run(met, head=idle)
    assert (done.returncode, done.stderr.count("no AQM had anything to do")) == (0, 1)
    (found,) = json.loads(run(met, "--json", head=idle).stdout)
    assert len(found["warnings"]) == 1


def test_a_value_that_no_seed_changes_has_no_interval(run):
    head = HOME.replace('start = "0s..1s"', 'start = "0s"').replace('"pie"', '"codel"')
    done = run(BAD, head=head)
    assert ", the same under each of 8 seeds" in done.stdout.splitlines()[0]
    assert " to " not in done.stdout.splitlines()[0]


def test_what_more_seeds_could_decide_is_undecided_at_the_most_seeds(run):
    done = run(undecided(run, 3))
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "1 undecided"


def test_a_reference_is_another_aqm_under_the_same_seeds(run):
    done = run('[[expect]]\nmetric = "delay_mean"\nbelow = "80%"\nagainst = "taildrop"\n')
    assert done.returncode == 0, done.stdout
    assert "% of taildrop" in done.stdout
    same = run('[[expect]]\nmetric = "delay_mean"\nbelow = "80%"\nagainst = "pie"\n')
    assert same.returncode == 2
    assert f"{NAME}:19: expect[0].against: pie is compared with itself" in same.stderr


def test_a_baseline_is_read_as_any_other_file(run):
    text = BAD.replace('"1ms"', '"200%"') + 'against = "baseline"\n'
    stored = run.folder / "home.scenario.baseline.json"
    stored.write_text("[" * 50_000)
    deep = run(text)
    stored.unlink()
    os.mkfifo(stored)
    pipe = run(text)
    assert (deep.returncode, pipe.returncode) == (2, 2)
    assert "is not a baseline, or is damaged" in deep.stderr
    assert "is not a regular file" in pipe.stderr


def test_a_doubled_target_is_found_against_the_stored_baseline(run):
    text = '[[expect]]\nmetric = "delay_p50"\nof = "bottleneck"\nequivalent = "10%"\n'
    text += 'against = "baseline"\nmax_seeds = 12\n'
    missing = run(text)
    assert missing.returncode == 2
    assert "no baseline is stored; store one with" in missing.stderr
    assert run(text, "--update-baseline").returncode == 0
    assert run(text).returncode == 0
    regressed = HOME.replace('"pie"', '"pie:target=30ms"')
    assert run(text, head=regressed).returncode == 1
    stored = run.folder / "home.scenario.baseline.json"
    stored.write_text(stored.read_text().replace('"sojourn": "', '"sojourn": "0.0.0-'))
    other = run(text)
    assert other.returncode == 2
    assert "was stored by Sojourn 0.0.0-" in other.stderr


def test_reports_for_machines_say_the_same(run, monkeypatch):
    summary = run.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = run(GOOD + BAD, "--tap", "--github", "--junit", "report.xml")
    assert done.stdout.startswith("TAP version 14\n1..3\nnot ok 1 - ")
    assert f"::error file={NAME},line=20,title=delay_p95" in done.stderr
    assert "### 1 failed, 2 passed" in summary.read_text()
    root = ET.parse(run.folder / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    (failure,) = root.iter("failure")
    assert failure.get("message").startswith("failed: ")


def test_what_did_not_pass_can_be_chosen_and_a_name_too(run):
    assert run(GOOD + BAD).returncode == 1
    again = run(GOOD + BAD, "--last-failed")
    assert again.stdout.splitlines()[-1] == "1 failed"
    assert run(GOOD + BAD, "-k", "codel").stdout.splitlines()[-1] == "1 passed"
    assert "-k nothing: matches no name" in run(GOOD + BAD, "-k", "nothing").stderr


def undecided(run, max_seeds):
    """An expectation whose bound is the value that a few seeds give."""
    text = '[[expect]]\nmetric = "goodput"\nabove = "5mbit"\nmax_seeds = 3\n'
    (found,) = json.loads(run(text, "--json").stdout)
    bound = round(found["centre"] / 1e6, 6)
    return text.replace("5mbit", f"{bound}mbit").replace("= 3", f"= {max_seeds}")


def test_x_ends_at_the_first_failure_and_says_what_it_left(run):
    text = undecided(run, 12) + BAD
    done = run(text, "-x")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "1 failed"
    assert "ended at a failure; 1 are not decided (-x)" in done.stderr
    assert run(text).stdout.splitlines()[-1] == "1 failed, 1 undecided"


def test_what_is_undecided_is_not_ok_in_reports(run):
    done = run(undecided(run, 3), "--tap", "--junit", "report.xml")
    assert done.returncode == 3
    assert "not ok 1 - " in done.stdout and "outcome: undecided" in done.stdout
    (suite,) = ET.parse(run.folder / "report.xml").getroot()
    assert (suite.get("errors"), suite.get("skipped")) == ("1", "0")
    assert suite.find("testcase/error").get("type") == "undecided"


def test_a_run_without_a_value_to_compare_is_invalid(run):
    # Two flows of at most 25 packets never fill a buffer of 200, so taildrop drops nothing.
    head = HOME.replace('kind = "bulk"', 'kind = "bulk", bytes = "30kB"').replace('"1s"', '"0s"')
    text = '[[expect]]\nmetric = "drop_rate"\nbelow = "90%"\nagainst = "taildrop"\n'
    done = run(text, head=head)
    assert done.returncode == 4, done.stdout
    assert done.stdout.startswith(f"invalid    {NAME}:16: ")
    assert "taildrop has 0 under seed 1" in done.stdout


def test_a_folder_stands_for_its_scenarios(command, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    inner = command.folder / "tests" / "inner"
    inner.mkdir(parents=True)
    assert "tests: has no file *.scenario.toml" in command.refused("test", "tests")
    (inner / "one.scenario.toml").write_text(HOME + GOOD)
    (inner.parent / "two.scenario.toml").write_text(HOME + GOOD)
    (inner.parent / "other.toml").write_text("not a scenario")
    done = command("test", "tests", "-k", "codel")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2 passed"
    assert f"tests/inner/one.scenario.toml:{HOME.count(chr(10)) + 1}" in done.stdout


def test_a_kernel_is_refused_where_it_is_missing_or_nothing_runs_on_it(run):
    unused = run(GOOD, "--kernel", "6.1")
    assert unused.returncode == 2
    assert "--kernel: only engine linux has a kernel" in unused.stderr
    missing = run(GOOD, "--engine", "linux", "--kernel", "./nowhere")
    assert missing.returncode == 2
    (sentence,) = missing.stderr.splitlines()
    assert "--kernel nowhere: is not a program" in sentence


def test_the_commands_that_show_a_failure_name_its_kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(HOME + BAD)
    (found,) = expectations.read(NAME, engine="linux", options={"kernel": Path("fixed")})
    shown, engines = commands(Decision(found, "failed"))
    assert shown == f"sojourn run {NAME} --engine linux --kernel fixed --seed 1"
    assert engines.endswith("--engine sim,linux --kernel fixed")


def test_a_transport_library_is_tested_and_named_in_the_commands_that_show_a_failure(run):
    quic = HOME.replace("app = {", 'transport = "quic"\napp = {')
    failed = run(f"{BAD}max_seeds = 2\nconfidence = 0.5\n", "--endpoint", "quic=quinn", head=quic)
    assert failed.returncode == 1, failed.stderr
    assert f"sojourn run {NAME} --endpoint quic=quinn --seed " in failed.stdout
    assert f"{NAME} --aqm pie:limit=200p,taildrop --endpoint quic=quinn" in failed.stdout
    assert "no library is given for `quic`" in run(GOOD, head=quic).stderr
    done = run(GOOD, "--endpoint", "tcp=smoltcp", head=quic)
    assert done.returncode == 2 and "tcp=smoltcp: no flows have this transport" in done.stderr


def test_bisection_skips_what_is_not_decided_and_stops_at_bad_input(run):
    codes = [
        run(text, "--bisect", *options).returncode
        for text, options in (
            (GOOD, ()),
            (BAD, ()),
            (undecided(run, 3), ()),
            (GOOD, ("--engine", "linux", "--kernel", "./linux")),
            (GOOD.replace("goodput", "godput"), ()),
        )
    ]
    assert codes == [0, 1, 125, 125, 128]


def test_an_engine_is_no_reference_for_itself(run):
    done = run(GOOD.replace('"5mbit"', '"90%"') + 'against = "sim"\n')
    assert done.returncode == 2
    assert "expect[0].against: sim is compared with itself; name another engine" in done.stderr


@needs_kernel
@pytest.mark.nightly
def test_a_reference_may_be_another_engine(run):
    text = '[[expect]]\nmetric = "goodput"\nagainst = "linux"\nfor = ["codel"]\nmax_seeds = 8\n'
    done = run(text + 'equivalent = "10%"\n')
    assert done.returncode == 0, done.stderr + done.stdout
    done = run(text + 'below = "50%"\n')
    assert done.returncode == 1, done.stderr + done.stdout
    first, show, compare, *_ = done.stdout.splitlines()
    assert "% of linux" in first and show.split()[:2] == ["sojourn", "run"]
    assert "--engine linux,sim" in compare


@needs_kernel
def test_an_expectation_is_decided_on_the_kernel_that_is_named(run):
    text = GOOD + "max_seeds = 4\n"
    done = run(text, "--engine", "linux", "--kernel", "6.1", "-k", "codel")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "(codel on linux)" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{NAME}: has no [[expect]]"),
        (BAD.replace("p95", "p59"), "expect[0].metric: unknown metric `delay_p59`"),
        (BAD + "max_seeds = 1\n", "expect[0].max_seeds: no interval of 95 %"),
        (BAD + BAD, "is expected twice; remove one"),
        (BAD.replace("delay_p95", "completion_p50"), "has no value in any run"),
        (BAD + 'for = [{ set = { "links.x.rate" = "1mbit" } }]\n', "unknown link `x`"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(run, text, message):
    done = run(text)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def drawn(summary):
    """The lines of the figure, and the outcome of each of its rows."""
    _, fence, rest = summary.partition("```text\n")
    text, closing, after = rest.partition("```\n")
    assert fence and closing and not after, summary
    lines = text.splitlines()
    outcomes = ("passed", "failed", "undecided", "invalid")
    return lines, {line: line.split()[0] for line in lines if line.startswith(outcomes)}


def test_the_step_summary_draws_each_interval_against_its_bound(run, monkeypatch):
    summary = run.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    within = '[[expect]]\nmetric = "delay_mean"\nwithin = ["5ms", "40ms"]\nmax_seeds = 8\n'
    cases = 'for = ["pie", "codel", "taildrop"]\n'
    found = json.loads(run(within + cases, "--json", "--github").stdout)
    lines, rows = drawn(summary.read_text())
    assert lines[2] == f"delay_mean of bottleneck within 5ms to 40ms: {NAME}:16"
    assert len(rows) == 3
    values = {each["name"].rpartition("(")[2].rstrip(")"): each for each in found}
    (scale,) = [line for line in lines[3:] if line.endswith(" ms")]
    margin = max(map(len, values)) + 13
    low, high = (float(text) for text in scale.removesuffix(" ms").split())

    def column(value):
        return margin + (1e3 * value - low) / (high - low) * (figure.WIDTH - 1)

    for line, outcome in rows.items():
        label = line.split()[1]
        value = values[label]
        assert outcome == value["outcome"]
        assert abs(line.index("●") - column(value["centre"])) <= 1, line
        bounds = [at for at, each in enumerate(line) if each == "┃"]
        assert len(bounds) == 2
        assert all(abs(at - column(b)) <= 1 for at, b in zip(bounds, (5e-3, 40e-3), strict=True))
        is_inside = bounds[0] <= line.index("●") <= bounds[1]
        assert is_inside == (outcome == "passed")
        if "┤" in line:  # else at the bound
            assert abs(line.index("┤") - column(value["high"])) <= 1, line


def test_the_figure_cannot_be_ended_by_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(HOME + BAD)
    (found,) = expectations.read(NAME)
    variant = replace(found.variant, aqm="````\n<img>")
    text = figure.draw([Decision(replace(found, variant=variant), "invalid", reason="no value")])
    first, *_, last = text.splitlines()
    assert (first, last) == ("`````text", "`````")
    assert "invalid    ```` <img>" in text


def test_reports_have_the_seconds_of_each_case_whose_sum_is_the_suite(run):
    before = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    done = run(GOOD + BAD, "--json", "--fresh", "--junit", "report.xml")
    root = ET.parse(run.folder / "report.xml").getroot()
    (suite,) = root
    cases = [Decimal(case.get("time")) for case in suite.iter("testcase")]
    assert all(seconds > 0 for seconds in cases)
    assert sum(cases) == Decimal(suite.get("time")) == Decimal(root.get("time"))
    after = datetime.now(UTC).replace(tzinfo=None)
    assert before <= datetime.fromisoformat(suite.get("timestamp")) <= after
    assert [Decimal(str(each["seconds"])) for each in json.loads(done.stdout)] == cases
    assert f"sojourn: 3 decisions in {sum(cases):.1f} s" == done.stderr.splitlines()[-1]


def test_each_file_is_a_suite_of_its_own(command, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (command.folder / "one.scenario.toml").write_text(HOME + GOOD)
    (command.folder / "two.scenario.toml").write_text(HOME + BAD)
    command("test", ".", "--junit", "report.xml")
    suites = ET.parse(command.folder / "report.xml").getroot()
    counts = {suite.get("name"): (suite.get("tests"), suite.get("failures")) for suite in suites}
    assert counts == {"one.scenario.toml": ("2", "0"), "two.scenario.toml": ("1", "1")}
