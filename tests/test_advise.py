"""`sojourn advise`: a recommendation for a line, with its figures and doubts."""

from __future__ import annotations

import json

import pytest

from sojourn import _core
from sojourn.advising import line as advising
from sojourn.advising.line import Line, advise, grade, of_scenario
from sojourn.advising.media import MEDIA
from sojourn.cli.advise import _described
from sojourn.errors import InputError


@pytest.fixture(scope="module")
def slow():
    """Seeds of a line that takes a second to simulate."""
    return advise(Line(2_000_000, 1_000_000, medium="dsl", purpose="server", seeds=4))


def test_the_discipline_with_the_lower_delay_is_named_if_the_seeds_decide(slow):
    now, cake, fq_codel = slow.outcomes
    assert cake.added_p95_s < fq_codel.added_p95_s - 0.005
    assert slow.choice == "cake"
    assert any("the delay decides" in text for text in slow.sure)
    assert slow.added.difference.high < 0
    assert now.rpm < cake.rpm == pytest.approx(60 / cake.loaded_rtt_s, rel=0.02)
    assert (now.grade, cake.grade) == ("F", grade(cake.added_p95_s))


def test_the_commands_shape_both_ways_below_the_line_with_its_overhead(slow):
    up, down = (text for text in slow.commands if " cake " in text)
    assert "dev eth0 root cake bandwidth 950kbit" in up
    assert "dev ifb4eth0 root cake bandwidth 1800kbit" in down
    assert all("overhead 34 ptm" in text for text in (up, down))
    assert any("option download '1800'" in text for text in slow.uci)


def test_a_router_gets_nat_and_a_server_does_not():
    tin = "diffserv3 dual-srchost rtt 100ms nonat"
    home = advising._with_nat(Line(1, 1, purpose="household"), [tin, "ip link"])
    assert home == ("diffserv3 dual-srchost nat rtt 100ms", "ip link")
    assert advising._with_nat(Line(1, 1, purpose="server"), [tin]) == (tin,)


def test_grades_hold_below_their_bounds():
    assert [grade(it / 1e3) for it in (4.9, 5, 59, 60, 399, 400)] == ["A+", "A", "B", "C", "D", "F"]


def test_what_no_shaper_can_follow_is_refused_or_doubted():
    with pytest.raises(InputError, match="queue of Wi-Fi is in its driver"):
        advise(Line(2_000_000, 1_000_000, medium="wifi"))
    with pytest.raises(InputError, match="--up: from 100kbit"):
        advise(Line(2_000_000, 10))
    assert "the least rates" in MEDIA["lte"].doubt


def test_a_file_gives_rates_and_round_trip_and_an_option_what_it_lacks(command):
    toml = """
name = "x"
duration = "5s"
[links.down]
rate = "2mbit"
[[flows]]
path = ["down"]
rtt = "20ms"
app = { kind = "bulk" }
"""
    assert of_scenario(_core.Scenario.load(toml)) == (2_000_000, None, 0.02)
    (command.folder / "x.toml").write_text(toml)
    lacking = command("advise", "x.toml")
    assert lacking.returncode == 2 and "--up is not known" in lacking.stderr
    done = command("advise", "x.toml", "--up", "1mbit", "--seeds", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["line"]["rtt_s"] == 0.02
    assert [it["name"] for it in found["outcomes"]] == ["now", "cake", "fq_codel"]


def test_the_table_shows_figures_grade_and_bounds(command):
    done = command("advise", "--down", "2mbit", "--up", "1mbit", "--seeds", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    for part in (
        "Set up cake",
        "RPM",
        "A+ below 5 ms",
        "tc qdisc replace dev eth0 root cake",
        "nat",
        "CPU: our cake takes 48 ns a packet",
    ):
        assert part in done.stdout, part
    page = (command.folder / "out" / "advice.html").read_text()
    assert "<svg" in page and "Set up cake" in page and "<script" not in page


def test_a_measurement_gives_what_no_option_does(tmp_path):
    ping = tmp_path / "ping.txt"
    ping.write_text(
        "PING a (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=12.5 ms\n"
    )
    assert _described(str(ping), "5mbit", None) == (5_000_000, None, 0.0125)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ping.txt"]


def test_a_rate_that_changes_is_asked_for(tmp_path):
    file = tmp_path / "link.csv"
    file.write_text("time_s,rate_mbps\n0,10\n10,5\n20,10\n")
    assert _described(str(file), None, "20ms") == (None, None, 0.02)
    with pytest.raises(InputError, match="nothing: no such file, and no shipped scenario"):
        _described("nothing", None, None)
