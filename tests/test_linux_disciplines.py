"""The kernel's own disciplines in real time: on this machine's kernel, and in Debian's guest.

Without them these tests are skipped; `make test-hosts` runs them on a kernel that has all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from guests import in_real_time
from processes import below, is_alive, wait_for
from sojourn import _core
from sojourn.engines.linux import host, uml
from test_linux_places import TEXT, numbers, scenario

MUST = "SOJOURN_HOSTS" in os.environ
QUEUES = {
    "taildrop:limit=80p": "pfifo",
    "codel@linux": "codel",
    "fq_codel@linux": "fq_codel",
    "pie@linux:hz={hz}": "pie",
    "fq_pie@linux:hz={hz}": "fq_pie",
    "red@linux": "red",
    "ared@linux:limit=150kB,min_th=3kB,max_th=9kB": "red",
    "sfq": "sfq",
    "fq": "fq",
    "choke": "choke",
    "cake": "cake",
}
SEEDS = {"pie": range(1, 31), "fq_pie": range(1, 31)}


def carried(given: _core.Scenario) -> _core.Run:
    """Run the scenario; under every queue the flows share the link."""
    run = in_real_time(given)
    found = numbers(run)
    assert found["queue/bottleneck/utilisation"] > 0.5
    assert found["class/cbr/goodput"] == pytest.approx(87_000 * 190 / 218, rel=0.1)
    # 10 ms of the link and 10 ms of the access links, one way.
    assert found["class/cbr/owd_p50"] > 0.020
    assert sojourn.Result(run).manifest["linux"]["virtual_time"] is False
    return run


@pytest.mark.parametrize(("queue", "kind"), QUEUES.items())
def test_the_hosts_kernel_runs_its_own_discipline(queue: str, kind: str) -> None:
    absent = [name for name in ("cbs", "netem", kind) if not host.offers(name)]
    if (host.missing() is not None or absent) and not MUST:
        pytest.skip(f"this kernel has no {', '.join(absent) or 'namespaces'}")
    given = scenario("host", "kernel", queue.format(hz=host.hz()))
    run = carried(given)
    key = "queue/bottleneck/delay_mean"
    # Laws with random numbers vary in a run of 3 s: `pie@linux:hz=1000` has mean delays of 3.6 to
    # 10.4 ms over 30 seeds of the simulator. Such laws get the range of several seeds.
    simulated = [numbers(_core.run(given.with_seed(seed)))[key] for seed in SEEDS.get(kind, (1,))]
    nearest = min(max(numbers(run)[key], min(simulated)), max(simulated))
    assert numbers(run)[key] == pytest.approx(nearest, rel=0.25, abs=0.002)


@pytest.mark.parametrize(
    ("bottleneck", "queue"),
    [("kernel", "codel@linux"), ("kernel", "pie@linux:hz=100"), ("sojourn", "codel")],
)
def test_debians_guest_runs_both_bottlenecks(bottleneck: str, queue: str) -> None:
    found = uml.availability()
    if not found.works and not MUST:
        pytest.skip(found.note)
    carried(scenario("uml", bottleneck, queue))


def test_a_kernel_that_is_not_ours_ends_with_its_killed_parent(tmp_path: Path) -> None:
    """The kernel must not leave its process group, with which its helpers and programs end."""
    found = uml.availability()
    if not found.works and not MUST:
        pytest.skip(found.note)
    file = tmp_path / "long.toml"
    text = TEXT.format(where="uml", bottleneck="kernel", queue="codel@linux")
    file.write_text(text.replace('"4s"', '"2000s"'))
    command = [sys.executable, "-m", "sojourn", "run", str(file), "--engine", "linux"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as parent:
        # The watcher, the kernel, two of its helper processes, and a program of the guest.
        started = wait_for(lambda: len(below(parent.pid)) >= 5, 120.0)
        family = below(parent.pid)
        parent.send_signal(signal.SIGKILL)
    assert started
    assert wait_for(lambda: not any(is_alive(pid) for pid in family))
