"""Validate, manifest and heads show the values that an AQM derives from its parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sojourn
from sojourn.cli import main
from sojourn.describing.queues import contradictions, effective_lines

SLOW = """
name = "slow"
duration = "1s"
[links.bottleneck]
rate = "831kbit"
delay = "10ms"
queue = "cake:bandwidth=831kbit"
[[flows]]
name = "download"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "bulk" }
"""


@pytest.fixture
def slow(tmp_path: Path) -> str:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return str(path)


def test_validate_shows_a_table_of_the_values_in_use(
    slow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", slow]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["bottleneck", "target", "21.862815ms", "5ms"] in [line.split() for line in lines]
    assert main(["validate", slow, "--json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    (target,) = [it for it in as_json["effective"] if it["name"] == "target"]
    assert (target["value"], target["in_place_of"]) == ("21.862815ms", "5ms")
    assert as_json["name"] == "slow"


def test_the_manifest_has_them_and_the_head_says_what_differs(slow: str) -> None:
    result = sojourn.run(slow)
    effective = result.manifest["effective"]
    assert contradictions(effective) == ["target 21.863ms in place of 5ms"]
    (line,) = effective_lines(effective)
    assert line == "Queue of bottleneck uses target 21.863ms in place of 5ms."


def test_a_value_that_a_kernel_rounds_is_not_cut_to_the_one_that_was_asked_for() -> None:
    short = {"duration": "1s", "warmup": "0s"}
    result = sojourn.run("dumbbell-reno", aqms="codel@linux:target=20ms", sets=short)
    found = contradictions(result.manifest["effective"])
    assert found == ["target 19.999744ms in place of 20ms"]


def test_the_head_is_silent_where_nothing_was_asked_for(slow: str) -> None:
    quiet = sojourn.run(slow, aqms="codel@linux").manifest["effective"]
    assert [it["name"] for it in quiet if it["in_place_of"]] == ["target", "interval"]
    # Only the kernel that `@linux` means differs.
    assert effective_lines(quiet) == ["Queue of bottleneck decides as Linux 7.2.13."]
    assert effective_lines(sojourn.run(slow, aqms="codel").manifest["effective"]) == []
