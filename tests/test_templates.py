"""Templates of links: on the command line, in Python, and in comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import cli

SCENARIO = """
name = "away"
duration = "30s"

[links.down]
template = "starlink:seed=3"
queue = "fq_codel"

[[flows]]
name = "download"
path = ["down"]
rtt = "200ms"
app = { kind = "bulk" }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "away.toml"
    path.write_text(SCENARIO)
    return path


def resolved(scenario: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    assert cli.main(["validate", str(scenario), "--json", *more]) == 0
    (link,) = json.loads(capsys.readouterr().out)["links"]
    return link


def test_a_template_is_shown_as_the_keys_that_it_sets(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = resolved(scenario, capsys)
    assert [at for at, _ in link["rate"]["steps"]] == ["0s", "12s", "27s"]
    assert [at for at, _ in link["delay"]["steps"]] == ["0s", "12s", "27s"]
    link = resolved(scenario, capsys, "--set", "links.down.template=vdsl:rate=50mbit")
    assert (link["rate"], link["framing"], link["cells"]) == ("50mbit", "22B", "ptm")
    link = resolved(scenario, capsys, "--set", "links.down.template=lte:direction=up")
    waits = {key: link["jitter"][key] for key in ("every", "request", "pause", "round_trip")}
    assert waits == {"every": "1ms", "request": "10ms", "pause": "8ms", "round_trip": "8ms"}
    template = "links.down.template=5g:rate=50mbit,direction=up"
    jitter = resolved(scenario, capsys, "--set", template)["jitter"]
    assert (jitter["every"], jitter["request"], jitter["round_trip"]) == ("2.5ms", "5ms", "2.5ms")


def test_a_run_uses_what_a_template_sets(scenario: Path) -> None:
    result = sojourn.run(scenario, store=None)
    assert result.manifest["scenario"]["links"][0]["rate"]["kind"] == "schedule"
    written = sojourn.Scenario.load(scenario.read_text())
    assert json.loads(written.document_json())["links"]["down"]["template"] == "starlink:seed=3"
    assert sojourn.run(written, store=None).manifest["digest"] == result.manifest["digest"]


def test_a_wrong_template_is_one_sentence(scenario: Path) -> None:
    with pytest.raises(sojourn.ScenarioError, match="did you mean `starlink`"):
        sojourn.run(scenario, sets={"links.down.template": "starlnk"})
    with pytest.raises(sojourn.ScenarioError, match=r"links\.down\.template: onus `0` is not"):
        sojourn.run(scenario, sets={"links.down.template": "gpon:onus=0"})
    with pytest.raises(sojourn.ScenarioError, match=r"links\.down\.delay: repeats what template"):
        sojourn.run(scenario, sets={"links.down.delay": "5ms"})
