"""Engines behind one protocol; a third engine, which only the registry knows, works everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import sojourn
from sojourn import _core
from sojourn.app import custom_apps
from sojourn.comparing import planned
from sojourn.describing.library import load
from sojourn.engines import registry
from sojourn.engines.linux import engine as linux
from sojourn.engines.protocol import Availability, Declaration, EngineOption
from sojourn.errors import InputError
from sojourn.reproduce.select import select
from sojourn.running.doctor import examine

SMALL = {"duration": "2s", "warmup": "0s"}


class Third:
    """An engine that passes every scenario to the simulator and records the calls."""

    name = "third"
    about = "an engine for tests"
    is_testbed = False
    options = (EngineOption("speed", noun="a speed", metavar="N", help="how fast.", kind=int),)

    def __init__(self) -> None:
        self.calls: list[Any] = []

    @contextmanager
    def prepare(self, scenario: Any, options: Any, controls: Any = ()) -> Iterator[Any]:
        self.calls.append(("prepare", dict(options)))
        made: list[_core.Run] = []

        def run(cancel: _core.Cancel) -> None:
            self.calls.append("run")
            made.append(_core.run(scenario, cancel, list(controls)))

        def collect() -> _core.Run:
            self.calls.append("collect")
            return made[0]

        try:
            yield SimpleNamespace(run=run, collect=collect)
        finally:
            self.calls.append("released")

    def describe(self, options: Any) -> str:
        return f"third at speed {options.get('speed')}"

    def digest(self, options: Any) -> str:
        return str(options.get("speed"))

    def identity(self, _scenario: Any, _options: Any) -> None:
        return None

    def doctor(self) -> list[Availability]:
        return [Availability("third", False, "not built", "sojourn third build")]


@pytest.fixture
def third(monkeypatch: pytest.MonkeyPatch) -> Third:
    engine, module = Third(), ModuleType("sojourn.engines.third.engine")
    module.ENGINE = engine  # type: ignore[attr-defined]
    package = ModuleType("sojourn.engines.third")
    declared = Declaration(engine.name, engine.about, engine.options)
    package.DECLARED = declared  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sojourn.engines.third", package)
    monkeypatch.setitem(sys.modules, "sojourn.engines.third.engine", module)
    monkeypatch.setattr(registry, "NAMES", (*registry.NAMES, "third"))
    return engine


def test_a_third_engine_runs_with_its_own_option(third: Third) -> None:
    own = sojourn.run("dumbbell-reno", sets=SMALL)
    result = sojourn.run("dumbbell-reno", sets=SMALL, engine="third", speed=3)
    assert third.calls == [("prepare", {"speed": 3}), "run", "collect", "released"]
    assert result.digest == own.digest


def test_a_third_engine_is_compared_with_the_first(third: Third) -> None:
    engines = registry.select(["sim", "third"], {})
    found = sojourn.compare("dumbbell-reno", ["pie"], 1, sets=SMALL, engine=engines)
    assert [aqm.split(" on ")[1] for aqm in found.aqms] == ["sim", "third"]
    assert found.failures == []
    first, second = (found.of(aqm)[0].digest for aqm in found.aqms)
    assert first == second


def test_the_simulator_follows_the_kernel_that_it_is_compared_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(linux, "version_of", lambda *_: "6.1.192-3")
    aqms = ["codel@linux", "pie@linux", "fq_codel@linux-7.2"]
    scenario = load("dumbbell-reno")
    found = planned._variants(scenario, "bottleneck", aqms, registry.select(["sim", "linux"], {}))
    heads = {name: it.queue("bottleneck").split(":")[0] for name, (it, _, _) in found.items()}
    assert heads == {
        "codel@linux on sim": "codel@linux-6.1", "codel@linux on linux": "codel@linux",
        "pie@linux on sim": "pie@linux", "pie@linux on linux": "pie@linux",
        "fq_codel@linux-7.2 on sim": "fq_codel@linux-7.2",
        "fq_codel@linux-7.2 on linux": "fq_codel@linux-7.2",
    }  # fmt: skip


def test_engines_are_compared_with_the_queue_of_a_scenario_whose_link_sizes_its_buffer(
    third: Third,
) -> None:
    engines = registry.select(["sim", "third"], {})
    sized = {**SMALL, "links.bottleneck.buffer": "1bdp"}
    found = sojourn.compare("dumbbell-reno", [], 1, sets=sized, engine=engines)
    assert found.failures == []
    assert len(found.aqms) == 2


def test_doctor_shows_a_third_engine_with_its_remedy(third: Third) -> None:
    (check,) = [check for check in examine() if check.name == "engine third"]
    assert (check.state, check.found, check.remedy) == ("later", "not built", "sojourn third build")


def test_a_third_engine_that_is_not_a_testbed_runs_all_papers(third: Third) -> None:
    assert select([], third) == select([])


def test_options_go_to_their_engine_and_are_left_out_when_not_given(third: Third) -> None:
    sim, other = registry.select(["sim", "third"], {"speed": 2, "kernel": None})
    assert (sim.options, other.options) == ({}, {"speed": 2})
    assert (other.name, other.describe(), other.digest()) == ("third", "third at speed 2", "2")


def test_an_option_of_another_engine_is_refused_with_that_engine(third: Third) -> None:
    with pytest.raises(InputError) as error:
        registry.select(["sim"], {"speed": 2})
    said = "--speed: only engine third has a speed; add `engine` third"
    assert str(error.value) == said
    with pytest.raises(InputError) as error:
        registry.select(["sim", "third"], {"kernel": Path("/bin/true")})
    said = 'kernel: only engine linux has a kernel; add `engine="linux"`'
    assert str(error.value) == said


def test_an_engine_is_known_and_selected_once() -> None:
    with pytest.raises(InputError, match="engine qemu: is unknown; known: sim, linux, ns3"):
        registry.select(["qemu"], {})
    with pytest.raises(InputError, match="engine sim: is listed twice"):
        registry.select(["sim", "sim"], {})


def test_engines_are_named_as_text_sequence_or_selection(third: Third) -> None:
    (chosen,) = registry.select("third", {"speed": 2})
    forms = ("sim,third", ["sim", "third"], ("sim", chosen))
    assert [[each.name for each in registry.select(form)] for form in forms] == [
        ["sim", "third"]
    ] * 3
    assert registry.select(["sim", chosen])[1].options == {"speed": 2}
    assert registry.select_one(chosen) == chosen
    found = sojourn.agree(["dumbbell-reno"], "sim,third", seeds=1, speed=4)
    assert (found.names, found.share) == (("sim", "third"), 1.0)


def test_one_engine_and_one_aqm_where_only_one_can_run(third: Third) -> None:
    with pytest.raises(InputError, match="engine sim, third: one engine is needed here"):
        sojourn.run("dumbbell-reno", sets=SMALL, engine="sim,third")
    with pytest.raises(InputError, match="aqms: a run has one AQM, not 2; `compare` takes several"):
        sojourn.run("dumbbell-reno", sets=SMALL, aqms="codel,pie:target=5ms,tupdate=5ms")
    alone, listed = (
        sojourn.run("dumbbell-reno", sets=SMALL, aqms=form) for form in ("codel", ["codel"])
    )
    assert alone.digest == listed.digest
    assert sojourn.compare("dumbbell-reno", "codel,pie", 1, sets=SMALL).aqms == ["codel", "pie"]


@pytest.mark.parametrize(
    ("old", "new"), [("on", "engine"), ("cc", "ccs"), ("app", "apps"), ("aqm", "aqms")]
)
def test_another_word_for_an_argument_is_refused_with_the_right_one(old: str, new: str) -> None:
    calls = (
        lambda: sojourn.run("dumbbell-reno", **{old: "pie"}),
        lambda: sojourn.compare("dumbbell-reno", ["pie"], **{old: "pie"}),
        lambda: sojourn.agree(["dumbbell-reno"], **{old: "pie"}),
        lambda: sojourn.reproduce.reproduce(**{old: "pie"}),
    )
    for call in calls:
        with pytest.raises(
            TypeError, match=f"unknown argument or engine option `{old}`; it is `{new}`"
        ):
            call()


def test_a_misspelt_argument_of_run_is_not_an_engine_option() -> None:
    with pytest.raises(TypeError, match="sedes"):
        sojourn.run("dumbbell-reno", sedes=3)


def test_the_simulator_is_the_default_and_depends_on_nothing_else() -> None:
    assert (registry.DEFAULT.name, registry.DEFAULT.describe()) == ("sim", "sim")
    assert registry.DEFAULT.digest() == ""
    (place,) = registry.DEFAULT.engine.doctor()
    assert place.works and _core.__version__ in place.note


class Silent:
    """An application that sends nothing."""

    def next_datagram(self, now_ns: int, random: Any) -> None:
        """No datagram."""


def test_the_kernel_takes_no_applications_written_in_python() -> None:
    loaded = sojourn.load("traffic-mix").with_apps(custom_apps({"voip": Silent}))
    with (
        pytest.raises(InputError, match="engine linux runs its own traffic programs"),
        registry.find("linux").prepare(loaded, {}),
    ):
        pass


def test_the_kernel_takes_no_controls_written_in_python() -> None:
    linux = registry.find("linux")
    assert linux.is_testbed
    with (
        pytest.raises(InputError, match="the kernel's own congestion controls"),
        linux.prepare(sojourn.load("dumbbell-reno"), {}, [("bulk", object, "")]),
    ):
        pass
