"""Study files: axes, filters, and one message for each error."""

from __future__ import annotations

import tracemalloc

import pytest

import sojourn
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.store import Store
from sojourn.study import points as points_module
from sojourn.study.definition import shipped
from sojourn.study.plan import plan_study
from sojourn.study.points import points, resolve

FLOWS = {"name": "flows", "key": "flows.bulk.count", "values": [1, 4]}
RTT = {"name": "rtt", "key": "flows.bulk.rtt", "values": ["100ms", "200ms"]}
DELAY = "queue/bottleneck/delay_p95"


def study(*axes, **more):
    document = {"name": "s", "scenario": "dumbbell-reno", "metrics": [DELAY], "axes": list(axes)}
    return sojourn.study.parse(document | more)


def values(*axes, **more) -> list[tuple]:
    return [tuple(point.values.values()) for point in points(study(*axes, **more))]


def refusal(*axes, **more) -> str:
    with pytest.raises(InputError) as caught:
        points(study(*axes, **more))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_flows_over_a_transport_library_are_refused_before_any_run(tmp_path):
    text = """name = "q"\nduration = "2s"\nwarmup = "0s"\n[links.b]\nrate = "10mbit"
[[flows]]\npath = ["b"]\nrtt = "40ms"\ntransport = "quic"\napp = { kind = "bulk" }\n"""
    (tmp_path / "q.toml").write_text(text)
    seeds = {"name": "delay", "key": "links.b.delay", "values": ["1ms", "2ms"]}
    with pytest.raises(
        InputError, match=r"point 0 \(delay 1ms\): flows\[0\]\.transport: no library"
    ):
        resolve(study(seeds, scenario=str(tmp_path / "q.toml")))


@pytest.mark.parametrize("name", ["a\x1b[31m", "two\nlines", " ", None])
def test_a_name_is_a_word_or_two(name):
    assert refusal(FLOWS, name=name).startswith("name: ")


def test_a_study_without_metrics_is_told_to_name_some():
    document = {"name": "s", "scenario": "dumbbell-reno", "axes": [FLOWS]}
    with pytest.raises(InputError, match="metrics: are missing; name some, such as queue/"):
        sojourn.study.parse(document)


def test_axes_are_multiplied_and_the_last_advances_first():
    assert values(FLOWS, RTT) == [(1, "100ms"), (1, "200ms"), (4, "100ms"), (4, "200ms")]


def test_axes_of_one_zip_advance_together():
    pair = [axis | {"zip": "load"} for axis in (FLOWS, RTT)]
    assert values(*pair) == [(1, "100ms"), (4, "200ms")]


def test_a_range_has_equal_steps_or_equal_ratios_in_the_unit_of_its_low_end():
    ends = {"name": "rtt", "key": "flows.bulk.rtt", "from": "10ms", "to": "1s", "points": 3}
    assert values(ends) == [("10ms",), ("505ms",), ("1000ms",)]
    assert values(ends | {"scale": "log"}) == [("10ms",), ("100ms",), ("1000ms",)]


def test_a_range_of_whole_numbers_has_each_once():
    ends = {"name": "flows", "key": "flows.bulk.count", "from": 1, "to": 3, "points": 9}
    assert values(ends) == [(1,), (2,), (3,)]


@pytest.mark.parametrize("method", ["random", "latin-hypercube", "sobol", "halton"])
def test_samples_lie_between_the_ends_and_repeat_with_their_seed(method):
    ends = {"name": "rtt", "key": "flows.bulk.rtt", "from": "10ms", "to": "100ms"}
    sample = {"method": method, "points": 16, "seed": 5}
    found = [float(text.removesuffix("ms")) for (text,) in values(ends, sample=sample)]
    assert len(set(found)) == 16
    assert all(10.0 <= value <= 100.0 for value in found)
    assert values(ends, sample=sample) == [(f"{value:.6g}ms",) for value in found]
    assert values(ends, sample=sample | {"seed": 6}) != values(ends, sample=sample)


def test_a_latin_hypercube_has_one_sample_in_each_equal_part():
    ends = {"name": "rtt", "key": "flows.bulk.rtt", "from": "0ms", "to": "100ms"}
    found = values(ends, sample={"method": "latin-hypercube", "points": 10})
    assert sorted(int(float(text.removesuffix("ms")) // 10) for (text,) in found) == [*range(10)]


def test_filters_compare_values_with_their_units():
    assert values(FLOWS, RTT, only=[{"rtt": "<= 0.1s"}]) == [(1, "100ms"), (4, "100ms")]
    assert values(FLOWS, RTT, skip=[{"flows": 4, "rtt": ["0.2s"]}]) == [
        (1, "100ms"), (1, "200ms"), (4, "100ms"),
    ]  # fmt: skip


def test_a_plan_counts_runs_and_measures_pilots():
    made = plan_study(study(FLOWS, RTT, seeds=7, set={"duration": "2s", "warmup": "0s"}), pilots=2)
    assert (made.grid, made.points, made.runs, made.simulated_s) == (4, 4, 28, 56.0)
    assert made.run_s > 0.0
    assert made.busy_s == 28 * made.run_s


def test_a_plan_with_a_stopping_rule_says_the_least_and_the_most():
    until = {"metric": DELAY, "within": "5%", "max_seeds": 50}
    made = plan_study(study(FLOWS, until=until), pilots=0)
    assert (made.runs, made.most_runs) == (2 * 8, 2 * 50)


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_study_is_legal(name):
    assert plan_study(sojourn.study.read(name), pilots=0).points > 0


@pytest.mark.parametrize(
    ("axes", "more", "parts"),
    [
        ([], {}, ["axes", "at least one"]),
        ([FLOWS | {"valuse": [1]}], {}, ["axes[0]", "valuse", "values"]),
        ([FLOWS, FLOWS | {"name": "n"}], {}, ["axes.n", "flows.bulk.count", "twice"]),
        ([FLOWS | {"values": [1, 1]}], {}, ["axes.flows.values", "twice"]),
        ([FLOWS | {"name": "seed"}], {}, ["axes.seed", "another name"]),
        ([FLOWS | {"key": "seed"}], {}, ["axes.flows", "sets the seed", "`seeds`"]),
        ([FLOWS], {"set": {"seed": 3}}, ["set.seed", "`seeds`"]),
        ([FLOWS], {"set": {"flows": {"bulk": {"count": 3}}}}, ["set.flows.bulk.count", "axes.flo"]),
        ([{"name": "q", "key": "links.b.queue", "values": ["pie", "codel"]}],
         {"set": {"links.b.queue.target": "9ms"}}, ["set.links.b.queue.target", "axes.q"]),
        ([RTT | {"values": ["20ms", "0.02s"]}], {}, ["axes.rtt.values", "twice"]),
        ([{"name": "r", "from": "1s", "to": "2s", "points": 1}], {}, ["axes.r.points", "2 or"]),
        ([FLOWS], {"metrics": [DELAY, DELAY]}, ["metrics", "twice"]),
        ([FLOWS | {"zip": "z"}, RTT | {"zip": "z", "values": ["1ms"]}], {}, ["flows 2", "rtt 1"]),
        ([{"name": "r", "from": "1s", "to": "1ms", "points": 2}], {}, ["axes.r", "rise"]),
        ([{"name": "r", "from": "1s", "to": "1mbit", "points": 2}], {}, ["axes.r", "units"]),
        ([{"name": "r", "from": "0s", "to": "1s", "points": 2, "scale": "log"}], {}, ["above 0"]),
        ([{"name": "r", "from": 1, "to": 2, "points": 10**9}], {}, ["axes.r.points", "more than"]),
        ([{"name": "r", "from": "1s", "to": "2s"}], {}, ["axes.r.points", "sample"]),
        ([FLOWS], {"sample": {"method": "sobol", "points": 4}}, ["sample", "values"]),
        ([FLOWS], {"sample": {"method": "sobol", "points": 5}}, ["4 or 8"]),
        ([FLOWS], {"only": [{"rtt": "1ms"}]}, ["only", "unknown axis `rtt`", "flows"]),
        ([FLOWS, RTT], {"skip": [{"rtt": ["100ms", "20ms"]}]}, ["skip", "`rtt`", "`20ms`; did"]),
        ([FLOWS], {"only": [{"flows": 3}]}, ["only", "`flows` has no value `3`", "1, 4"]),
        ([FLOWS], {"only": [{"flows": 1}], "skip": [{"flows": "< 4"}]}, ["none of 2 points"]),
        ([FLOWS, RTT], {"max_points": 3}, ["4 points", "max_points = 3"]),
        ([FLOWS], {"metrics": []}, ["metrics"]),
        ([FLOWS], {"seeds": 0}, ["seeds", "from 1 on"]),
        ([{"name": "engine", "values": ["ns9"]}], {}, ["engine ns9", "known: sim"]),
        ([FLOWS], {"until": {"metric": "x", "within": "5%", "max_seeds": 9}}, ["until.metric"]),
        ([FLOWS], {"until": {"metric": DELAY, "within": "0%", "max_seeds": 9}}, ["cannot be met"]),
        ([FLOWS], {"until": {"metric": DELAY, "within": "5%", "max_seeds": 1}}, ["at least 2"]),
        (
            [FLOWS],
            {"metrics": ["queue/bottleneck/delay_p99"],
             "until": {"metric": "queue/bottleneck/delay_p99", "within": "5%", "max_seeds": 5}},
            ["no interval of 95 %", "comes of 5 seeds", "at least 6"],
        ),
        ([FLOWS], {"seeds": 3, "until": {"metric": DELAY}}, ["seeds", "max_seeds"]),
    ],
)  # fmt: skip
def test_a_bad_study_is_refused_with_place_and_remedy(axes, more, parts):
    message = refusal(*axes, **more)
    assert all(part in message for part in parts), message


def test_a_word_that_the_scenario_does_not_have_is_refused_with_its_point():
    with pytest.raises(InputError, match=r"point 0 \(n 1\).*unknown key `cuont`"):
        plan_study(study({"name": "n", "key": "flows.bulk.cuont", "values": [1]}), pilots=0)


def test_a_study_of_many_points_is_parsed_once_and_keeps_no_scenario(monkeypatch):
    parsed, made = [], []

    class Counted:
        def __init__(self, text, **more):
            parsed.append(text)
            self.base = base(text, **more)

        def scenarios(self, each):
            made.append(len(each))
            return self.base.scenarios(each)

    base = points_module._core.ScenarioBase
    monkeypatch.setattr(points_module._core, "ScenarioBase", Counted)
    monkeypatch.setattr(points_module, "load", lambda *_: pytest.fail("a text is read again"))
    many = study(FLOWS, RTT | {"values": [f"{100 + i}ms" for i in range(1000)]})
    points_module.resolve(many)  # fills caches of bounded size
    parsed.clear()
    made.clear()
    tracemalloc.start()
    found = resolve(many)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found), len(parsed), sum(made)) == (2000, 1, 2000)
    assert max(made) <= 64
    assert kept_bytes < 200 * len(found)
    assert len({found[i].address(1) for i in range(0, 2000, 7)}) == len(range(0, 2000, 7))
    assert found[-1].point.values == {"flows": 4, "rtt": "1099ms"}


@pytest.mark.slow
def test_the_command_refuses_a_study_that_is_not_there(command):
    assert "did you mean `aqm-load-rtt`" in command.refused("study", "plan", "aqm-load-rt")
    assert "holds no study" in command.refused("study", "status", "nowhere")
    assert "cluster: `moon` is not one of local" in command.refused(
        "study", "run", "aqm-load-rtt", "--store", "s", "--cluster", "moon"
    )


@pytest.mark.parametrize("name", ["s", 'a "seed":1, b', "seed"])
def test_the_address_of_a_run_is_its_name_in_the_store_of_runs(name):
    found = study(FLOWS, set={"name": name})
    point = resolve(found)[1]
    store, (engine,) = Store(), registry.select(["sim"], {})
    identity = f"sim {engine.identity(point.scenario)}"
    for seed in (1, 2, 77, 10**12):
        path = store.path(point.scenario.with_seed(seed), engine=identity, kind="run")
        assert point.address(seed) == path.stem
