"""CAKE's tins see the DSCP of a scenario's flows, in both directions of a path."""

from pathlib import Path

import pytest

import sojourn

SCENARIO = """
name = "tins"
duration = "8s"
warmup = "2s"
[links.up]
rate = "100mbit"
queue = "QUEUE"
[[flows]]
name = "game"
path = ["up"]
rtt = "20ms"
dscp = "cs4"
app = { kind = "cbr", rate = "1mbit", packet = "200B" }
[[flows]]
name = "bulk"
path = ["up"]
rtt = "20ms"
app = { kind = "cbr", rate = "40mbit", packet = "1500B" }
[[flows]]
name = "background"
path = ["up"]
rtt = "20ms"
dscp = "le"
app = { kind = "cbr", rate = "40mbit", packet = "1500B" }
"""


def goodputs(folder: Path, queue: str) -> dict[str, float]:
    file = folder / "tins.toml"
    file.write_text(SCENARIO.replace("QUEUE", queue))
    rows = sojourn.run(file, store=None).summary_rows
    return {name: value / 1e6 for _, name, metric, value, _ in rows if metric == "goodput"}


def test_background_keeps_a_sixteenth_and_a_game_loses_nothing(tmp_path: Path) -> None:
    """Linux 6.1 sch_cake.c, cake_config_diffserv4: thresholds of 20, 1.25, 10 and 5 Mbit/s."""
    one_tin = goodputs(tmp_path, "cake:bandwidth=20mbit,isolation=flowblind")
    tins = goodputs(tmp_path, "cake:bandwidth=20mbit,isolation=flowblind,diffserv=diffserv4")
    assert one_tin["background"] == pytest.approx(one_tin["bulk"], rel=0.1)
    assert tins["background"] == pytest.approx(20 / 16, rel=0.1)
    payload = (200 - 28) / 200
    assert one_tin["game"] < 0.8 * payload < tins["game"] == pytest.approx(payload, rel=0.01)
    assert sum(tins.values()) == pytest.approx(sum(one_tin.values()), rel=0.02)


def test_a_router_that_washes_hides_the_classes_from_the_next_one(tmp_path: Path) -> None:
    queue = "cake:diffserv=diffserv4,isolation=flowblind"
    second = f'[links.second]\nrate = "20mbit"\nqueue = "{queue}"\n'
    found = {}
    for wash in ("true", "false"):
        text = SCENARIO.replace("QUEUE", f"cake:diffserv=diffserv4,wash={wash}")
        text = text.replace("[[flows]]", f"{second}[[flows]]", 1)
        (tmp_path / "two.toml").write_text(text.replace('["up"]', '["up", "second"]'))
        rows = sojourn.run(tmp_path / "two.toml", store=None).summary_rows
        found[wash] = {name: v / 1e6 for _, name, metric, v, _ in rows if metric == "goodput"}
    assert found["true"]["background"] == pytest.approx(found["true"]["bulk"], rel=0.1)
    assert found["false"]["background"] < 0.5 * found["false"]["bulk"]
