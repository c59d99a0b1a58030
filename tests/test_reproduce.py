"""Papers reproduced: cache, resuming, selection, JSON keys, dossier, all claims and items."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn import _core
from sojourn.describing.library import load
from sojourn.engines import registry
from sojourn.errors import InputError, Interrupted, RunFailed
from sojourn.papers.kids import common as kids
from sojourn.reproduce import dossier, outcome, select, spread, work
from sojourn.reproduce.claims import explained, more, not_measured, number, order
from sojourn.reproduce.on_kernel import kernel_queue, needs_module, on_kernel
from sojourn.reproduce.paper import Case, Item, ItemVariant, Paper, Seeds, Table
from sojourn.reproduce.verdict import not_covered
from sojourn.running.replicas import Silent
from sojourn.running.runs import run
from sojourn.running.store import Store
from sojourn.scenario import Bulk, FlowGroup, Link, Scenario

LINUX = registry.find("linux")
DATA = Path(__file__).parent / "data"


def scenario(queue: str, duration: str = "2s") -> Scenario:
    flow = FlowGroup(path=["bottleneck"], rtt="20ms", start="0s..1s", app=Bulk())
    link = Link(rate="2mbit", delay="5ms", buffer="30kB", queue=queue)
    return Scenario(name="tiny", duration=duration, links={"bottleneck": link}, flows=[flow])


def measure(pools):
    return {f"{k}.mean_ms": 1e3 * p.distribution().mean_s for k, p in pools.items()}


def figures(pools, _values):
    from sojourn.plots.curves import Curve, Panel, curves

    pool = pools["taildrop"]
    line = Curve("taildrop", *pool.states("delay_mean")[0], "#0072b2")
    return {"F1": curves("Delay", [Panel("", [line], "time [s]", "delay [s]")])}


KEEP = ("delays", "states")
TINY = Paper(
    key="tiny",
    title="A tiny paper",
    source="nobody",
    about="Two queues.",
    items=(
        Item(
            "F1", "Delay", seeds=Seeds(2, 3), measure=measure, figures=figures,
            cases=lambda _p: {k: Case(scenario(k), KEEP) for k in ("taildrop", "codel")},
            tables=lambda v: [Table("Delays", ("key", "ms"), [(k, str(x)) for k, x in v.items()])],
        ),
        Item("F2", "What is not there", missing="a model that is not built"),
    ),
    claims=explained(
        [
            order("tiny-F1-1", "tail drop is slower", more("taildrop.mean_ms", "codel.mean_ms")),
            number("tiny-F1-2", "exact", "an impossible number", "codel.mean_ms", 1e6, "ms"),
            not_measured("tiny-F2-1", "exact", "never measured"),
        ],
        {"F1-2": "it is made up"},
    ),
)  # fmt: skip


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(select, "known", lambda: {"tiny": TINY})
    yield


def reproduce(folder: Path, **options):
    said: list[str] = []
    found = outcome.reproduce(["tiny"], store=Store(folder, said.append), **options)
    return found, said


def test_a_second_call_makes_no_run_and_gives_the_same_numbers(tiny, tmp_path):
    first, _ = reproduce(tmp_path)
    again, said = reproduce(tmp_path)
    assert (first.tally.made, first.tally.cached) == (4, 0)
    assert (again.tally.made, again.tally.cached, said) == (0, 4, [])
    assert outcome.to_json(first)["values"] == outcome.to_json(again)["values"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.npz")}


def test_the_workers_of_studies_keep_the_same_runs_as_threads(tiny, tmp_path):
    threads, _ = reproduce(tmp_path / "a")
    workers, _ = reproduce(tmp_path / "b", executor=ThreadPoolExecutor(2))
    assert threads.tally == workers.tally
    assert outcome.to_json(threads)["values"] == outcome.to_json(workers)["values"]
    assert len(contents(tmp_path / "a")) == 4
    assert contents(tmp_path / "a").keys() == contents(tmp_path / "b").keys()


def test_a_run_that_a_worker_cannot_make_is_named(tiny, tmp_path, monkeypatch):
    def fails(_result, _keep):
        raise RunFailed("no more memory")

    monkeypatch.setattr(spread, "packed", fails)
    with pytest.raises(RunFailed, match=r"4 of 4; the first: tiny F1 .*no more memory"):
        reproduce(tmp_path, executor=ThreadPoolExecutor(1))


def test_more_seeds_make_only_those_that_are_missing(tiny, tmp_path):
    reproduce(tmp_path)
    full, _ = reproduce(tmp_path, profile="full")
    assert (full.tally.made, full.tally.cached) == (2, 4)


@pytest.mark.parametrize("damage", ["shorter", "flipped", "empty", "text"])
def test_a_damaged_entry_of_the_cache_is_reported_and_made_again(tiny, tmp_path, damage):
    first, _ = reproduce(tmp_path)
    path = sorted(tmp_path.rglob("*.npz"))[0]
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes({
        "shorter": whole[:middle],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :],
        "empty": b"",
        "text": b"not a run",
    }[damage])  # fmt: skip
    again, said = reproduce(tmp_path)
    assert outcome.to_json(first)["values"] == outcome.to_json(again)["values"]
    assert len(said) == 1 and str(path) in said[0] and "damaged" in said[0]
    _, said = reproduce(tmp_path)
    assert said == []


class InterruptsAfterTwo(Silent):
    """Ctrl-C as soon as two runs are complete."""

    def update(self, runs: int, simulated_s: float) -> None:
        if runs >= 2:
            raise KeyboardInterrupt


def test_runs_finished_before_ctrl_c_serve_the_next_call(tiny, tmp_path, monkeypatch):
    long = TINY.items[0].cases("quick") | {"pie": Case(scenario("pie", "3000s"), KEEP)}
    item = Item("F1", "Delay", seeds=Seeds(1, 1), cases=lambda _p: dict(reversed(long.items())))
    monkeypatch.setattr(select, "known", lambda: {"tiny": Paper("tiny", "", "", "", (item,))})
    store = Store(tmp_path)
    with pytest.raises(Interrupted):
        outcome.reproduce(["tiny"], store=store, jobs=2, progress=InterruptsAfterTwo())
    assert len(list(tmp_path.rglob("*.npz"))) == 2
    monkeypatch.setattr(select, "known", lambda: {"tiny": TINY})
    found, _ = reproduce(tmp_path, seeds=1)
    assert (found.tally.made, found.tally.cached) == (0, 2)


def test_the_name_of_a_run_depends_on_scenario_seed_simulator_and_what_is_kept(
    tmp_path, monkeypatch
):
    store = Store(tmp_path)
    item = TINY.items[0]

    def names(keep=KEEP, queue="codel"):
        case = {"a": Case(scenario(queue), keep)}
        plan = work.plan_item("tiny", Item("F9", "", cases=lambda _p: case), "quick", 2, store)
        return {run.path.name for run in plan.runs()}

    assert len(names()) == 2 and item.seeds.quick == 2
    assert names() == names()
    assert not names() & names(queue="pie")
    assert not names() & names(keep=("delays",))
    before = names()
    monkeypatch.setattr("sojourn.running.store.simulator", lambda: "another one")
    assert not before & names()


def test_json_has_every_value_under_paper_item_and_key(tiny, tmp_path):
    found, _ = reproduce(tmp_path)
    data = json.loads(json.dumps(outcome.to_json(found)))
    assert set(data["values"]) == {"tiny.F1.taildrop.mean_ms", "tiny.F1.codel.mean_ms"}
    assert set(data["half_widths"]) == set(data["values"]) == set(data["run_means"])
    verdicts = {claim["id"]: claim["verdict"] for claim in data["claims"]}
    assert verdicts["tiny-F1-2"] == "differs" and verdicts["tiny-F2-1"] == "not covered"
    assert data["counts"]["tiny"]["not covered"] == 1
    assert [item["covered"] for item in data["items"]] == [True, False]


def test_the_dossier_is_whole_and_needs_nothing_outside(tiny, tmp_path):
    found, _ = reproduce(tmp_path / "cache")
    said: list[str] = []
    names = dossier.save(found, tmp_path / "out", said.append)
    assert said == ["drawing the figures of tiny"]
    assert {"tiny.html", "index.html", "reproduction.json", "tiny/F1.png"} <= set(names)
    page = (tmp_path / "out" / "tiny.html").read_text()
    assert not re.search(r'(src|href)="(https?:|//)', page)
    assert "Not covered: a model that is not built." in page
    assert "it is made up" in page and "<svg" in page and "[links.bottleneck]" in page
    assert page.index("<svg") < page.index("tiny-F1-1")


def test_the_index_has_the_score_of_all_papers_and_every_failed_claim(tiny, tmp_path):
    found, _ = reproduce(tmp_path / "cache")
    dossier.save(found, tmp_path / "out")
    index = (tmp_path / "out" / "index.html").read_text()
    assert re.search(r"all</th><td>1 of 2</td>", index)
    assert 'href="tiny.html#F1">tiny-F1-2</a>' in index and "/ 1e+06 ms" in index


def test_the_index_says_so_where_no_claim_is_about_the_items_chosen(tiny, tmp_path, monkeypatch):
    bare = replace(TINY, claims=())
    monkeypatch.setattr(select, "known", lambda: {"tiny": bare})
    found, _ = reproduce(tmp_path / "cache")
    dossier.save(found, tmp_path / "out")
    index = (tmp_path / "out" / "index.html").read_text()
    assert "<p>no claims about the items chosen.</p>" in index


def test_what_a_page_says_already_is_referred_to() -> None:
    once = dossier.Once()
    assert once.note("F1", "Sizes follow. The rate is ours.") == "Sizes follow. The rate is ours."
    assert once.note("F2", "The rate is ours. Times too.") == "Times too. See also F1."
    assert once.note("F3", "") == ""
    claims = [replace(not_covered(claim), verdict="fails") for claim in TINY.claims]
    one, two, three = claims
    assert once.reasons([(one, "PIE holds."), (two, "PIE holds."), (three, "")]) == [
        ("tiny-F1-1 (fails), tiny-F1-2 (fails)", "PIE holds."),
        ("tiny-F2-1 (fails)", "No reason is known."),
    ]
    assert once.reasons([(three, "PIE holds.")]) == [("tiny-F2-1 (fails)", "as for tiny-F1-1.")]


def test_unknown_papers_and_items_show_the_nearest_and_all_in_order():
    listed = r"there are: codel-act, kids, madpie, pi2, pie;"
    with pytest.raises(InputError, match=rf"did you mean `madpie`\?.* {listed}"):
        select.select(["madpi"])
    with pytest.raises(InputError, match=rf"reproduce xyz: unknown paper; {listed}"):
        select.select(["xyz"])
    with pytest.raises(InputError, match=r"pi2:: pi2 has no such item"):
        select.select(["pi2:"])
    with pytest.raises(InputError, match=r"codel-act has no such item.*T1"):
        select.select(["codel-act:T2"])


def test_items_are_chosen_by_name_once_and_in_the_papers_order():
    ((paper, items),) = select.select(["codel_act:f4", "codel-act:T1", "CODEL-ACT:F4"])
    assert (paper.key, [item.id for item in items]) == ("codel-act", ["T1", "F4"])
    assert select.select(["codel-act:F4,t1"]) == [(paper, items)]
    with pytest.raises(InputError, match=r"codel-act:T2: codel-act has no such item"):
        select.select(["codel-act:F4,T2"])


def expected_claims() -> dict[str, str]:
    lines = (DATA / "expected_claims.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def test_every_expected_claim_is_there_with_its_tag():
    claims = [claim for paper in select.known().values() for claim in paper.claims]
    assert len({claim.id for claim in claims}) == len(claims)
    assert {claim.id: claim.tag for claim in claims} == expected_claims()


def test_every_numbered_item_of_the_papers_is_there_and_every_claim_has_its_item():
    lines = (DATA / "expected_items.txt").read_text().splitlines()
    wanted = {w[0]: set(w[1:]) for w in map(str.split, lines) if w[0] != "#"}
    assert sum(map(len, wanted.values())) == 67 + 3
    for paper in select.known().values():
        items = {item.id for item in paper.items}
        assert items - wanted[paper.key] <= {"G"} and wanted[paper.key] <= items
        assert {claim.where for claim in paper.claims} <= items


def test_what_is_not_covered_says_why_and_what_is_covered_has_claims_with_parts():
    for paper in select.known().values():
        missing = {item.id for item in paper.items if item.missing}
        for claim in paper.claims:
            assert bool(claim.parts) == (claim.where not in missing), claim.id
    pie = {item.id: item.missing for item in select.known()["pie"].items}
    assert any(pie.values())


def test_the_wireless_items_run_on_the_simulator_and_not_on_the_kernel():
    kids = select.known()["kids"]
    assert not any(item.missing for item in kids.items if item.id in {"F1", "F9", "F10"})
    on_linux = {item.id: item.missing for item in on_kernel(kids).items}
    assert all("wireless" in on_linux[item] for item in ("F1", "F9", "F10"))


SMALL = (
    "codel-act:F1",
    "madpie:F1",
    pytest.param("madpie:F4", marks=pytest.mark.long),
    "pi2:F3",
    "pie:F6",
    "pie:F15",
    "kids:T2",
    "kids:F5",
    pytest.param("kids:F9", marks=pytest.mark.long),
)


@pytest.mark.slow
@pytest.mark.parametrize("word", SMALL)
def test_an_item_of_each_paper_measures_what_its_claims_need(word, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "runs"
    found = outcome.reproduce([word], seeds=1, store=Store(folder))
    ((made,),) = [paper.items for paper in found.papers]
    assert made.values and made.claims
    assert all(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+|[a-z0-9_]+", key) for key in made.values)
    assert not [judged.claim.id for judged in made.claims if judged.verdict == "no value"]
    assert made.item.tables(made.values) or made.item.figures(
        work.pool(made.plan, found.store), made.values
    )


def test_on_the_kernel_only_testbed_experiments_are_made() -> None:
    chosen = select.select([], LINUX)
    assert [paper.key for paper, _items in chosen] == ["codel-act", "kids", "madpie", "pie"]
    of_pie = {item.id: item for item in chosen[3][1]}
    assert of_pie["F10"].missing == ""
    assert "testbed" in of_pie["F4"].missing
    assert of_pie["F4"].cases("quick") == {}
    with pytest.raises(InputError, match="reproduce pi2: it was not measured on a Linux testbed"):
        select.select(["pi2"], LINUX)


def test_reasons_of_the_simulator_are_not_given_for_the_kernel() -> None:
    ((kids, _items),) = select.select(["kids"], LINUX)
    (own, _items) = select.select(["kids"])[0]
    assert any(claim.differs for claim in own.claims)
    assert kids.testbed is not None
    differs = {"-".join(claim.id.split("-")[-2:]) for claim in kids.claims if claim.differs}
    assert differs == set(kids.testbed.differs)


@pytest.mark.parametrize("paper", ["codel-act", "kids", "madpie", "pie"])
def test_every_testbed_experiment_can_be_configured_in_the_kernel(paper: str) -> None:
    ((made, items),) = select.select([paper], LINUX)
    assert made.testbed is not None
    assert set(made.testbed.items) <= {item.id for item in items}
    cases = [case for item in items for case in item.all_cases("full").values()]
    assert len(cases) >= 12
    for case in cases:
        _core.linux_plan(load(case.scenario, []))


def test_queues_are_configured_in_the_kernels_dialect() -> None:
    theirs = "pie@paper2013:heuristics=linux2013,target=5ms,tupdate=30ms,limit=1000p,ecn=true"
    assert kernel_queue(theirs) == "pie@linux:target=5ms,tupdate=30ms,limit=1000p,ecn=true"
    ared = "ared@kids:min_th=3125B,max_th=9375B,target_delay=5ms,limit=1000p"
    assert kernel_queue(ared) == "ared@linux:min_th=3125B,max_th=9375B,limit=1000p"
    assert kernel_queue("codel@linux:target=1ms") == "codel@linux:target=1ms"
    assert kernel_queue("codel@draft:target=5ms") == "codel@linux:target=5ms"
    assert kernel_queue("codel@draft:count=600") == "codel@draft:count=600"


def test_our_module_carries_the_aqms_that_the_kernel_lacks() -> None:
    ((_madpie, items),) = select.select(["madpie"], LINUX)
    cases = next(item for item in items if item.id == "F12").all_cases("quick")
    of_madpie, of_pie = cases["madpie"].scenario, cases["pie"].scenario
    queue = "target=20ms,tupdate=30ms,alpha=0.125hz,beta=1.25hz"
    assert str(of_pie.links["bottleneck"].queue) == f"pie@linux:{queue}"
    assert of_pie.engine is None
    assert str(of_madpie.links["bottleneck"].queue) == (
        f"madpie@linux:{queue},deterministic_target=25ms"
    )
    assert of_madpie.engine is not None and of_madpie.engine.linux is not None
    assert of_madpie.engine.linux.bottleneck == "sojourn-module"
    # The kernel's cubic has no parameters.
    assert {group.cc for group in of_madpie.flows} == {None, "cubic"}
    assert needs_module("codel@act") and needs_module("codel@draft:count=600")
    assert not needs_module("codel@draft:interval=200ms")


def ared(text: str) -> dict[str, float]:
    flows = FlowGroup(path=["bottleneck"], rtt="100ms", count=16, app=Bulk())
    link = Link(rate="10mbit", delay="50ms", queue=text)
    made = Scenario(name="ared", duration="5s", links={"bottleneck": link}, flows=[flows])
    return dict(run(made).summary)


def test_the_kernel_is_given_the_burst_from_which_tc_computes_the_report_s_weight() -> None:
    case = kids.with_floyd_weight(kids.scenario(kids.queue("ared", 5), 4))
    own = str(case.links["bottleneck"].queue)
    on_linux = kernel_queue(own)
    assert "w_q=0.0009765625" in own and "w_q" not in on_linux and ",burst=48" in on_linux
    # The timer of the report's dialect is exact.
    exact = f"{on_linux},hz=off"
    assert ared(own) == ared(exact)
    assert ared(f"{kernel_queue(own.replace('0.0009765625', 'auto'))},hz=off") != ared(exact)


def test_a_weight_that_tc_cannot_be_given_is_refused() -> None:
    with pytest.raises(InputError, match=r"min_th=3125B: tc finds no burst for w_q=0\.0012"):
        kernel_queue("ared@kids:min_th=3125B,max_th=9375B,w_q=0.0012")


def test_pie_is_never_deactivated_in_any_item_of_codel_act() -> None:
    """Schwarzkopf, Veith and Menth 2016 §II."""
    items = select.known()["codel-act"].items
    cases = [case for item in items for case in item.all_cases("full").values()]
    queues = [str(case.scenario.links["bottleneck"].queue) for case in cases]
    pies = [queue for queue in queues if queue.startswith("pie")]
    assert len(pies) > 100 and all("on_off=false" in queue for queue in pies)


def test_both_weights_of_red_s_average_are_measured_wherever_ared_is() -> None:
    for item in select.known()["kids"].items:
        texts = [
            str(link.queue)
            for case in item.all_cases("full").values()
            for link in case.scenario.links.values()
            if str(link.queue).startswith("ared")
        ]
        own = [text for text in texts if "w_q=auto" not in text]
        assert len(texts) == 2 * len(own), item.id  # fact papers-12
        assert all("w_q=0.0009765625" in t or "w_q=0.00048828125" in t for t in own)


def small(change: Callable[[Scenario], Scenario]) -> Item:
    return Item(
        "F1", "", measure=measure, variants=(ItemVariant("shallow", "half the room", change),),
        cases=lambda _p: {"taildrop": Case(scenario("taildrop"), KEEP)}, seeds=Seeds(1, 1),
    )  # fmt: skip


def shallow(given: Scenario) -> Scenario:
    link = replace(given.links["bottleneck"], buffer="15kB")
    return replace(given, links={"bottleneck": link})


def test_a_variant_is_measured_next_to_its_item_under_its_own_key(tmp_path, monkeypatch):
    paper = Paper("tiny", "", "", "", (small(shallow),))
    monkeypatch.setattr(select, "known", lambda: {"tiny": paper})
    found, _ = reproduce(tmp_path)
    values = outcome.to_json(found)["values"]
    assert set(values) == {"tiny.F1.taildrop.mean_ms", "tiny.F1.shallow.taildrop.mean_ms"}
    assert values["tiny.F1.shallow.taildrop.mean_ms"] < values["tiny.F1.taildrop.mean_ms"]


def test_claims_are_judged_by_a_variant_in_addition_and_not_instead(tmp_path, monkeypatch):
    short = number("tiny-F1-1", "exact", "delay", "taildrop.mean_ms", 60.0, "ms")
    paper = Paper("tiny", "", "", "", (small(shallow),), (short,))
    monkeypatch.setattr(select, "known", lambda: {"tiny": paper})
    found, _ = reproduce(tmp_path)
    (claim,) = outcome.to_json(found)["claims"]
    (made,) = found.papers
    values = {key: value for item in made.items for key, value in item.values.items()}
    assert claim["parts"][0]["measured"] == values["taildrop.mean_ms"]
    (other,) = made.as_variant("shallow").judged()
    assert other.parts[0].value == values["shallow.taildrop.mean_ms"]
    assert claim["variants"] == {"shallow": other.verdict}
    assert made.variants() == {"shallow": "half the room"}


def test_a_variant_that_changes_nothing_costs_no_run(tmp_path, monkeypatch):
    paper = Paper("tiny", "", "", "", (small(lambda given: given),))
    monkeypatch.setattr(select, "known", lambda: {"tiny": paper})
    found, _ = reproduce(tmp_path)
    assert found.tally.made == 1


def test_runs_on_a_kernel_have_their_own_files(tmp_path: Path) -> None:
    store, given = Store(tmp_path), load(scenario("codel"), [])
    assert len({store.path(given, engine=name) for name in ("", "a kernel", "another")}) == 3
