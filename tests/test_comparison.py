"""Comparisons of synthetic results."""

import io
import math
from types import SimpleNamespace

import pytest
from rich.console import Console

import sojourn
from sojourn.cli.tables import print_comparison
from sojourn.comparing import compare as comparing
from sojourn.comparing import planned
from sojourn.comparing.compared_runs import run_folder
from sojourn.comparing.metrics import bulk_classes, select
from sojourn.comparing.planned import choose_seeds
from sojourn.comparing.table import table_rows
from sojourn.describing import library
from sojourn.describing.queues import choose_link
from sojourn.engines import registry
from sojourn.errors import InputError
from synthetic import AQMS, comparison


@pytest.fixture(scope="module")
def compared():
    return comparison()


def test_metrics_come_in_the_order_of_display(compared):
    labels = [metric.label for metric in compared.metrics]
    assert labels[:5] == [f"queue delay {m}" for m in ("mean", "p50", "p95", "p99", "max")]
    assert labels.index("utilisation") < labels.index("goodput bulk") < labels.index("drop rate")


def test_what_is_zero_in_every_run_is_neither_shown_nor_tested(compared):
    assert [m.metric for m in compared.zero_metrics] == ["mark_rate_deterministic"]
    assert all(row.metric not in compared.zero_metrics for row in compared.tests)


def test_every_aqm_but_the_first_is_tested_on_every_metric(compared):
    assert len(compared.tests) == len(compared.metrics) * (len(AQMS) - 1)
    assert {row.baseline for row in compared.tests} == {"taildrop"}


def test_differences_are_taken_seed_by_seed(compared):
    row = next(r for r in compared.tests if r.metric.metric == "utilisation" and r.aqm == "pie")
    assert row.test.difference.mean == 0.0
    assert row.verdict == "same"


def test_a_verdict_knows_which_direction_is_better(compared):
    verdicts = {(r.metric.metric, r.aqm): r.verdict for r in compared.tests}
    # The synthetic utilisation is the same for all AQMs, so the shorter delay dominates.
    assert verdicts["delay_p95", "codel"] == "different"
    assert table_rows(compared)[0].cells[1].verdict == "better"
    assert verdicts["goodput", "codel"] == "same"
    assert verdicts["completion_p95", "codel"] == "better"


def test_tables_are_arrow_in_si_units(compared):
    table, differences = compared.table(), compared.differences()
    assert table.num_rows == len(compared.cells)
    assert set(table["unit"].to_pylist()) == {"s", "1", "bit/s"}
    assert differences.column_names[9:12] == ["p_value", "family", "p_adjusted"]


def test_conclusions_name_what_is_significant(compared):
    words = compared.words()
    assert len(words) == len(AQMS)
    assert words[-1].startswith("In queue delay p95 and utilisation together codel dominates tail")
    assert words[0].startswith("Against taildrop, codel lowers queue delay p95 by 35")
    assert "95 % interval" in words[0]
    assert "no practical difference to utilisation" in words[0]


def test_only_the_headline_family_is_corrected_and_judged(compared):
    family = {
        ("queue", "delay_p95"), ("queue", "utilisation"), ("class", "goodput"),
        ("class", "completion_p95"), ("class", "loss_rate"),
    }  # fmt: skip
    for row in compared.tests:
        inside = (row.metric.scope, row.metric.metric) in family
        assert row.headline == inside
        assert math.isnan(row.p_adjusted) != inside
        assert inside or row.verdict == ""
    smallest = min(row.test.p_value for row in compared.tests if row.headline)
    count = sum(row.headline for row in compared.tests)
    adjusted = min(row.p_adjusted for row in compared.tests if row.headline)
    assert adjusted == pytest.approx(smallest * count)
    assert {row.label for row in table_rows(compared) if row.headline} == {
        row.metric.label for row in compared.tests if row.headline
    } | {"delay p95 at utilisation"}


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_a_table_fits_its_terminal_and_loses_nothing(compared, width):
    console = Console(file=io.StringIO(), width=width)
    print_comparison(compared, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for row in table_rows(compared):
        for cell in row.cells:
            assert cell.text.replace(" ± ", "±") in text


def test_one_seed_is_reported_to_give_no_intervals():
    alone = comparison(["taildrop", "pie"], seeds=1)
    assert "no intervals" in alone.words()[0]
    assert all(math.isnan(row.test.p_value) for row in alone.tests)
    assert all(not cell.sign for row in table_rows(alone) for cell in row.cells)


def test_one_aqm_has_nothing_to_compare():
    alone = comparison(["pie"])
    assert alone.words() == []
    assert alone.tests == []
    assert alone.differences().num_rows == 0


def test_a_failed_run_leaves_a_gap_not_a_shift():
    gap = comparison(["taildrop", "pie"], seeds=4)
    whole = comparison(["taildrop", "pie"], seeds=4)
    gap.results["pie"][1] = None
    metric = gap.metrics[0]
    values = gap.values(metric, "pie")
    assert math.isnan(values[1])
    assert values[2] == whole.values(metric, "pie")[2]
    assert gap.tests[0].test.difference.n == 3


def test_bulk_classes_are_those_that_just_send(compared):
    assert bulk_classes(compared.of("pie")[0].summary_rows) == ["bulk"]


def test_other_queues_are_not_shown():
    rows = [("queue", "a", "delay_p95", 1.0, "s"), ("queue", "b", "delay_p95", 2.0, "s")]
    assert [metric.name for metric in select(rows, "b")] == ["b"]


def test_the_link_is_the_only_one_or_the_bottleneck_or_asked_for():
    class Links:
        name = "demo"

        def __init__(self, *links):
            self.links = list(links)

    assert choose_link(Links("x"), None) == "x"
    assert choose_link(Links("a", "bottleneck"), None) == "bottleneck"
    assert choose_link(Links("a", "b"), "b") == "b"
    with pytest.raises(InputError, match="by `link`"):
        choose_link(Links("a", "b"), None)
    with pytest.raises(InputError, match="no such link; it has a, b"):
        choose_link(Links("a", "b"), "c")


def test_seeds_count_up_or_are_given():
    assert choose_seeds(3, 2) == [3, 4]
    assert choose_seeds(3, [7, 5]) == [7, 5]
    for wrong in (0, [], [1, 1]):
        with pytest.raises(InputError, match="seeds"):
            choose_seeds(1, wrong)


@pytest.fixture
def failing(monkeypatch):
    """Runs that all fail at once; returns the requests."""
    asked = []

    def run_all(tasks, **given):
        asked.append((tasks, given))
        return [f"{task.label}: failed" for task in tasks]

    monkeypatch.setattr(planned, "run_all", run_all)
    return asked


def test_without_an_aqm_engines_are_compared_under_the_scenarios_own(failing):
    engines = registry.select(["sim", "linux"], {})
    made = comparing.compare("dumbbell-reno", [], seeds=2, engine=engines)
    own = library.load("dumbbell-reno").queue("bottleneck")
    assert list(made.results) == [f"{own} on sim", f"{own} on linux"]
    assert made.references == {f"{own} on sim": f"{own} on linux"}
    with pytest.raises(InputError, match="name at least one AQM"):
        comparing.compare("dumbbell-reno", [], seeds=2)


def test_metrics_and_congestion_controls_of_ones_own_come_to_the_comparison(failing):
    @sojourn.metric(unit="1", better="lower", doc="none")
    def none(result):
        return 0.0

    made = comparing.compare("dumbbell-reno", ["pie"], seeds=2, metrics=[none])
    assert [metric.name for metric in made.own_metrics] == ["none"]
    with pytest.raises(InputError, match=r"^ccs: "):
        comparing.compare("dumbbell-reno", ["pie"], seeds=2, ccs=[7])


def test_what_lies_in_the_folder_of_an_earlier_comparison_is_removed_before_the_first_run(
    failing, tmp_path
):
    earlier = tmp_path / "comparison.json"
    earlier.write_text("{}")
    comparing.compare("dumbbell-reno", ["pie"], seeds=2, out=tmp_path)
    assert not earlier.exists()
    saved = []
    result = SimpleNamespace(save=saved.append)
    assert failing[0][1]["finish"](1, result) is None
    assert saved == [tmp_path / run_folder("pie", 2)]


def test_a_comparison_shows_itself_as_its_table_within_100_columns(compared):
    lines = repr(compared).splitlines()
    assert lines[0].strip(), "it begins with text"
    assert lines[-1].strip(), "and ends with it"
    assert repr(compared) == repr(compared).rstrip()
    assert max(map(len, lines)) <= 100
    assert "utilisation" in repr(compared)


def test_folders_of_runs_are_partitions_and_differ():
    aqms = ["pie:target=5ms", "pie/target=5ms", "fq(pie)"]
    folders = [str(run_folder(aqm, 3)) for aqm in aqms]
    assert folders[0] == "runs/contender=pie%3Atarget%3D5ms/replica=3"
    assert len(set(folders)) == 3


def test_runs_that_are_the_same_for_every_seed_have_no_interval_and_no_test():
    made = comparison(["taildrop", "codel", "pie"], seeds=6)
    for aqm in ("taildrop", "codel"):
        made.results[aqm] = [made.results[aqm][0]] * 6
    assert made.fixed == ["taildrop", "codel"]
    for cell in made.cells:
        assert math.isnan(cell.estimate.half_width) == (cell.aqm in made.fixed)
    for row in made.tests:
        assert math.isnan(row.test.p_value) == (row.aqm == "codel")
        assert row.aqm != "codel" or row.verdict == ""
    words = made.words()
    assert words[0].startswith("Every seed gives the same run with taildrop and codel")
    assert not any(sentence.startswith("Against taildrop, codel") for sentence in words)


def test_an_aqm_that_draws_at_random_only_now_and_then_is_named_as_hardly_replicated():
    from types import SimpleNamespace

    from sojourn.comparing.conclusions import _nearly_fixed

    runs = {"fq_codel": "aaaab", "pie": "abcde", "codel": "aaaaa", "red": "aabbc"}
    made = {aqm: [SimpleNamespace(digest=each) for each in of] for aqm, of in runs.items()}
    found = [*_nearly_fixed(SimpleNamespace(aqms=[*runs], of=made.__getitem__))]
    assert [each.partition(":")[0] for each in found] == [
        "4 of 5 seeds give the same run with fq_codel"
    ]
