"""Variants that a reader asks for: --set, --aqm, --cases, and cases exported as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn import reproduce
from sojourn.describing.library import load
from sojourn.errors import InputError
from sojourn.reproduce import dossier, edits, select, show
from sojourn.reproduce.claims import more, order
from sojourn.reproduce.paper import Case, Item, Paper
from sojourn.running.runs import run
from sojourn.running.store import Store
from test_reproduce import TINY, scenario

LAW = '''\
from sojourn.law import Verdict


class Short:
    """Drops arrivals while more than two packets are queued."""

    def on_enqueue(self, now_s, head, backlog, random):
        return Verdict.DROP_RANDOM if backlog.packets > 2 else None
'''


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "known", lambda: {"tiny": TINY})


def asked(folder: Path, **change):
    return reproduce.reproduce(["tiny:F1"], store=Store(folder / "store"), seeds=1, **change)


def test_a_variant_stands_next_to_the_paper_and_leaves_its_score(tmp_path):
    plain = asked(tmp_path)
    found = asked(tmp_path, aqms="codel:target=50ms,taildrop", sets={"duration": "1s"})
    (before,), (made,) = plain.papers, found.papers
    assert made.asked() == {
        "variant_codel_target_50ms": "codel:target=50ms; duration=1s",
        "variant_taildrop": "taildrop; duration=1s",
    }
    assert show.scores([made]) == show.scores([before])
    values = made.items[0].values
    assert {key: values[key] for key in before.items[0].values} == before.items[0].values
    own = made.as_variant("variant_taildrop").items[0]
    assert own.values.keys() == before.items[0].values.keys()
    assert own.values["codel.mean_ms"] == own.values["taildrop.mean_ms"]
    assert reproduce.to_json(found)["variants"] == {"tiny": made.asked()}


def test_a_variant_is_on_the_page_as_what_it_is(tmp_path):
    found = asked(tmp_path, aqms="codel:target=50ms", cases="codel")
    names = dossier.save(found, tmp_path / "out")
    page = (tmp_path / "out" / "tiny.html").read_text()
    assert "Variant, not scored: codel:target=50ms; in the cases codel" in page
    assert "tiny/F1-variant_codel_target_50ms.png" in names
    index = (tmp_path / "out" / "index.html").read_text()
    assert 'class="variant"><td>codel:target=50ms' in index
    assert "all</th><td>1 of 2</td>" in index or "all</th><td>0 of 2</td>" in index


def test_only_the_cases_of_the_pattern_change(tmp_path):
    found = asked(tmp_path, aqms="codel:target=50ms", cases="cod*")
    values = found.papers[0].items[0].values
    start = "variant_codel_target_50ms"
    assert values[f"{start}.taildrop.mean_ms"] == values["taildrop.mean_ms"]
    assert values[f"{start}.codel.mean_ms"] != values["codel.mean_ms"]


def test_a_custom_law_takes_the_place_of_the_papers_aqm(tmp_path):
    law = tmp_path / "short.py"
    law.write_text(LAW)
    values = asked(tmp_path, aqms=f"{law}:Short").papers[0].items[0].values
    assert values["variant_short.codel.mean_ms"] < 0.5 * values["codel.mean_ms"]
    law.write_text(LAW.replace("> 2", "> 1"))
    again = asked(tmp_path, aqms=f"{law}:Short").papers[0].items[0].values
    assert again["variant_short.codel.mean_ms"] < values["variant_short.codel.mean_ms"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sets": {"links.bottleneck.rat": "1mbit"}}, "case taildrop: .*unknown key `rat`"),
        ({"sets": {"links.bottleneck.queue.target": "5ms"}}, "case taildrop: .*no parameter"),
        ({"sets": {"links.bottleneck.queue.target": "x"}, "cases": "codel"}, "case codel: .*`x`"),
        ({"sets": {"seed": 2}}, "use `seeds"),
        ({"sets": {"record.states": True}}, "records what it measures"),
        ({"sets": {"links.bottleneck.queue.target": "5ms"}, "aqms": "pie"}, 'aqms="codel:target'),
        ({"aqms": "codle"}, "did you mean `codel`"),
        ({"aqms": "pie", "cases": "x*"}, "fits no case; there are: taildrop, codel"),
        ({"aqms": "pie", "link": "other"}, "link other: tiny has no such link"),
        ({"cases": "codel"}, "give one"),
        ({"link": "bottleneck"}, "give one"),
    ],
)
def test_what_cannot_be_changed_is_refused_before_any_run(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        asked(tmp_path, **change)
    assert not list(tmp_path.rglob("*.npz"))


def test_a_variant_that_leaves_nothing_to_measure_is_an_error_with_its_item(tmp_path, monkeypatch):
    def measure(pools):
        if pools["taildrop"].plan["duration"] == "1s":
            raise ValueError("too short")
        return {}

    item = replace(TINY.items[0], measure=measure)
    monkeypatch.setattr(select, "known", lambda: {"tiny": replace(TINY, items=(item,))})
    with pytest.raises(InputError, match=r"F1, duration=1s: .*too short.*keep its flows"):
        asked(tmp_path, sets={"duration": "1s"})


def test_items_without_runs_cannot_be_changed_or_exported(tmp_path, monkeypatch):
    paper = Paper("tiny", "", "", "", (Item("T1", "values", measure=lambda _p: {"a": 1.0}),))
    monkeypatch.setattr(select, "known", lambda: {"tiny": paper})
    with pytest.raises(InputError, match="tiny:T1: runs nothing that could be changed"):
        reproduce.reproduce(["tiny:T1"], aqms="codel", store=Store(tmp_path))
    with pytest.raises(InputError, match="tiny:T1: runs nothing that could be exported"):
        reproduce.export(["tiny:T1"], tmp_path)


def test_exported_cases_give_the_digests_of_the_items_own_runs(tmp_path):
    found = asked(tmp_path, sets={"links.bottleneck.rate": "1mbit"})
    plan = found.papers[0].items[0].plan
    files = reproduce.export(
        ["tiny:F1"], tmp_path / "cases", sets={"links.bottleneck.rate": "1mbit"}
    )
    assert [file.relative_to(tmp_path / "cases").as_posix() for file in files] == [
        "tiny/F1/taildrop.toml", "tiny/F1/codel.toml",
        "tiny/F1/variant_set.taildrop.toml", "tiny/F1/variant_set.codel.toml",
    ]  # fmt: skip
    digests = {key: run(runs[0].scenario).digest for key, runs in plan.cases.items()}
    assert {file.stem: run(file).digest for file in files} == digests
    assert len(set(digests.values())) == 4


@pytest.mark.parametrize("paper", ["madpie", "codel_act", "pi2", "pie", "kids"])
def test_every_paper_exports_what_it_runs(tmp_path, monkeypatch, paper):
    """Every case of an item resolves to the same scenario, whichever way it is read."""
    monkeypatch.undo()
    items = select.known()[paper.replace("_", "-")].items
    item = next(item for item in items if item.cases("quick"))
    files = reproduce.export([f"{paper}:{item.id}"], tmp_path)
    cases = item.all_cases("quick")
    assert [file.name for file in files] == [f"{key}.toml" for key in cases]
    for file, case in zip(files, cases.values(), strict=True):
        for name in ("links", "flows", "duration"):
            assert document(load(file))[name] == document(load(case.scenario))[name]


def document(loaded):
    return json.loads(loaded.resolved_json())


def test_files_that_a_case_names_are_found_from_where_it_is_exported(tmp_path, monkeypatch):
    (tmp_path / "trace").write_text("1\n2\n5\n")
    text = scenario("codel").to_toml().replace(
        'rate = "2mbit"', 'rate = { kind = "trace", file = "trace" }'
    )  # fmt: skip
    (tmp_path / "cell.toml").write_text(text)
    item = Item("F1", "", cases=lambda _p: {"cell": Case(tmp_path / "cell.toml")})
    monkeypatch.setattr(select, "known", lambda: {"tiny": Paper("tiny", "", "", "", (item,))})
    (file,) = reproduce.export(["tiny"], tmp_path / "cases")
    assert 'file = "../../../trace"' in file.read_text()
    assert run(file).digest == run(tmp_path / "cell.toml").digest


def test_cases_are_not_exported_over_a_file(tmp_path):
    (tmp_path / "cases").write_text("mine")
    with pytest.raises(InputError, match=r"--export .*cases: there is a file of that name"):
        reproduce.export(["tiny:F1"], tmp_path / "cases")


@pytest.mark.parametrize("option", [["--json"], ["--seeds", "2"], ["--out", "other"]])
def test_export_refuses_options_that_need_runs(command, option):
    done = command("reproduce", "pi2:F3", "--export", "cases", *option)
    assert done.returncode != 0 and "--export: runs nothing; leave out" in done.stderr


def test_a_custom_law_is_not_exported_as_something_else(tmp_path):
    (tmp_path / "short.py").write_text(LAW)
    with pytest.raises(InputError, match="names no custom law"):
        reproduce.export(["tiny:F1"], tmp_path / "cases", aqms=f"{tmp_path}/short.py")
    assert not (tmp_path / "cases").exists()


@pytest.mark.parametrize(
    ("aqm", "name", "value", "result"),
    [
        ("codel", "target", "5ms", "codel:target=5ms"),
        ("pie@ns2:target=20ms,limit=9p", "target", '"5ms"', "pie@ns2:target=5ms,limit=9p"),
        ("fq(pie@ns2):target=20ms", "dialect", "linux", "fq(pie@linux):target=20ms"),
        ("fq(codel)", "flows", "16", "fq(codel):flows=16"),
        ("pie", "dialect", "linux", "pie@linux"),
    ],
)
def test_a_parameter_of_a_queue_that_is_a_text_changes_the_text(aqm, name, value, result):
    assert edits.with_parameter(aqm, name, value) == result


def test_a_later_edit_changes_what_an_earlier_one_set():
    later = edits.Edit((("links.bottleneck.queue.target", "9ms"),))
    made = edits.load_edited(scenario("codel"), [edits.Edit(aqm="pie:target=20ms"), later])
    assert made.queue("bottleneck").startswith("pie:target=9ms")


def test_the_command_takes_what_the_function_takes(command, monkeypatch):
    monkeypatch.undo()
    wrong = command("reproduce", "pi2:F3", "--set", "links.bottleneck.rat=1mbit")
    assert wrong.returncode == 2
    assert "pi2:F3, case pie: --set links.bottleneck.rat" in wrong.stderr
    done = command("reproduce", "pi2:F3", "--aqm", "codel", "--export", "cases", "--cases", "pi2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "cases/pi2/F3/pie.toml", "cases/pi2/F3/pi2.toml",
        "cases/pi2/F3/variant_codel.pie.toml", "cases/pi2/F3/variant_codel.pi2.toml",
    ]  # fmt: skip
    text = (command.folder / "cases/pi2/F3/variant_codel.pi2.toml").read_text()
    assert 'queue = "codel' in text


def test_an_order_under_a_variant_is_judged_by_the_variant(tmp_path, monkeypatch):
    claim = order("tiny-F1-1", "tail drop is slower", more("taildrop.mean_ms", "codel.mean_ms"))
    monkeypatch.setattr(select, "known", lambda: {"tiny": replace(TINY, claims=(claim,))})
    (made,) = asked(tmp_path, aqms="taildrop").papers
    assert made.judged()[0].verdict == "weak"
    assert made.as_variant("variant_taildrop").judged()[0].verdict == "fails"
