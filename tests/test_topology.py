"""Scenarios whose links a topology generates: in runs, commands and studies."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import cli
from sojourn.errors import InputError, ScenarioError

HEAD = 'name = "net"\nduration = "5s"\nwarmup = "1s"\n'
TOPOLOGY = """
[topology]
kind = "parking-lot"
hops = 3
two_way = true
link = { rate = "10mbit", delay = "5ms", buffer = "50p", queue = "codel" }
[topology.links.hop-2]
rate = "5mbit"
"""
FLOWS = """
[[flows]]
name = "through"
route = "1 to last"
rtt = "60ms"
app = { kind = "bulk" }

[[flows]]
name = "cross"
route = "each"
rtt = "60ms"
app = { kind = "bulk" }
"""
PARKING_LOT = HEAD + TOPOLOGY + FLOWS
STAR = """
name = "star"
duration = "2s"

[topology]
kind = "star"
hosts = 4
link = { rate = "10mbit", buffer = "50p" }

[[flows]]
name = "incast"
route = "all to 4"
rtt = "20ms"
app = { kind = "bulk" }
"""
FAT_TREE = """
name = "tree"
duration = "500ms"

[topology]
kind = "fat-tree"
ports = 4
link = { rate = "20mbit", buffer = "50p" }

[[flows]]
name = "half"
route = "each"
rtt = "5ms"
app = { kind = "bulk" }
"""


def load(text: str) -> sojourn.Scenario:
    return sojourn.Scenario.load(text)


def run(text: str) -> Any:
    return sojourn.run(load(text), store=None)


@pytest.fixture
def lot(tmp_path: Path) -> Path:
    path = tmp_path / "lot.toml"
    path.write_text(PARKING_LOT)
    return path


def by_hand() -> str:
    """The parking lot with its links and paths written out."""
    text = HEAD
    for name in ("back-1", "back-2", "back-3", "hop-1", "hop-2", "hop-3"):
        rate = 5 if name == "hop-2" else 10
        text += f'[links.{name}]\nrate = "{rate}mbit"\ndelay = "5ms"\nbuffer = "50p"\n'
        text += 'queue = "codel"\n'
    routes = {"through": (1, 2, 3), "cross-1-2": (1,), "cross-2-3": (2,), "cross-3-4": (3,)}
    for name, hops in routes.items():
        path = json.dumps([f"hop-{hop}" for hop in hops])
        back = json.dumps([f"back-{hop}" for hop in reversed(hops)])
        text += f'[[flows]]\nname = "{name}"\nclass = "{name.split("-")[0]}"\nrtt = "60ms"\n'
        text += f'path = {path}\nreverse = {back}\napp = {{ kind = "bulk" }}\n'
    return text


def test_every_link_of_a_parking_lot_is_filled_by_its_cross_traffic() -> None:
    summary = run(PARKING_LOT).summary
    for hop in (1, 2, 3):
        assert summary[f"queue/hop-{hop}/utilisation"] > 0.9
        assert summary[f"queue/back-{hop}/utilisation"] < 0.1
    assert summary["queue/hop-2/throughput"] == pytest.approx(5e6, rel=0.1)
    assert summary["queue/hop-3/throughput"] == pytest.approx(10e6, rel=0.1)
    through, cross = (summary[f"class/{name}/goodput"] for name in ("through", "cross"))
    assert through + cross < 25e6
    assert 0 < through < cross / 3


def test_a_topology_runs_as_the_same_network_written_by_hand() -> None:
    generated, written = run(PARKING_LOT), run(by_hand())
    assert generated.digest == written.digest
    assert generated.summary == written.summary
    assert run(PARKING_LOT).digest == generated.digest


def test_a_star_shares_the_link_to_the_receiver() -> None:
    summary = run(STAR).summary
    assert summary["queue/down-4/utilisation"] > 0.9
    assert summary["queue/up-4/utilisation"] < 0.1
    carried = sum(summary[f"queue/up-{host}/throughput"] for host in (1, 2, 3))
    assert carried == pytest.approx(summary["queue/down-4/throughput"], rel=0.1)


def test_a_fat_tree_runs_and_repeats() -> None:
    first = run(FAT_TREE)
    assert run(FAT_TREE).digest == first.digest
    assert len(first.manifest["scenario"]["links"]) == 96
    assert all(first.summary[f"queue/host-up-{host}/throughput"] > 1e6 for host in range(1, 17))


def test_validate_shows_the_links_and_paths(lot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["validate", str(lot)]) == 0
    out = capsys.readouterr().out
    assert "topology: 6 links, 4 groups of flows" in out
    assert "cross-2-3 (1): hop-2; back back-2" in out
    assert (
        cli.main(
            ["validate", str(lot), "--set", "topology.hops=40", "--set", "topology.link.delay=0s"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "and 60 more" in out
    assert "and 21 more; --json shows all" in out


def test_the_document_holds_the_links_and_no_topology() -> None:
    scenario = load(PARKING_LOT)
    assert scenario.has_topology
    text = scenario.document_json()
    again = sojourn.Scenario.load(text, format="json")
    assert not again.has_topology
    assert again.resolved_json() == scenario.resolved_json()
    with pytest.raises(ScenarioError, match=r"topology\.kind: this key is missing"):
        sojourn.Scenario.load(text, format="json", sets=[("topology.hops", "4")])


def test_compare_and_export_take_a_generated_link(
    lot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = {"duration": "2s"}
    found = sojourn.compare(lot, ["codel", "pie"], 2, link="hop-2", sets=sets, jobs=1)
    assert found.link == "hop-2"
    assert found.aqms == ["codel", "pie"]
    trace = str(tmp_path / "trace")
    chosen = ["--to", "mahimahi", "--link", "hop-2"]
    assert cli.main(["export", str(lot), *chosen, "-o", trace]) == 0
    assert cli.main(["export", str(lot), "--to", "mahimahi", "-o", trace]) == 2
    assert "hop-2" in capsys.readouterr().err


def test_a_study_varies_the_number_of_hops(tmp_path: Path, lot: Path) -> None:
    study = {
        "name": "hops", "scenario": str(lot), "seeds": 1, "set": {"duration": "2s"},
        "metrics": ["queue/hop-2/utilisation", "class/through/goodput"],
        "axes": [
            {"name": "hops", "key": "topology.hops", "values": [2, 4]},
            {"name": "rate", "key": "topology.link.rate", "values": ["5mbit", "10mbit"]},
            {"name": "last", "key": "links.hop-1.queue", "values": ["pie"]},
        ],
    }  # fmt: skip
    found = sojourn.study.parse(study)
    results = sojourn.study.run_study(
        found, tmp_path / "store", executor=ThreadPoolExecutor(2), report=pytest.fail
    )
    links = [json.loads(each.scenario.resolved_json())["links"] for each in results.points]
    assert [len(each) for each in links] == [4, 4, 8, 8]
    assert [each[0]["rate"] for each in links] == ["5mbit", "10mbit"] * 2
    rows = results.to_arrow().to_pylist()
    assert all(row["goodput_bps"] > 0 for row in rows)
    assert len({row["goodput_bps"] for row in rows}) == 4


def test_python_classes_write_a_topology() -> None:
    from sojourn.scenario import Bulk, FlowGroup, Link, Scenario, Star

    link = Link(rate="10mbit", buffer="50p")
    flows = [FlowGroup(name="incast", route="all to 4", rtt="20ms", app=Bulk())]
    made = Scenario(name="star", duration="2s", topology=Star(hosts=4, link=link), flows=flows)
    assert sojourn.run(made, store=None).digest == run(STAR).digest


def test_a_network_of_many_links_is_named_by_the_first_and_a_number() -> None:
    long = sojourn.Scenario.load(
        PARKING_LOT.replace("hops = 3", "hops = 100").replace("60ms", "1s")
    )
    with pytest.raises(InputError, match=r"has the links back-1, .* and 180 more; name the one"):
        sojourn.compare(long, aqms=["codel", "pie"])
