"""The plugin for pytest, run in separate sessions: outcomes, skips and one-line messages."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from xml.etree import ElementTree as ET

import pytest

from guests import needs_kernel
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.testing.assertions import of_scenarios
from sojourn.testing.session import Session
from test_expectations import BAD, GOOD
from test_expectations import HOME as LONGER
from test_router import needs_spaces

HOME = LONGER.replace('"4s"', '"2s"')
NAME = "home.scenario.toml"
ASSERTIONS = """
import pytest
from sojourn.testing import NotDecided, assert_metric, mbit, ms


def test_bounds(sojourn_run):
    run = sojourn_run("home.scenario.toml", aqm="pie")
    assert run.metric("goodput", of="bulk") > mbit(5)
    assert 1e-3 < run.metric("delay_p95") < "200ms"
    assert_metric(run, "goodput", above="5mbit", below="11mbit")


def test_pairs(sojourn_compare):
    pie, tail = sojourn_compare("home.scenario.toml", ["pie", "taildrop"])
    assert pie.metric("delay_mean") < 0.8 * tail.metric("delay_mean")
    assert not pie.metric("delay_mean") > tail.metric("delay_mean")


def test_undecided(sojourn_run):
    run = sojourn_run("home.scenario.toml", max_seeds=3)
    mean = sum(run.result(seed).summary["class/bulk/goodput"] for seed in (1, 2, 3)) / 3
    with pytest.raises(NotDecided, match="undecided: .*3 seeds"):
        assert run.metric("goodput") < mean
"""
FAILING = """
from sojourn.testing import assert_metric, ms


def test_delay(sojourn_run):
    assert sojourn_run("home.scenario.toml").metric("delay_p95") < ms(1)


def test_helper(sojourn_run):
    assert_metric(sojourn_run("home.scenario.toml", aqm="pie"), "delay_p95", below=ms(1))
"""


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    def session(*options, loads_all=False):
        # Importing other plugins of this environment takes longer than the tests.
        alone = [] if loads_all else ["-p", "sojourn.testing.plugin"]
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *alone]
        env = os.environ | ({} if loads_all else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        return subprocess.run(
            [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=120,
            check=False, env=env,
        )  # fmt: skip

    session.folder = tmp_path
    return session


def test_expectations_are_tests_of_their_file_and_line(session):
    (session.folder / NAME).write_text(HOME + GOOD + BAD)
    done = session("--junit-xml", "report.xml")
    assert done.returncode == 1, done.stderr
    assert "1 failed, 2 passed" in done.stdout
    assert f"failed: {NAME}:20: delay_p95 of bottleneck below 1ms: " in done.stdout
    assert "sojourn live home.scenario.toml" in done.stdout
    assert "Traceback" not in done.stdout
    (suite,) = ET.parse(session.folder / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


@pytest.mark.long
def test_workers_of_xdist_decide_the_same(session):
    (session.folder / NAME).write_text(HOME + GOOD + BAD)
    assert "1 failed, 2 passed" in session("-n", "2", loads_all=True).stdout


def test_assertions_in_python_are_decided_over_seeds(session):
    (session.folder / NAME).write_text(HOME)
    (session.folder / "test_home.py").write_text(ASSERTIONS)
    done = session()
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_failed_assertion_says_what_was_measured(session):
    (session.folder / NAME).write_text(HOME)
    (session.folder / "test_home.py").write_text(FAILING)
    done = session()
    assert "2 failed" in done.stdout
    assert "assert delay_p95 of bottleneck: " in done.stdout
    assert "8 seeds < 0.001" in done.stdout
    assert "sojourn diff pie" in done.stdout


def test_a_mistake_in_a_test_ends_at_its_line(session):
    (session.folder / NAME).write_text(HOME)
    (session.folder / "test_home.py").write_text(
        "def test_missing(sojourn_run):\n"
        "    sojourn_run('nothing.toml')\n\n\n"
        "def test_metric(sojourn_run):\n"
        f"    sojourn_run({NAME!r}).metric('delay_p59')\n"
    )
    done = session()
    assert "2 failed" in done.stdout, done.stdout
    assert "test_home.py:2: InputError" in done.stdout
    assert "nothing.toml: no such file" in done.stdout
    assert "test_home.py:6: InputError" in done.stdout
    assert "python/sojourn" not in done.stdout


def test_fewer_seeds_can_be_asked_for(session):
    (session.folder / NAME).write_text(HOME + GOOD)
    done = session("--sojourn-seeds", "3", "--junit-xml", "report.xml")
    assert done.returncode == 0, done.stdout
    assert "3 seeds" in (session.folder / "report.xml").read_text()
    (session.folder / NAME).write_text(HOME + GOOD.replace('["pie", "codel"]', '["pie"]'))
    assert "comes of 1 seed; at least" in session("--sojourn-seeds", "1").stdout


def test_doubtful_runs_are_warnings(session):
    doubtful = GOOD.replace('["pie", "codel"]', '["codel:target=1ms,interval=10ms"]')
    (session.folder / NAME).write_text(HOME + doubtful)
    done = session("--sojourn-seeds", "3")
    assert "interval: 10ms is shorter than the base RTT" in done.stdout


def test_wrong_scenarios_are_a_line_each(session):
    (session.folder / "a.scenario.toml").write_text("name = [\n")
    (session.folder / NAME).write_text(HOME + BAD.replace("p95", "p59"))
    done = session()
    assert done.returncode == 2
    errors = done.stdout.partition("ERRORS")[2].partition("short test summary")[0]
    lines = [line for line in errors.splitlines() if line.strip("_= ")][:5]
    assert "ERROR collecting a.scenario.toml" in lines[0]
    assert lines[1].startswith("a.scenario.toml:")
    assert "ERROR collecting home.scenario.toml" in lines[2]
    assert "unknown metric `delay_p59`" in lines[3]
    assert lines[4].startswith("!!!")


def test_what_this_machine_lacks_is_a_skip_with_the_remedy(session, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(session.folder / "empty"))
    on_linux = GOOD.replace('["pie", "codel"]', '[{ engine = "linux" }]')
    (session.folder / NAME).write_text(HOME + on_linux)
    (session.folder / "test_home.py").write_text(
        "def test_programs(virtual_link):\n"
        f"    virtual_link({NAME!r}, {{'server': 'true', 'client': 'true'}})\n"
    )
    done = session()
    assert "2 skipped" in done.stdout, done.stdout
    assert "no guest kernel of" in done.stdout
    assert "sojourn kernel build" in done.stdout
    assert f"SKIPPED [1] {NAME}:16: " in done.stdout
    assert "SKIPPED [1] test_home.py:1: " in done.stdout


def test_an_interrupt_ends_the_session_without_a_verdict(session):
    (session.folder / NAME).write_text(HOME + GOOD)
    (session.folder / "conftest.py").write_text(
        "import sojourn.testing.session as session\n"
        "from sojourn.errors import Interrupted\n\n\n"
        "def ends(tasks, *_rest, **_more):\n"
        "    raise Interrupted([], len(tasks))\n\n\n"
        "session.run_each = ends\n"
    )
    done = session()
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout
    assert "interrupted after 0 of 8 runs" in done.stdout
    assert "no tests ran" in done.stdout
    assert "failed" not in done.stdout


def test_a_baseline_of_another_version_fails_with_the_command_that_renews_it(session):
    (session.folder / NAME).write_text(
        HOME + BAD.replace('"1ms"', '"200%"') + 'against = "baseline"\n'
    )
    stored = '{"format": 1, "sojourn": "0.0.0", "values": {}}'
    (session.folder / "home.scenario.baseline.json").write_text(stored)
    done = session()
    assert done.returncode == 1, done.stdout
    assert "was stored by Sojourn 0.0.0 (format 1)" in done.stdout
    assert f"`sojourn test {NAME} --update-baseline`" in done.stdout
    assert "Traceback" not in done.stdout


FAR = """
import socket, sys
server = socket.create_server((sys.argv[1], 7000), family=socket.AF_INET6)
server.accept()[0].sendall(bytes(20_000))
"""
NEAR = """
import socket, sys, time
for _ in range(100):
    try:
        end = socket.create_connection((sys.argv[1], 7000))
        break
    except OSError:
        time.sleep(0.1)
print(sum(iter(lambda: len(end.recv(65536)), 0)), end="")
"""
REAL_TIME = f"""
import sys

FAR = {FAR!r}
NEAR = {NEAR!r}


def test_valid(link):
    on = link(rate="10mbit", delay="5ms", stall="9s")
    assert on.near.run(["echo", on.far.address]).stdout == "100.64.0.2\\n"


def test_stalled(link):
    link(rate="10mbit", stall="1ns").near.run(["sleep", "0.3"])


def test_ipv6(link):
    on = link(rate="10mbit", delay="5ms", stall="9s")
    address = on.far.ipv6_address
    if address is not None:
        on.far.popen([sys.executable, "-c", FAR, address])
        assert on.near.run([sys.executable, "-c", NEAR, address], timeout=60).stdout == "20000"
"""


@needs_spaces
def test_a_router_in_real_time_that_stalled_never_passes(session):
    (session.folder / "test_link.py").write_text(REAL_TIME)
    done = session()
    assert "3 passed, 1 error" in done.stdout, done.stdout
    assert "not a valid experiment: the host stalled" in done.stdout


@needs_kernel
def test_a_program_that_fails_in_virtual_time_fails_the_test(session):
    (session.folder / NAME).write_text(HOME)
    (session.folder / "test_home.py").write_text(
        "def test_programs(virtual_link):\n"
        f"    virtual_link({NAME!r}, {{'server': 'sleep 3', 'client': 'false'}})\n"
    )
    done = session()
    assert "1 failed" in done.stdout, done.stdout
    assert "client: `false` ended with exit code 1" in done.stdout


def test_pytest_finds_the_plugin():
    (found,) = metadata.entry_points(group="pytest11", name="sojourn")
    assert found.value == "sojourn.testing.plugin"


def test_the_plugin_imports_nothing_heavy():
    code = "import sys, sojourn.testing.plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("sojourn")}
    assert ours == {"sojourn", "sojourn.testing", "sojourn.testing.plugin"}


def test_a_metric_that_is_not_compared_with_a_bound_never_passes():
    runs = of_scenarios("dumbbell-reno", [None], registry.select_one("sim", {}), Session())[0]
    metric = runs.metric("delay_p95")
    for compare in (bool, lambda it: it == 0.1, lambda it: it != 0.1, lambda it: it <= 0.1):
        with pytest.raises(InputError, match="< or >"):
            compare(metric)
