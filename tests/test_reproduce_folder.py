"""Papers that are folders: what is read, what is refused with its line, how they are judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sojourn import reproduce
from sojourn.authoring.new import new_paper
from sojourn.errors import InputError
from sojourn.reproduce import dossier, folder, select, show, work
from sojourn.reproduce.folder_values import settling_s
from sojourn.reproduce.toml_lines import line_of
from sojourn.running.runs import run
from sojourn.running.store import Store

SCENARIO = """\
name = "tiny"
duration = "3s"

[links.bottleneck]
rate = "2mbit"
delay = "5ms"
buffer = "30kB"

[[flows]]
name = "bulk"
path = ["bottleneck"]
rtt = "20ms"
app = { kind = "bulk" }

[[flows]]
name = "voip"
path = ["bottleneck"]
rtt = "20ms"
app = { kind = "cbr", rate = "87kbit", packet = "218B", voice = true }
"""
PAPER = """\
title = "A tiny paper"
source = "nobody"
seeds = { quick = 2 }

[cases.taildrop]
scenario = "tiny.toml"

[cases.codel]
base = "taildrop"
aqm = "codel:target=5ms"

[items.F1]
title = "Delay"
cases = ["taildrop", "codel"]

[items.F2]
title = "A testbed"
missing = "no such hardware"

[[claims]]
item = "F1"
what = "CoDel is faster"
printed = "§4"
case = "codel"
metric = "delay_p95"
below = { case = "taildrop" }

[[claims]]
item = "F1"
what = "CoDel's delay"
printed = "Figure 1"
case = "codel"
metric = "delay_mean"
published = 1000
unit = "us"
tolerance = "exact"
because = "{it} is made up"
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    made = tmp_path / "tiny-paper"
    made.mkdir()
    (made / "paper.toml").write_text(PAPER)
    (made / "tiny.toml").write_text(SCENARIO)
    return made


def changed(paper: Path, old: str, new: str) -> Path:
    text = (paper / "paper.toml").read_text()
    assert old in text
    (paper / "paper.toml").write_text(text.replace(old, new, 1))
    return paper


def measured(paper: Path, *items: str, **options):
    store = Store(paper.parent / "store")
    return reproduce.reproduce([str(paper), *items], store=store, **options)


def test_a_folder_is_judged_and_shown_by_the_machinery_of_the_known_papers(paper):
    found = measured(paper)
    data = reproduce.to_json(found)
    verdicts = {claim["id"]: claim["verdict"] for claim in data["claims"]}
    assert verdicts == {"tiny-paper-F1-1": "holds", "tiny-paper-F1-2": "differs"}
    one, other = data["claims"]
    assert one["what"] == "CoDel is faster (§4)" and one["tag"] == "order"
    (part,) = other["parts"]
    mean_ms = data["values"]["tiny-paper.F1.codel.bottleneck.delay_mean_ms"]
    assert part["measured"] == pytest.approx(1e3 * mean_ms) and part["unit"] == "us"
    assert other["differs"] == "{it} is made up"
    names = dossier.save(found, paper.parent / "out")
    assert {"tiny-paper.html", "tiny-paper/F1.png"} <= set(names)
    page = (paper.parent / "out" / "tiny-paper.html").read_text()
    assert "Not covered: no such hardware." in page and "CoDel is faster (§4)" in page


def test_the_table_has_published_values_of_any_unit_and_none_is_nan(paper):
    settling = """
[[claims]]
item = "F1"
what = "It settles"
printed = "§5"
case = "codel"
metric = "state_delay_mean_settled"
within = [-2, -1]
published = 3
tolerance = "approx"
"""
    changed(paper, 'unit = "us"', 'unit = "s"')
    (paper / "paper.toml").write_text((paper / "paper.toml").read_text() + settling)
    (made,) = [each for each in measured(paper, "F1").papers[0].items if each.item.id == "F1"]
    (table,) = made.item.tables(made.values)
    (codel,) = [row for row in show.table_rows(made, table) if row[0] == "codel"]
    assert [cell.partition(" / ")[2] for cell in codel[1:]] == ["–", "1e+06", "3"]
    assert codel[-1] == "– / 3"
    every = [cell for row in show.value_table(made).rows for cell in row]
    assert "1e+06" in every and "nan" not in every


def test_the_value_is_that_of_the_scenario_that_is_exported(paper):
    (file, _) = reproduce.export([f"{paper}:F1"], paper.parent / "cases")
    values = reproduce.to_json(measured(paper, seeds=1))["values"]
    mean_s = run(file).summary["queue/bottleneck/delay_p95"]
    assert values["tiny-paper.F1.taildrop.bottleneck.delay_p95_ms"] == pytest.approx(1e3 * mean_s)


@pytest.mark.parametrize("names", [["F1"], ["F1,F2"], ["F1", "F2"], []])
def test_items_of_a_folder_may_follow_it(paper, names):
    ((_, items),) = select.select([str(paper), *names])
    wanted = [one for name in names for one in name.split(",")] or ["F1", "F2"]
    assert [item.id for item in items] == wanted
    assert [i.id for _, found in select.select([f"{paper}:F2"]) for i in found] == ["F2"]


def test_a_folder_may_be_given_twice_and_two_of_one_name_may_not(paper, tmp_path):
    ((_, items),) = select.select([f"{paper}:F1", f"{paper}:F2"])
    assert [item.id for item in items] == ["F1", "F2"]
    shutil.copytree(paper, tmp_path / "other" / "tiny-paper")
    with pytest.raises(InputError, match="another folder has that name"):
        select.select([str(paper), str(tmp_path / "other" / "tiny-paper")])
    with pytest.raises(InputError, match="the paper pie has that name; rename the folder"):
        select.select([str(paper.rename(tmp_path / "pie"))])


def test_a_variant_and_a_custom_law_work_in_a_folder(paper):
    law = (
        "from sojourn.law import Verdict\n\n\nclass Short:\n"
        '    """Drops arrivals while more than two packets are queued."""\n\n'
        "    def on_enqueue(self, now_ns, head, queue, random):\n"
        "        return Verdict.DROP_RANDOM if queue.packets > 2 else None\n"
    )
    (paper / "short.py").write_text(law)
    changed(paper, 'aqm = "codel:target=5ms"', 'aqm = "short.py:Short"')
    found = measured(paper, "F1", seeds=1, sets={"links.bottleneck.rate": "4mbit"})
    values = found.papers[0].items[0].values
    own = "variant_set.codel.bottleneck.delay_mean_ms"
    assert values[own] < values["codel.bottleneck.delay_mean_ms"] < 15


def test_one_way_delay_and_rtt_of_tcp_flows_are_metrics_like_others(paper):
    changed(paper, 'metric = "delay_mean"', 'metric = "rtt_p90"\nof = "bulk"')
    (claim,) = reproduce.to_json(measured(paper, "F1", seeds=1))["claims"][1:]
    assert claim["parts"][0]["measured"] > 20_000


def test_far_quantiles_and_limits_below_a_millisecond_are_metrics(paper):
    parts = """parts = [
        { metric = "delay_p99.9", at_least = 1 },
        { metric = "delay_p99", at_least = 1 },
        { metric = "delay_below_0.5ms", at_most = 99 },
        { metric = "delay_below_500us", at_most = 99 },
    ]
    """
    start = PAPER.index('case = "codel"\nmetric = "delay_mean"')
    changed(paper, PAPER[start:], f'case = "codel"\n{parts}')
    values = measured(paper, "F1", seeds=1).papers[0].items[0].values
    of = {key.removeprefix("codel.bottleneck.delay_"): value for key, value in values.items()}
    assert of["p99.9_ms"] > of["p99_ms"] > 0
    assert of["below_0.5ms_pct"] == of["below_500us_pct"] > 0


def test_variables_of_a_queue_are_metrics_over_their_samples(paper):
    parts = """parts = [
        { metric = "state_drop_prob_mean", at_least = 0.0001 },
        { metric = "state_drop_prob_p99", at_least = 0.001 },
        { metric = "state_rate_mean", at_most = 2, unit = "Mbit/s" },
    ]
    """
    changed(paper, 'aqm = "codel:target=5ms"', 'aqm = "pie"')
    start = PAPER.index('case = "codel"\nmetric = "delay_mean"')
    (paper / "paper.toml").write_text(
        (paper / "paper.toml").read_text().replace(PAPER[start:], f'case = "codel"\n{parts}')
    )
    values = measured(paper, "F1", seeds=1).papers[0].items[0].values
    of = {key.removeprefix("codel.bottleneck.state_"): value for key, value in values.items()}
    assert 0 < of["drop_prob_mean"] < of["drop_prob_p99"] < 1
    assert 0.5 < of["rate_mean_mbps"] <= 2


def test_a_variable_that_the_queue_lacks_is_refused_with_those_it_has(paper):
    changed(paper, 'metric = "delay_mean"', 'metric = "state_drop_prop_mean"')
    changed(paper, 'unit = "us"\n', "")
    with pytest.raises(InputError, match=r"no variable `drop_prop`; use backlog_bytes, .*count"):
        measured(paper, "F1", seeds=1)


def test_the_time_until_a_variable_settles_is_a_metric(paper):
    (paper / "tiny.toml").write_text(SCENARIO.replace('"3s"', '"12s"'))
    changed(paper, 'aqm = "codel:target=5ms"', 'aqm = "pie"')
    parts = """parts = [
        { metric = "state_rate_settled", within = [1.5, 2.5], at_most = 3 },
        { metric = "state_rate_settled", within = [1.5, 2.5], after = "6s", at_most = 3 },
        { metric = "state_rate_settled", within = [5, 6], at_most = 3 },
    ]
    """
    start = PAPER.index('case = "codel"\nmetric = "delay_mean"')
    changed(paper, PAPER[start:], f'case = "codel"\n{parts}')
    found = measured(paper, "F1", seeds=1)
    values = found.papers[0].items[0].values
    start_s = values["codel.bottleneck.state_rate_settled_1.5_2.5_s"]
    later_s = values["codel.bottleneck.state_rate_settled_1.5_2.5_after6_s"]
    assert 0 < start_s < 12 and later_s == pytest.approx(max(start_s - 6, 0.012), abs=0.1)
    (claim,) = reproduce.to_json(found)["claims"][1:]
    assert claim["parts"][2]["verdict"] == "no value", "the link has 2 Mbit/s"


def test_a_settling_time_ends_with_the_last_sample_outside():
    t_s, nan = np.arange(1.0, 7.0), float("nan")
    assert settling_s(t_s, np.array([9.0, 2, 9, 3, 2, 1]), 1, 3) == 4.0
    assert settling_s(t_s, np.array([2.0, 2, 2, 3, 2, 1]), 1, 3) == 1.0
    assert settling_s(t_s, np.array([9.0, nan, 2, nan, 2, nan]), 1, 3) == 3.0
    assert np.isnan(settling_s(t_s, np.array([2.0, 2, 2, 2, 2, 9]), 1, 3))


def test_an_item_may_show_the_delay_over_time(paper):
    changed(paper, 'title = "Delay"', 'title = "Delay"\nfigure = "time"')
    made = measured(paper, "F1", seeds=1).papers[0].items[0]
    pools = work.pool(made.plan, Store(paper.parent / "store"))
    (figure,) = made.item.figures(pools, made.values).values()
    (axes,) = figure.get_axes()
    assert axes.get_xlabel() == "time [s]" and len(axes.get_lines()) == 2


def test_groups_that_share_a_class_are_measured_as_that_class(paper):
    scenario = SCENARIO.replace('name = "bulk"', 'name = "bulk"\nclass = "all"')
    (paper / "tiny.toml").write_text(scenario)
    changed(paper, 'metric = "delay_mean"', 'metric = "goodput"\nof = "all"')
    changed(paper, 'unit = "us"', 'unit = "Mbit/s"')
    (claim,) = reproduce.to_json(measured(paper, "F1", seeds=1))["claims"][1:]
    assert claim["parts"][0]["measured"] > 0.5


def test_operations_compare_two_cases(paper):
    parts = """parts = [
        { metric = "delay_mean", percent_less_than = { case = "taildrop" }, at_least = 10 },
        { metric = "utilisation", divided_by = { case = "taildrop" }, at_most = 1.01 },
        { metric = "goodput", of = "bulk", minus = { case = "taildrop" }, published = [-1, 1] },
        { metric = "owd_below_20ms", of = "voip", published = 50, tolerance = "exact" },
        { metric = "drop_rate", unit = "", published = 0.01, tolerance = "exact" },
    ]
    """
    start = PAPER.index('case = "codel"\nmetric = "delay_mean"')
    changed(paper, PAPER[start:], f'case = "codel"\ntolerance = "exact"\n{parts}')
    found = measured(paper, "F1", seeds=1)
    (claim,) = reproduce.to_json(found)["claims"][1:]
    values = found.papers[0].items[0].values
    a, b = (values[f"{case}.bottleneck.delay_mean_ms"] for case in ("codel", "taildrop"))
    less, ratio, difference, share, rate = claim["parts"]
    assert less["measured"] == pytest.approx(100 * (1 - a / b)) and less["unit"] == "% less"
    assert ratio["measured"] <= 1.01 and ratio["unit"] == ""
    assert difference["unit"] == "Mbit/s" and abs(difference["measured"]) < 1
    assert share["unit"] == "%" and 0 < share["measured"] <= 100
    assert rate["measured"] == pytest.approx(values["codel.bottleneck.drop_rate_pct"] / 100)


MISTAKES = [
    ('title = "A tiny paper"\n', "", r"paper.toml:1: has no `title`; add a text"),
    (
        "published = 1000\n",
        "",
        r"paper.toml:28: claims\[1\]: must have exactly one of published.*; it has nothing",
    ),
    ("published = 1000", 'published = "much"', r":34: claims\[1\].published: must be a number"),
    ("published = 1000", "published = [3, 1]", r":34: .*a range such as \[18, 22\]"),
    ('printed = "§4"\n', "", r":20: claims\[0\]: has no `printed`; add a text"),
    ('tolerance = "exact"\n', "", r":28: claims\[1\]: has no `tolerance`"),
    ('tolerance = "exact"', 'tolerance = "5 %"', r":36: .*write exact \(15 %\) or approx"),
    ('metric = "delay_mean"', 'metric = "delay_men"', r":33: .*did you mean `delay_mean`"),
    (
        'metric = "delay_mean"',
        'metric = "owd_p95"',
        r":28: .*no `of`; owd_p95 is measured per class",
    ),
    ('metric = "delay_mean"', 'metric = "owd_p95"\nof = "web"', r":34: .*no class of flows `web`"),
    ('unit = "us"', 'unit = "Mbit/s"', r":35: .*is not a unit of delay_mean; use ms, s, us"),
    ('item = "F1"', 'item = "F3"', r":21: claims\[0\].item: unknown item `F3`.*F1, F2"),
    ('item = "F1"', 'item = "F2"', r":21: .*F2 is not covered"),
    ('case = "codel"', 'case = "pie"', r":24: .*no case `pie`; Known: taildrop, codel"),
    ('{ case = "taildrop" }', '{ case = "codel" }', r":26: .*the same quantity"),
    ('{ case = "taildrop" }', "20", r":26: .*must be a table, such as"),
    ('"tiny.toml"', '"tin.toml"', r":6: cases.taildrop.scenario: no such file .*tiny.toml"),
    ('scenario = "tiny.toml"\n', "", r":5: cases.taildrop: has no `scenario`; add one"),
    ('scenario = "tiny.toml"', 'base = "codel"', r"is based on itself \(.*codel.*\); remove one"),
    ('base = "taildrop"', 'base = "codel"', r":9: cases.codel.base: is based on itself"),
    ('base = "taildrop"', 'base = "tail"', r":9: cases.codel.base: unknown case `tail`"),
    ('"codel:target=5ms"', '"codle"', r":10: cases.codel.aqm: .*did you mean `codel`"),
    ('"codel:target=5ms"', '"codel:tgt=5ms"', r":10: cases.codel.aqm: .*no parameter `tgt`"),
    ('"codel:target=5ms"', '"own.py:Law"', r":10: cases.codel.aqm: .*own.py.*no such file"),
    (
        '"codel:target=5ms"',
        '"codel"\nset = { "links.b.rate" = "1mbit" }',
        r":8: .*unknown link `b`",
    ),
    ('["taildrop", "codel"]', '["taildrop", "red"]', r":14: .*unknown case `red`"),
    ('["taildrop", "codel"]', "[]", r":14: items.F1.cases: must be a list of names"),
    ('title = "Delay"', 'title = "Delay"\nfigure = "plot"', r":14: .*write cdf or time"),
    (
        'metric = "delay_mean"',
        'metric = "state_delay_mean_settled"',
        r":28: .*has no `within`; add bounds",
    ),
    (
        'metric = "delay_mean"',
        'metric = "state_delay_mean_settled"\nwithin = [3, 1]',
        r":34: .*two numbers, the smaller first",
    ),
    (
        'metric = "delay_mean"',
        'metric = "state_delay_mean_settled"\nwithin = [1, 3]\nafter = "5"',
        r":35: .*is not a span such as 30ms",
    ),
    ('metric = "delay_mean"', 'metric = "delay_mean"\nafter = "5s"', r":34: .*a settling time"),
    ("[items.F2]", "[items.f2]", r":16: items.f2: cannot be a name; write a capital letter"),
    ("quick = 2", "quick = 0", r":3: seeds: must be numbers"),
    ('source = "nobody"', 'source = "nobody"\nsorce = "x"', r":3: sorce: is an unknown key"),
    ('title = "A tiny paper"', "title = ", r"paper.toml: is not TOML: .*line 1"),
    ("[cases.codel]", "[cases.CoDel]", r"case `codel`.*did you mean `CoDel`"),
    (
        "below = {",
        "published = 3\nbelow = {",
        r":20: .*must have exactly one of.*; it has published, below",
    ),
    ("below = {", 'unit = "ms"\nbelow = {', r":20: .*is a relation, which has no unit"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_one_error_with_its_line_and_the_remedy(paper, old, new, message):
    with pytest.raises(InputError, match=message):
        folder.read(changed(paper, old, new))


def test_a_mistake_in_a_scenario_has_the_line_of_the_scenario(paper):
    (paper / "tiny.toml").write_text(SCENARIO.replace("rate = ", "rte = ", 1))
    with pytest.raises(InputError, match=r"paper.toml:5: cases.taildrop: .*tiny.toml:5.*`rte`"):
        folder.read(paper)
    (paper / "tiny.toml").unlink()
    (paper / "tiny.toml").symlink_to(paper / "tiny.toml")
    with pytest.raises(InputError, match=r"paper.toml:6: .*no such file"):
        folder.read(paper)


def test_a_folder_without_a_paper_says_how_to_begin_one(tmp_path):
    with pytest.raises(
        InputError, match=r"has no paper\.toml; `sojourn new paper NAME` begins one"
    ):
        select.select([f"{tmp_path}/nothing"])


EXAMPLES = Path(__file__).parents[1] / "examples" / "papers"


@pytest.mark.parametrize(("name", "claims"), [("rfc9438", 17), ("l4s-tests", 23)])
def test_the_examples_are_whole(name, claims):
    paper = folder.read(EXAMPLES / name)
    assert len(paper.claims) == claims
    assert all(paper.claims_of(item.id) for item in paper.items)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "good"), [pytest.param("rfc9438", 16, marks=pytest.mark.nightly), ("l4s-tests", 14)]
)
def test_most_claims_of_the_examples_hold_or_match(name, good, tmp_path):
    """Windows and rates of CUBIC and Reno, and who wins under DualPI2."""
    found = reproduce.reproduce([str(EXAMPLES / name)], store=Store(tmp_path))
    assert show.scores(found.papers)[0].good == pytest.approx(good, abs=1)


def test_lines_of_tables_arrays_and_quoted_keys_are_found():
    text = 'a = 1\n[b."c.d"]\ne.f = 2\n[[g]]\nh = 1\n[[g]]\n[g.i]\nj = 3\n'
    assert line_of(text, ("b", "c.d", "e", "f")) == 3
    assert line_of(text, ("g", 0, "h")) == 5
    assert line_of(text, ("g", 1, "i", "j")) == 8
    assert line_of(text, ("g", 1, "none")) == 6
    assert line_of(text, ("none",)) == 1


def test_a_new_paper_is_whole_and_can_be_reproduced_at_once(command):
    done = command("new", "paper", "mine")
    assert done.stdout.split() == ["mine/paper.toml", "mine/dumbbell.toml"]
    done = command("reproduce", "./mine", "F1", "--seeds", "2", "--json")
    assert done.returncode == 0, done.stderr
    claims = json.loads(done.stdout)["claims"]
    assert [claim["id"] for claim in claims] == ["mine-F1-1", "mine-F1-2", "mine-F1-3"]
    assert all(claim["verdict"] in ("match", "holds") for claim in claims)
    with pytest.raises(InputError, match="exists and is not empty"):
        new_paper("mine", command.folder / "mine")


def test_a_name_that_cannot_be_a_paper_s_is_refused(tmp_path):
    for name in ("pie", "9x", "a.b"):
        with pytest.raises(InputError, match=f"paper {name}: "):
            new_paper(name, tmp_path / name)
