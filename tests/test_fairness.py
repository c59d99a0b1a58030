"""The head of a comparison, unfair contenders, margins, pairing, engines."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from types import SimpleNamespace

import pytest

import sojourn
from sojourn.comparing.between_engines import EngineAgreement
from sojourn.comparing.comparison import Comparison
from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.contenders import contenders, head
from sojourn.comparing.dominance import joint_verdicts, plane
from sojourn.comparing.equivalence import is_equivalent, margin
from sojourn.comparing.fairness import all_warnings, parse, share, unfair
from sojourn.comparing.metrics import Metric
from sojourn.comparing.pairing import correlation
from sojourn.comparing.statistics import Estimate
from sojourn.comparing.table import table_rows
from sojourn.comparing.verdict import verdict
from sojourn.describing.aqm_list import split
from sojourn.describing.library import load, shipped
from sojourn.describing.metrics import row_of
from sojourn.describing.queues import left_out
from sojourn.errors import InputError
from sojourn.report import page, to_json
from synthetic import comparison

SHORT = {"duration": "2s", "warmup": "0s"}
DELAY = Metric(replace(row_of("delay_p95"), better="lower"), "b")


def compare(*aqms: str, **options) -> Comparison:
    return sojourn.compare("dumbbell-cubic", aqms, 1, sets=SHORT, **options)


def test_the_head_says_duration_warm_up_seeds_dialects_and_targets() -> None:
    found = sojourn.compare("dumbbell-cubic", ["taildrop", "pie", "codel@linux"], 2)
    assert head(found) == [
        "dumbbell-cubic, link bottleneck: 60s, the first 10s (warm-up) do not count; 2 seeds, "
        "1 to 2.",
        "taildrop: packets",
        "pie: rfc8033, target 15ms, tupdate 15ms",
        "codel@linux: linux, as Linux 7.2.13, target 5ms, interval 100ms",
    ]
    assert "no warm-up" in head(compare("pie"))[0]
    report = page(found, {})
    for text in ("What is compared", "rfc8033", "tupdate 15ms", "the first 10s (warm-up)"):
        assert text in report


def test_the_head_says_the_timer_of_a_kernel_to_which_updates_are_rounded() -> None:
    found = sojourn.compare("dumbbell-cubic", ["pie@linux", "pie@linux:hz=1000"], 1, sets=SHORT)
    assert head(found)[1:] == [
        "pie@linux: linux, as Linux 7.2.13, target 15ms, tupdate 15ms, kernel timer 250 Hz",
        "pie@linux:hz=1000: linux, as Linux 7.2.13, target 15ms, tupdate 15ms, "
        "kernel timer 1000 Hz, in use: tupdate 16ms in place of 15ms",
    ]
    report = page(found, {})
    assert "tupdate 15ms, kernel timer 250 Hz</td>" in report


def test_pie_next_to_madpie_is_a_comparison_of_two_dialects_and_targets() -> None:
    found = compare("taildrop", "pie", "madpie")
    (warning,) = unfair(found)
    assert warning.names == ["pie", "madpie"]
    assert warning.differing == ["dialect", "target", "tupdate"]
    assert warning.sentence in " ".join(found.warnings)
    words = shlex.split(warning.command)
    assert words[words.index("--aqm") + 1] == "taildrop,pie@ns2,madpie"
    assert 'duration="2s"' in words
    assert unfair(compare("taildrop", "pie@ns2", "madpie")) == []


@pytest.mark.parametrize(
    "aqms",
    [("taildrop", "codel", "fq_codel", "pie"), ("pie", "pie:target=5ms", "pie@ns2"), ("pie",),
     ("codel", "fq(codel)"), ("pie", "pie@ns2", "madpie")],
)  # fmt: skip
def test_what_differs_on_purpose_or_is_another_family_is_not_a_warning(aqms) -> None:
    assert unfair(compare(*aqms)) == []


def test_the_fair_command_has_no_warning_itself() -> None:
    (warning,) = unfair(compare("pie:target=5ms", "madpie", "pi2"))
    words = shlex.split(warning.command)
    aqms = split(words[words.index("--aqm") + 1])
    assert unfair(compare(*aqms)) == []


def test_fair_sets_what_all_share_where_they_have_it() -> None:
    assert share(["taildrop", "pie", "fq(madpie)"], parse("target=20ms,tupdate=30ms")) == [
        "taildrop", "pie:target=20ms,tupdate=30ms", "fq(madpie):target=20ms,tupdate=30ms",
    ]  # fmt: skip
    assert share(["pie:ecn=true", "fq(pie)", "red"], parse("dialect=ns2")) == [
        "pie@ns2:ecn=true", "fq(pie@ns2)", "red@ns2",
    ]  # fmt: skip
    found = compare("taildrop", "pie", "madpie", fair={"target": "20ms", "tupdate": "30ms"})
    assert [each.target for each in contenders(found)] == ["", "20ms", "20ms"]


@pytest.mark.parametrize(
    ("aqms", "text", "reason"),
    [(["taildrop"], "target=20ms", "none of taildrop"), (["pie"], "target", "NAME=VALUE"),
     (["pie:target=5ms"], "target=20ms", "says otherwise"),
     (["pie@linux"], "dialect=ns2", "says otherwise")],
)  # fmt: skip
def test_a_fair_setting_that_cannot_be_is_refused(aqms, text, reason) -> None:
    with pytest.raises(InputError, match=reason):
        share(aqms, parse(text))


def test_the_correlation_that_pairing_bought_is_pearsons() -> None:
    assert correlation([1, 2, 3, 4], [2, 4, 6, 8]) == pytest.approx(1.0)
    assert correlation([1, 2, 3, 4], [8, 6, 4, 2]) == pytest.approx(-1.0)
    assert correlation([1, 2, 1, 2], [1, 1, 2, 2]) == pytest.approx(0.0)
    assert correlation([1, 2, 4, math.nan], [1, 3, 2, 9]) == pytest.approx(0.3273268)
    assert math.isnan(correlation([1, 2], [1, 2]))
    assert math.isnan(correlation([1, 1, 1], [1, 2, 3]))


def test_the_method_claims_no_same_arrivals_and_each_cell_shows_the_correlation() -> None:
    found = comparison(["taildrop", "pie"])
    assert "same arrivals" not in " ".join(method(found))
    notes = [row.cells[1].note for row in table_rows(found) if row.label == "queue delay p95"]
    assert "correlation" in notes[0]


@pytest.mark.parametrize(
    ("metric", "unit", "mean", "expected"),
    [("delay_p95", "s", 0.1, 0.005), ("delay_p95", "s", 0.004, 0.001),
     ("goodput", "bit/s", 9e6, 4.5e5), ("utilisation", "1", 0.9, 0.01),
     ("loss_rate", "1", 0.02, 0.005)],
)  # fmt: skip
def test_margins_are_as_stated(metric, unit, mean, expected) -> None:
    of = Metric(row_of(metric), "b")
    assert of.unit == unit
    assert margin(of, mean) == pytest.approx(expected)


def test_equivalence_is_two_one_sided_tests() -> None:
    # t(0.95, 4) = 2.1318: the 90 % interval of the mean 1 with a standard error of 1 is -1.13 to
    # 3.13.
    differences = [1 + math.sqrt(5) * math.sqrt(0.4) * x * math.sqrt(2.5) / math.sqrt(2.5)
                   for x in (-2, -1, 0, 1, 2)]  # fmt: skip
    spread = math.sqrt(sum((x - 1) ** 2 for x in differences) / 4 / 5)
    edge = 1 + 2.131847 * spread
    assert is_equivalent(differences, edge + 1e-4)
    assert not is_equivalent(differences, edge - 1e-4)
    assert not is_equivalent([0.0], 1.0)


def test_a_significant_difference_within_the_margin_is_none_in_practice() -> None:
    found = comparison(["taildrop", "pie"], seeds=20)
    (row,) = [r for r in found.tests if r.metric.key == "class/bulk/goodput"]
    assert row.test.p_value < 0.05
    assert (row.verdict, row.is_equivalent) == ("same", True)


def between(first: float, second: float, half: float = 0.0) -> EngineAgreement:
    return EngineAgreement.of(DELAY, Estimate(first, half, 3), Estimate(second, half, 3))


def test_engines_agree_within_a_tenth_or_a_millisecond() -> None:
    assert between(0.0103, 0.0102).verdict == "agrees"
    assert between(0.1101, 0.1).verdict == "differs"
    assert between(0.1101, 0.1, half=0.01).verdict == ""
    assert between(0.0015, 0.001).verdict == "agrees"


def test_engines_are_not_called_different_by_too_few_seeds_to_know_the_noise() -> None:
    unknown = between(0.2, 0.1, half=math.nan)
    assert (unknown.verdict, unknown.agrees) == ("", False)
    assert between(0.1001, 0.1, half=math.nan).verdict == "agrees"
    one = engine_comparison(seeds=1)
    rows = [row for row in table_rows(one) if "tolerance" in row.cells[0].note]
    assert {cell.sign for row in rows for cell in row.cells} == {"", "="}
    beyond = [row.cells[0].note for row in rows if row.cells[0].sign == ""]
    assert beyond and all(note.endswith("too few seeds to know the noise") for note in beyond)
    assert "differs in" not in sentences(one)[0]


def engine_comparison(seeds: int) -> Comparison:
    made = comparison(["pie", "pi2"], seeds=seeds)
    names = ["pie on sim", "pie on linux"]
    results = dict(zip(names, made.results.values(), strict=True))
    return Comparison(
        made.scenario, made.link, made.seeds, results, references={names[0]: names[1]}
    )


def test_between_engines_equal_runs_are_one_value_without_an_interval() -> None:
    made = engine_comparison(seeds=2)
    alike = {aqm: [runs[0]] * 2 for aqm, runs in made.results.items()}
    found = Comparison(made.scenario, made.link, made.seeds, alike, references=made.references)
    assert all(math.isnan(cell.estimate.half_width) for cell in found.cells)


def test_the_head_says_what_the_kernel_does_not_tell_apart() -> None:
    resolved = {"engine": {"linux": {"bottleneck": "kernel"}}}
    (line,) = left_out(resolved, engines=["sim", "linux"])
    assert "drops at a limit" in line
    assert left_out(resolved, engines=["sim"]) == []
    assert left_out({"engine": {"linux": {"bottleneck": "sojourn"}}}, engines=["linux"]) == []


def test_between_engines_the_question_is_agreement() -> None:
    found = engine_comparison(seeds=3)
    rows = table_rows(found)
    signs = {cell.sign for row in rows for cell in row.cells}
    assert signs <= {"", "=", "≠"} and "=" in signs
    assert {row.aqm for row in found.tests} == {"pie on sim"}
    assert {row.baseline for row in found.tests} == {"pie on linux"}
    (sentence,) = sentences(found)
    assert sentence.startswith("pie on sim agrees with pie on linux on ")
    assert "better" not in " ".join(method(found))
    assert any("tolerance" in cell.note for row in rows for cell in row.cells)


def test_the_interval_of_a_share_ends_at_all_of_it_between_engines_too() -> None:
    cells = engine_comparison(seeds=2).cells
    shares = [cell.estimate for cell in cells if cell.metric.row.kind == "share"]
    assert any(each.ends for each in shares)
    assert all(each.low >= 0.0 and each.high <= 1.0 for each in shares)


def test_every_shipped_scenario_has_a_warm_up_with_its_reason() -> None:
    for name, path in shipped().items():
        (line,) = [
            line for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith("warmup")
        ] or [""]  # fmt: skip
        assert "#" in line and '"0s"' not in line, name


def test_lost_syns_show_in_the_summary_and_as_a_warning() -> None:
    sets = SHORT | {
        "duration": "10s", "flows.0.ecn": True, "flows.0.count": 40,
        "links.bottleneck.loss": {"kind": "bernoulli", "rate": 0.3},
    }  # fmt: skip
    result = sojourn.run("dumbbell-cubic", sets=sets)
    share = result.summary["class/bulk/ecn_share"]
    assert 0.2 < share < 1.0
    assert any("connections use ECN" in text for text in result.warnings)
    kept = sojourn.run("dumbbell-cubic", sets=sets | {"flows.0.ecn_fallback": False})
    assert kept.summary["class/bulk/ecn_share"] == 1.0
    assert kept.warnings == load("dumbbell-cubic", sets).warnings
    found = sojourn.compare("dumbbell-cubic", ["pie"], 2, sets=sets)
    assert any(text.startswith("pie: class bulk: ") for text in found.warnings)


@pytest.mark.slow
def test_the_command_has_fair_and_fresh(command) -> None:
    arguments = ["compare", "small.toml", "--aqm", "taildrop,pie,madpie@linux", "--seeds", "1"]
    done = command(*arguments, "--fair", "target=20ms,tupdate=20ms", "--fresh")
    assert done.returncode == 0, done.stderr
    assert "target 20ms, tupdate 20ms" in done.stdout
    assert "small, link bottleneck: 4s, all of it counts (no warm-up" in done.stdout
    assert "pie and madpie@linux differ in dialect" in command(*arguments).stderr.replace(
        ":target=20ms", ""
    )
    assert "--fair x=1" in command.refused(*arguments, "--fair", "x=1")


def test_the_fair_command_names_a_law_of_ones_own_by_its_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.py").write_text(
        "class Step:\n    'Lets all pass.'\n\n"
        "    def on_dequeue(self, now_ns, head, queue, random):\n        return None\n"
    )
    (warning,) = unfair(compare("pie", "pi2", "fq(step.py:Step)"))
    assert shlex.split(warning.command)[4].endswith("pi2:target=15ms,tupdate=15ms,fq(step.py:Step)")


def test_a_command_that_would_change_nothing_is_not_offered() -> None:
    (warning,) = unfair(compare("red", "ared"))
    assert warning.command == ""


def test_every_kind_of_warning_is_said_once_with_the_runs_that_have_it() -> None:
    known, late = "a warm-up of 1s is short", "ECN on {} of 50 flows"
    runs = [
        [known, late.format(46), "the device sends 2 bytes more"],
        [late.format(48)],
        [known, late.format(41)],
    ]
    compared = SimpleNamespace(
        aqms=["pie"],
        scenario=SimpleNamespace(warnings=[known]),
        contenders=[],
        shaped={},
        metrics=[],
        references={},
        of=lambda _aqm: [
            SimpleNamespace(warnings=texts, digest=i, summary_rows=[])
            for i, texts in enumerate(runs)
        ],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sojourn.comparing.fairness.unfair", lambda _comparison: [])
        assert all_warnings(compared) == [  # type: ignore[arg-type]
            known,
            "pie: ECN on 46 of 50 flows (and in 2 more runs)",
            "pie: the device sends 2 bytes more",
        ]


SHAPED = """
name = "adsl-up"
duration = "8s"
warmup = "2s"
[links.up]
rate = "20mbit"
delay = "10ms"
[[flows]]
name = "upload"
count = 2
path = ["up"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "bulk" }
"""


def shaped(tmp_path, *aqms: str, **sets: object) -> Comparison:
    file = tmp_path / "adsl.toml"
    file.write_text(SHAPED)
    return sojourn.compare(file, aqms, 6, sets=sets)


def test_a_shaper_is_judged_by_goodput_and_path_delay_with_one_warning(tmp_path) -> None:
    half = "cake:bandwidth=400kbit"
    found = shaped(tmp_path, "cake:bandwidth=831kbit", half, "fq_codel")
    said = [text for text in found.warnings if "different rates" in text]
    assert len(said) == 1
    assert f"{half} at 400kbit; fq_codel at the rate of the link" in said[0]
    assert "record.latency = true" in said[0]
    assert verdict(found).startswith("No overall verdict: contenders send at different rates")
    assert plane(found) == [] and joint_verdicts(found) == {}
    assert [row.label for row in table_rows(found) if row.headline] == ["goodput upload"]
    # Half the rate is half the goodput, not "no practical difference to utilisation".
    words = " ".join(sentences(found))
    assert "utilisation" not in words and "dominates" not in words and "goodput upload" in words
    data = to_json(found)
    assert said[0] in data["warnings"] and said[0] in page(found, {}).replace("&#39;", "'")
    assert "path delay p95" in data["headline_metrics"]
    assert "utilisation" not in data["headline_metrics"]
    assert "pareto" not in found.figures()


def test_path_delay_is_a_headline_of_shapers_where_it_is_recorded(tmp_path) -> None:
    found = shaped(tmp_path, "cake:bandwidth=5mbit", "pie", **{"record.latency": True})
    headlines = [row.label for row in table_rows(found) if row.headline]
    assert headlines == ["goodput upload", "one-way delay p95 upload", "path RTT p95 upload"]
    assert not any("record.latency" in text for text in found.warnings)


@pytest.mark.parametrize(
    "aqms",
    [("cake:bandwidth=5mbit", "cake:bandwidth=5mbit,target=20ms"), ("cake", "fq_codel"),
     ("cake:bandwidth=20mbit", "fq_codel")],
)  # fmt: skip
def test_contenders_of_one_rate_are_compared_as_ever(tmp_path, aqms) -> None:
    found = shaped(tmp_path, *aqms)
    assert found.shaped == {}
    assert "queue delay p95" in [row.label for row in table_rows(found) if row.headline]


def test_framing_at_the_shaper_is_another_rate(tmp_path) -> None:
    atm = "cake:bandwidth=5mbit,overhead=10B,cells=atm"
    found = shaped(tmp_path, "cake:bandwidth=5mbit", atm)
    assert found.shaped[atm] == "5mbit with overhead 10B, cells atm"


def test_contenders_that_give_the_same_runs_are_named_once(tmp_path) -> None:
    slow = {"flows[0].access_rate": "1mbit"}
    alike = [text for text in shaped(tmp_path, "taildrop", "codel", **slow).warnings
             if "give the same runs" in text]  # fmt: skip
    assert len(alike) == 1
    assert alike[0].startswith("taildrop and codel give the same runs, packet by packet")
    assert not any("same runs" in text for text in shaped(tmp_path, "taildrop", "codel").warnings)


def test_a_timer_is_no_difference_and_contenders_that_all_do_the_same_get_no_verdict(tmp_path):
    slow = {"flows[0].access_rate": "1mbit"}
    found = shaped(tmp_path, "codel", "pie", **slow)
    assert any(text.startswith("codel and pie give the same runs") for text in found.warnings)
    same = shaped(tmp_path, "codel", "codel:target=5ms")
    assert verdict(same) == "No verdict: all AQMs give the same runs, packet by packet."
    assert same.words() == []


def test_the_head_names_the_device_that_queue_delay_leaves_out(tmp_path) -> None:
    found = shaped(tmp_path, "codel", "pie", **{"links.up.device": {"packets": 20}})
    assert "Queue delay of up leaves out the device below, which holds up to 20p" in head(found)[1]
    assert head(found)[1] in page(found, {})
    assert not any("leaves out" in line for line in head(shaped(tmp_path, "codel", "pie")))


def test_a_warning_about_the_scenarios_own_aqm_is_not_one_about_the_contenders(tmp_path) -> None:
    file = tmp_path / "adsl.toml"
    file.write_text(SHAPED.replace("8s", "3s"))
    scenario = load(file, {"flows[0].cc": "prague", "links.up.queue": "codel"})
    assert any("prague reacts to marks" in text for text in scenario.warnings)
    marking = sojourn.compare(scenario, ["dualpi2", "dualpi2@linux"], 1)
    assert not any("prague" in text for text in marking.warnings)
    mixed = sojourn.compare(scenario, ["dualpi2", "codel"], 1)
    (said,) = [text for text in mixed.warnings if "prague" in text]
    assert said.startswith("codel: ")


def test_aqms_without_anything_to_do_get_no_verdict(tmp_path) -> None:
    file = tmp_path / "elsewhere.toml"
    file.write_text(SHAPED)
    elsewhere = {"links.up.rate": "100mbit", "flows.0.access_rate": "10mbit"}
    found = sojourn.compare(file, ["taildrop", "codel"], 2, sets=elsewhere)
    assert verdict(found).startswith("No verdict: no AQM had anything to do in any run")
    assert sentences(found) == []
