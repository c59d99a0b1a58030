"""Every key of TCP on engine ns3: it reaches the text for ns-3, or the scenario is refused."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from sojourn import _core
from sojourn.errors import ScenarioError

TEXT = """
name = "keys"
duration = "1s"
[links.b]
rate = "10mbit"
queue = "codel"
[[flows]]
path = ["b"]
rtt = "20ms"
{keys}
app = {{ kind = "bulk" }}
"""
# Each key of a group of flows with values other than its default.
KEYS = {
    "tcp": ['"newreno"', '"reno"', '"linux-2.6"'],
    "cc": ['"reno"', '"dctcp"', '"bbr"', '"prague"'],
    "ecn": ["true"],
    "dscp": ['"ef"'],
    "accecn": ["true\necn = true"],
    "receiver_ecn": ['"none"\necn = true', '"classic"\necn = true'],
    "accecn_option": ['"sparingly"\necn = true', '"never"\necn = true'],
    "ecn_fallback": ["false\necn = true", "true\necn = true"],
    "packet": ['"1000B"'],
    "header": ['"40B"', '"60B"'],
    "initial_window": ["2", "40"],
    "ack_every": ["1", "4"],
    "receive_window": ['"64kB"', '"1MB"'],
    "autotuning": ['true\nreceive_window = "1MB"'],
    "offload": ['"tso:64kB"'],
    "stop": ['"500ms"'],
    "transport": ['"quic"'],
}
REFINES = {"autotuning": "receive_window"}
ELSEWHERE = {
    "name", "class", "count", "path", "route", "reverse", "rtt", "access", "access_rate", "start",
    "src_host", "dst_host", "app",
}  # fmt: skip
"""Keys that describe paths and applications."""

VALUES = ["0.3", "0.7", "2", "3", "30ms", "0.5s", "true", "false", "1500B", "5mbit"]


def scenario(keys: str) -> _core.Scenario:
    return _core.Scenario.load(TEXT.format(keys=keys), origin="keys.toml")


def planned(given: _core.Scenario) -> str:
    return _core.ns3_plan(given)[1]


def test_the_keys_above_are_all_that_a_group_of_flows_has() -> None:
    schema = json.loads(_core.schema_json())
    group = schema["$defs"]["FlowGroup"]["properties"]
    assert set(group) == KEYS.keys() | ELSEWHERE


@pytest.mark.parametrize("key", KEYS)
def test_no_key_of_tcp_is_ignored(key: str) -> None:
    for value in KEYS[key]:
        basis = planned(scenario("ecn = true" if "ecn = true" in value else ""))
        given = scenario(f"{key} = {value}")
        try:
            assert planned(given) != basis, f"{key} = {value} has no effect"
        except ScenarioError as refused:
            # A key that refines another one is refused there, or by its own name.
            place = REFINES.get(key, key)
            assert f"`{key}`" in str(refused) or f"flows[0].{place}:" in str(refused), refused


@pytest.mark.parametrize("control", _core.ccs(), ids=lambda control: str(control["name"]))
def test_no_parameter_of_a_control_is_ignored(control: dict[str, Any]) -> None:
    for parameter in control["params"]:
        legal = 0
        for value in itertools.chain(VALUES, parameter.get("words", [])):
            text = f'cc = "{control["name"]}:{parameter["name"]}={value}"'
            with pytest.raises(ScenarioError, match=r"flows\[0\]\.cc") as refused:
                planned(scenario(text))
            legal += "has its own dialect and parameters" in str(refused.value)
        assert legal, f"{control['name']}:{parameter['name']}: no value above is legal"
