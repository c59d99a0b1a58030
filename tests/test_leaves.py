"""Rows of leaf classes: in the command, in files, in Python, and on the kernel's own schedulers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sojourn
from conftest import Command
from guests import IN_GUEST, in_guest, needs_kernel, numbers
from sojourn import _core
from sojourn.engines import registry
from sojourn.errors import InputError, ScenarioError
from sojourn.testing.assertions import of_scenarios
from sojourn.testing.session import Session

HTB = """kind = "htb"
default = "rest"
[[links.up.scheduler.classes]]
name = "all"
rate = "10mbit"
[[links.up.scheduler.classes]]
name = "call"
parent = "all"
rate = "1mbit"
ceil = "10mbit"
dscp = ["ef"]
queue = "taildrop:limit=100p"
[[links.up.scheduler.classes]]
name = "rest"
parent = "all"
rate = "8mbit"
ceil = "10mbit"
"""
PRIO = """kind = "prio"
default = "rest"
[[links.up.scheduler.classes]]
name = "call"
dscp = ["ef"]
queue = "taildrop:limit=100p"
[[links.up.scheduler.classes]]
name = "rest"
"""
HFSC = """kind = "hfsc"
default = "rest"
[[links.up.scheduler.classes]]
name = "all"
ls.m2 = "10mbit"
ul.m2 = "10mbit"
[[links.up.scheduler.classes]]
name = "call"
parent = "all"
rt = { m1 = "4mbit", d = "5ms", m2 = "1mbit" }
ls.m2 = "1mbit"
dscp = ["ef"]
queue = "taildrop:limit=100p"
[[links.up.scheduler.classes]]
name = "rest"
parent = "all"
ls.m2 = "9mbit"
"""
# The strict band gets what it asks for; the others take turns of 3000 and 9000 bytes.
ETS = """kind = "ets"
default = "rest"
[[links.up.scheduler.classes]]
name = "call"
dscp = ["ef"]
queue = "taildrop:limit=100p"
[[links.up.scheduler.classes]]
name = "rest"
quantum = "9kB"
[[links.up.scheduler.classes]]
name = "background"
quantum = "3kB"
dscp = ["cs1"]
[[flows]]
name = "background"
path = ["up"]
rtt = "40ms"
dscp = "cs1"
app = { kind = "bulk" }
"""
TEXT = """
name = "leaves"
duration = "20s"
warmup = "2s"
[links.up]
rate = "{rate}"
framing = "14B"
queue = "codel@linux"
[links.up.scheduler]
{scheduler}
[[flows]]
name = "call"
path = ["up"]
rtt = "40ms"
dscp = "ef"
app = {{ kind = "cbr", rate = "800kbit", packet = "200B" }}
[[flows]]
name = "bulk"
count = 2
path = ["up"]
rtt = "40ms"
app = {{ kind = "bulk" }}
"""


def scenario(scheduler: str, rate: str = "12mbit", **sets: str) -> _core.Scenario:
    return _core.Scenario.load(TEXT.format(scheduler=scheduler, rate=rate), sets=list(sets.items()))


def test_a_run_shows_its_leaves_and_every_form_of_the_result_has_them(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "tree.toml"
    file.write_text(TEXT.format(scheduler=HTB, rate="12mbit"))
    shown = command("run", str(file), "--out", str(tmp_path / "out")).stdout
    lines = [line.split()[:3] for line in shown.splitlines() if "leaf" in line]
    assert lines == [["leaf", "up.call", "delay_mean"], ["leaf", "up.rest", "delay_mean"]]
    rows = json.loads(command("run", str(file), "--json").stdout)["summary"]
    leaves = {(row["name"], row["metric"]): row["value"] for row in rows if row["scope"] == "leaf"}
    result = sojourn.Result.open(tmp_path / "out")
    assert result.summary["leaf/up.call/sent"] == leaves["up.call", "sent"] > 8000
    sent = sum(value for (_, metric), value in leaves.items() if metric == "sent")
    assert sent == result.summary["queue/up/sent"]
    scopes = result.columns("histograms")["scope"]
    assert {"queue", "leaf"} <= set(scopes)


EXPECTS = """
[[expect]]
metric = "delay_p95"
of = "up.call"
{bound}
max_seeds = 6
"""


def test_a_leaf_may_be_compared_and_expected(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "tree.toml"
    text = TEXT.format(scheduler=HTB, rate="12mbit").replace('"20s"', '"3s"')
    file.write_text(text + EXPECTS.format(bound='below = "20ms"'))
    shown = command("compare", str(file), "--aqm", "codel@linux", "--seeds", "1", "--json").stdout
    metrics = {it["metric"] for it in json.loads(shown)["metrics"]}
    assert {"leaf/up.call/delay_p95", "leaf/up.rest/throughput", "queue/up/delay_p95"} <= metrics
    assert command("test", str(file)).returncode == 0
    file.write_text(text + EXPECTS.format(bound='above = "20ms"'))
    failed = command("test", str(file))
    assert failed.returncode == 1 and "up.call" in failed.stdout, failed
    engine = registry.select_one("sim", {})
    (runs,) = of_scenarios(str(file), [None], engine, Session())
    assert runs.metric("delay_p95", of="up.call") < 0.02
    with pytest.raises(InputError, match=r"unknown `up\.cal`; known: up, up\.call, up\.rest"):
        runs.metric("delay_p95", of="up.cal")


@needs_kernel
@pytest.mark.parametrize(
    ("scheduler", "rate"),
    [
        (HTB, "12mbit"),
        (HFSC, "12mbit"),
        pytest.param(PRIO, "10mbit", marks=pytest.mark.nightly),
        (ETS, "10mbit"),
    ],
    ids=["htb", "hfsc", "prio", "ets"],
)
def test_the_kernels_tree_gives_each_class_what_ours_does(scheduler: str, rate: str) -> None:
    """A packet of the other class may be in service (1.2 ms), and HTB lends one more (1.2 ms)."""
    given = scenario(scheduler, rate)
    run = in_guest(given)
    assert run.invalid == []
    real, simulated = numbers(run), numbers(_core.run(given))
    for leaf in ("up.call", "up.rest"):
        for metric, least in (("delay_mean", 0.0012), ("delay_p95", 0.0024)):
            key = f"leaf/{leaf}/{metric}"
            assert real[key] == pytest.approx(simulated[key], rel=0.1, abs=least), key
        key = f"leaf/{leaf}/throughput"
        assert real[key] == pytest.approx(simulated[key], rel=0.01), key
    assert real["leaf/up.call/drop_rate"] == simulated["leaf/up.call/drop_rate"] == 0
    drops = "leaf/up.rest/drop_rate"
    assert real[drops] == pytest.approx(simulated[drops], rel=0.25)


REFUSED: list[tuple[dict[str, str], str, str]] = [
    ({"engine.linux.bottleneck": '"sojourn"'}, HTB, "our router has one queue per link; take"),
    ({"engine.linux.bottleneck": '"sojourn-module"'}, HTB, "our module has one queue; take"),
    ({"links.up.queue": '"ared@linux"'}, HTB, "take `red@linux`"),
    ({"links.up.queue": '"madpie"'}, HTB, "links.up.scheduler.classes.2..queue: the kernel has no"),
    ({"links.up.scheduler.cells": '"ptm"'}, HTB, "no PTM cells"),
    ({"links.up.scheduler.classes[2].rate": '"8000001bit"'}, HTB, "whole bytes per second"),
    ({"links.up.scheduler.classes[1].quantum": '"200B"'}, ETS, "quanta of 256B to 1048576B"),
    ({"links.up.scheduler.classes[0].ul.m2": '"8000001bit"'}, HFSC, "whole bytes per second"),
]


@pytest.mark.parametrize(("sets", "scheduler", "why"), REFUSED)
def test_what_the_kernel_cannot_set_is_refused(
    sets: dict[str, str], scheduler: str, why: str
) -> None:
    given = scenario(scheduler, **sets)
    with pytest.raises(ScenarioError, match=why):
        _core.linux_plan(given)


@pytest.mark.parametrize(
    "queue",
    [
        pytest.param(it, marks=IN_GUEST)
        for it in ("fq_codel@linux", "cake", "sfq", "fq_pie@linux", "red@linux")
    ],
)
def test_every_queue_of_the_kernel_can_be_that_of_a_class(queue: str) -> None:
    given = scenario(HTB, duration='"3s"', **{"links.up.queue": f'"{queue}"'})
    run = in_guest(given)
    assert run.invalid == []
    assert numbers(run)["leaf/up.rest/throughput"] > 8e6
