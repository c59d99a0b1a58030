"""Congestion controls written in Python: example of the docs, errors, manifest, determinism."""

import importlib.util
import itertools
import os
import re
import sys
from pathlib import Path

import pytest

import sojourn
from sojourn.control import digest

DOCS = Path(__file__).parent.parent / "docs" / "how-to" / "python-cc.md"
SCENARIO = """
name = "one"
duration = "8s"
record = { flows = true }

[links.b]
rate = "10mbit"
delay = "18ms"
buffer = "1bdp"
QUEUE

[[flows]]
name = "bulk"
path = ["b"]
rtt = "40ms"
cc = "reno"
FLOW
app = { kind = "bulk" }

[[flows]]
name = "voip"
path = ["b"]
rtt = "40ms"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }
"""


def scenario(queue: str = "", flow: str = "", cc: str = "reno") -> sojourn.Scenario:
    text = SCENARIO.replace("QUEUE", queue).replace("FLOW", flow)
    return sojourn.Scenario.load(text.replace('"reno"', f'"{cc}"'))


class Reno:
    """The simulator's Reno, with a fractional window."""

    cwnd: float

    def __init__(self):
        self.ssthresh = float("inf")

    def on_ack(self, ack):
        if ack.limited:
            self.cwnd += ack.delivered if self.cwnd < self.ssthresh else ack.delivered / self.cwnd

    def on_loss(self, now_s):
        self.cwnd = self.ssthresh = max(2.0, self.cwnd / 2)

    def on_ecn(self, now_s):
        self.on_loss(now_s)

    def on_timeout(self, now_s):
        self.ssthresh = max(2.0, self.cwnd / 2)
        self.cwnd = 1.0


def test_the_example_of_the_docs_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python[^\n]*\n(.*?)```", DOCS.read_text(), re.DOTALL)
    file = tmp_path / "example_of_docs.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location("example_of_docs", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "example_of_docs", module)
    spec.loader.exec_module(module)
    goodput, cc = capsys.readouterr().out.splitlines()
    assert float(goodput) > 1e6
    assert re.fullmatch(r"python:example_of_docs\.Aimd sha256=[0-9a-f]{64}", cc)


def test_reno_in_python_does_as_well_as_the_built_in_one():
    built_in = sojourn.run(scenario()).summary["class/bulk/goodput"]
    own = sojourn.run(scenario(), ccs={"bulk": Reno}).summary["class/bulk/goodput"]
    assert own == pytest.approx(built_in, rel=0.03)


def test_the_same_class_and_seed_give_the_same_digest():
    first, second = (sojourn.run(scenario(), ccs={"bulk": Reno}) for _ in range(2))
    assert first.digest == second.digest
    assert first.manifest["transports"] == second.manifest["transports"]


def test_the_manifest_identifies_the_code_down_to_its_constants():
    class Half(Reno):
        gain = 0.5

    class Third(Reno):
        gain = 0.3

    (transport,) = sojourn.run(scenario(), ccs={"bulk": Half}).manifest["transports"]
    assert transport["flows"] == "bulk"
    assert transport["cc"].startswith(f"python:{__name__}.")
    assert transport["cc"].endswith(f"Half sha256={digest(Half)}")
    assert digest(Half) != digest(Third)


GAIN = {"up": [1.0, 2.0]}


def helped(value):
    return value * GAIN["up"][0]


def enclosed(gain):
    class Enclosed:
        """Its code is the same whatever the gain."""

        def on_ack(self, ack):
            return gain + helped(1)

    return Enclosed


def test_the_digest_covers_globals_and_enclosing_variables_of_a_class(monkeypatch):
    first = digest(enclosed(1.0))
    assert digest(enclosed(1.0)) == first
    assert digest(enclosed(2.0)) != first
    monkeypatch.setitem(GAIN, "up", [3.0, 2.0])
    assert digest(enclosed(1.0)) != first, "a global of a function that a method calls"


def test_marks_arrive_once_per_round_trip_and_counted():
    marked_at_s, counted = [], []

    class Marked(Reno):
        def on_ecn(self, now_s):
            marked_at_s.append(now_s)
            super().on_ecn(now_s)

        def on_ack(self, ack):
            counted.append(ack.marks)
            super().on_ack(ack)

    result = sojourn.run(scenario('queue = "step"', "ecn = true"), ccs={"bulk": Marked})
    marked = max(result.flows["ce_bytes"].to_pylist()) / 1448
    assert sum(counted) == pytest.approx(marked, abs=5)
    gaps = [later - earlier for earlier, later in itertools.pairwise(marked_at_s)]
    assert marked_at_s
    assert min(gaps) > 0.03


def test_pacing_spreads_what_a_window_would_send_at_once():
    class Paced(Reno):
        pacing_rate = 800.0  # of 833 packets per second that the link carries

        def on_ack(self, ack):
            self.cwnd = 100.0

    assert sojourn.run(scenario(), ccs={"bulk": Paced}).summary["queue/b/delay_p95"] < 0.02


@pytest.mark.parametrize(
    ("method", "body", "words"),
    [
        ("on_ack", lambda self, ack: 1 / 0, ["Failing.on_ack", "ZeroDivisionError"]),
        ("on_loss", lambda self, now_s: {}["x"], ["Failing.on_loss", "KeyError: 'x'"]),
        ("on_ack", lambda self, ack: setattr(self, "cwnd", 0.5), ["cwnd is 0.5", "from 1 to"]),
        ("on_ack", lambda self, ack: setattr(self, "cwnd", float("nan")), ["cwnd is", "nan"]),
        ("on_ack", lambda self, ack: setattr(self, "cwnd", "x"), ["Failing.on_ack", "TypeError"]),
        ("__init__", lambda self: [].pop(), ["Failing.__init__", "IndexError"]),
        ("on_ack", lambda self, ack: sys.exit(0), ["Failing.on_ack", "SystemExit: 0"]),
        ("on_loss", lambda self, now_s: os._exit(0), ["it called os._exit(0)"]),
    ],
)
def test_an_error_names_flow_time_and_cause(method, body, words):
    failing = type("Failing", (Reno,), {method: body, "__module__": __name__})
    with pytest.raises(sojourn.ControlError) as caught:
        sojourn.run(scenario(), ccs={"bulk": failing})
    message = str(caught.value).casefold()
    assert re.search(r"flows `bulk`, flow 0 at \d+\.\d{6} s: ", message), message
    for word in words:
        assert word.casefold() in message, message
    assert caught.value.__cause__ is not None


def test_flows_that_are_not_there_or_speak_no_tcp_are_refused():
    for name in ("bulc", "voip"):
        with pytest.raises(sojourn.ScenarioError, match=rf"cc\[{name}\].*known: bulk"):
            sojourn.run(scenario(), ccs={name: Reno})


def test_a_control_that_is_not_a_class_or_lacks_a_method_is_refused():
    with pytest.raises(sojourn.InputError, match="not a class"):
        sojourn.run(scenario(), ccs={"bulk": Reno()})
    with pytest.raises(sojourn.InputError, match="no method on_ack"):
        sojourn.run(scenario(), ccs={"bulk": object})
    with pytest.raises(sojourn.InputError, match="flows: class"):
        sojourn.run(scenario(), ccs=Reno)
    with pytest.raises(sojourn.InputError, match=r"^ccs: \[\] does not say for which flows"):
        sojourn.compare(scenario(), ["codel"], ccs=[])
    with pytest.raises(sojourn.InputError, match=r"^apps: '' does not say for which flows"):
        sojourn.compare(scenario(), ["codel"], apps="")


def test_a_class_whose_source_is_unknown_is_refused():
    namespace = {"Reno": Reno, "__name__": __name__}
    exec("class Unseen(Reno):\n    def on_ecn(self, now_s): pass", namespace)
    with pytest.raises(sojourn.InputError, match="source of Unseen cannot be read"):
        sojourn.run(scenario(), ccs={"bulk": namespace["Unseen"]})


def test_bbr_shows_its_state():
    assert "btlbw" not in sojourn.run(scenario()).flow_states["var"].to_pylist()
    bbr = sojourn.run(scenario(cc="bbr"))
    assert {"mode", "btlbw", "min_rtt", "pacing_gain"} <= set(bbr.flow_states["var"].to_pylist())
