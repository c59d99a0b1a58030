"""Each guest has a CPU of its own as long as there are enough."""

import os
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from sojourn.engines import child, cpus


class Nobody:
    """Watches a run without stopping it."""

    cancelled = False

    def advance(self, _seconds: float) -> None:
        """Nothing to report."""


def test_guests_share_a_cpu_only_when_each_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # CPUs that no guest of another process has.
    monkeypatch.setattr(cpus, "_allowed", lambda: [90001, 90002, 90003])
    with ExitStack() as all_of_them:
        lent = [all_of_them.enter_context(cpus.reserved()) for _ in range(6)]
        assert lent[:3] == [90001, 90002, 90003]
        assert sorted(lent[3:]) == [90001, 90002, 90003]
    with cpus.reserved() as cpu:
        assert cpu == 90001, "it is free again"


def test_more_guests_than_places_run_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "_allowed", lambda: [90004])
    with ExitStack() as all_of_them:
        lent = [all_of_them.enter_context(cpus.reserved()) for _ in range(9)]
    assert lent == [90004] * 8 + [None]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux")
@pytest.mark.parametrize("is_pinned", [True, False])
def test_all_processes_of_a_child_share_its_cpu(is_pinned: bool) -> None:
    allowed = os.sched_getaffinity(0)
    cpu = max(allowed) if is_pinned else None
    script = """sh -c 'cat /proc/self/status > seen'; echo '{"ok": true}' > status.json"""
    with child.scratch() as folder:
        child.carry_out(["/bin/sh", "-c", script], folder, "", Nobody(), "shell", cpu=cpu)
        seen = Path(folder.shared / "seen").read_text()
    found = re.search(r"^Cpus_allowed_list:\s+(\S+)$", seen, re.MULTILINE)
    assert found
    assert (found[1] == str(max(allowed))) == (is_pinned or len(allowed) == 1)
    assert os.sched_getaffinity(0) == allowed, "this process is as it was"
