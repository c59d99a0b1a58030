"""The table of metrics: each metric of a run has a row, and one more row is right everywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import sojourn
import synthetic
from sojourn.agreement.cells import CellAgreement
from sojourn.comparing import equivalence
from sojourn.comparing.conclusions import sentences
from sojourn.comparing.metrics import headline_text
from sojourn.comparing.statistics import Estimate
from sojourn.comparing.table import table_rows
from sojourn.describing.formatting import axis_label, show_value
from sojourn.describing.metric_table import MetricRow
from sojourn.describing.metrics import TABLE, row_of, usual_row
from sojourn.errors import InputError
from sojourn.report import page, to_json
from sojourn.study.page.charts import front
from sojourn.study.page.metric_axes import metric_axis
from sojourn.study.schema import study_schema

KEY = "class/voip/stall_p95"
TENTH = MetricRow(
    scope="class", name="stall_p95", kind="time", unit="s", label="stall p95", better="lower",
    together="lower", centre="median", relative=0.05, least=0.001, headline="stalls per class",
    tables=("compare",), quantile=0.95, is_long=True, doc="Time without a packet.",
)  # fmt: skip

# Small runs that have all metrics between them.
MANY = """
name = "many"
duration = "3s"
warmup = "0s"
record.latency = true
record.bins = "1s"

[links.bottleneck]
rate = "2mbit"
delay = "10ms"
queue = "codel:ecn=true"
loss = { kind = "bernoulli", rate = 0.01 }

[[flows]]
name = "bulk"
count = 2
path = ["bottleneck"]
rtt = "40ms"
cc = "reno"
ecn = true
app = { kind = "bulk" }

[[flows]]
name = "call"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "voice", codec = "g711" }

[[flows]]
name = "get"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "bulk", bytes = "20kB" }

[[flows]]
name = "tv"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "chunks", every = "500ms", rates = ["50kbit", "100kbit"], buffer = "2s" }

[[flows]]
name = "meeting"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "video", frames = ["500B"], interval = "40ms" }

[[flows]]
name = "slow"
path = ["bottleneck"]
rtt = "40ms"
start = "2900ms"
app = { kind = "bulk", bytes = "9MB" }
"""


QUIC = """
name = "quic"
duration = "1s"
[links.bottleneck]
rate = "10mbit"
policer = { rate = "8mbit", burst = "10kB" }
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
transport = "quic"
app = { kind = "bulk" }
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> sojourn.Result:
    path = tmp_path_factory.mktemp("many") / "many.toml"
    path.write_text(MANY)
    return sojourn.run(path)


def test_a_run_has_no_metric_without_a_row_and_every_row_is_written_or_says_why_not(many) -> None:
    wlan = sojourn.run("wlan", sets={"duration": "2s", "warmup": "0s"})
    rrul = sojourn.run("rrul", sets={"duration": "7s", "warmup": "0s"})
    quic = sojourn.run(sojourn.Scenario.load(QUIC), endpoints={"quic": "quinn"})
    rows = [row for result in (many, wlan, rrul, quic) for row in result.summary_rows]
    for scope, _, metric, _, unit in rows:
        assert (TABLE[metric].scope, TABLE[metric].unit) == (scope, unit), metric
    expected = {row.name for row in TABLE.values() if not row.only and not row.never}
    assert {metric for _, _, metric, _, _ in rows} == expected
    only = {row.name: row.only for row in TABLE.values() if row.only}
    assert only == dict.fromkeys(("late_p50", "late_p99", "late_max"), "router")


def test_every_metric_of_table_bins_says_whether_it_is_a_mean_over_bins(many) -> None:
    found = {row["metric"] for row in many.table("bins").to_pylist()}
    assert found == {row.name for row in TABLE.values() if row.bins}
    of = ("queue", "bottleneck")
    assert many.series(*of, "throughput", bins=2)
    with pytest.raises(InputError, match="with bins: goodput, throughput, utilisation"):
        many.series(*of, "drop_rate", bins=2)


@pytest.fixture
def tenth(monkeypatch: pytest.MonkeyPatch) -> sojourn.Comparison:
    """A comparison whose runs have one more metric, which has one more row."""
    monkeypatch.setitem(TABLE, TENTH.name, TENTH)
    made = synthetic.result

    def with_one_more(aqm: str, seed: int, *account: object) -> sojourn.Result:
        result = made(aqm, seed, *account)
        value = (0.4 if aqm == "taildrop" else 0.2) + 0.001 * seed
        result._run._summary.append((*KEY.split("/"), value, "s"))
        return result

    monkeypatch.setattr(synthetic, "result", with_one_more)
    return synthetic.comparison(["taildrop", "pie"])


def test_one_more_row_has_label_unit_interval_and_verdict_in_a_comparison(tenth) -> None:
    (row,) = [row for row in table_rows(tenth) if row.label == "stall p95 voip"]
    assert (row.unit, row.headline) == ("ms", True)
    assert row.cells[0].text == "405.5 (402.7–408.3)", "a median with the ends of its interval"
    assert row.cells[1].sign == "✓", "less is better"
    assert "margin ±20.3" in row.cells[1].note, "5 % of the first AQM"
    (test,) = [test for test in tenth.differences().to_pylist() if test["metric"] == KEY]
    assert (test["family"], test["verdict"]) == ("headline", "better")
    (cell, _) = [cell for cell in tenth.table().to_pylist() if cell["metric"] == KEY]
    assert (cell["label"], cell["unit"], cell["centre"]) == ("stall p95 voip", "s", "median")
    assert "lowers" in sentences(tenth)[0] and "stall p95 voip by 200" in sentences(tenth)[0]
    assert "stalls per class" in headline_text()
    assert to_json(tenth)["headline_metrics"] == headline_text()
    assert "stall p95 voip" in page(tenth, {})


def test_one_more_row_has_its_format_axis_and_direction_elsewhere(tenth) -> None:
    assert show_value("stall_p95", 0.0123, "s") == "12.3 ms"
    assert show_value("stall_p95", 1.5, "s") == "1.50 s", "a long time"
    assert axis_label(TENTH) == "stall p95 [ms]"
    assert CellAgreement("s", KEY, (0.1, 0.2), 0.0).is_time
    assert metric_axis(KEY, "s", [Estimate(0.1, 0.01, 5)]).title == "stall p95 of voip (ms)"
    assert front([(1, 1), (2, 0)], [KEY, "queue/b/utilisation"]) == [True, False]
    assert "stall_p95" in json.dumps(study_schema())


def test_the_margins_in_words_follow_from_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    assert equivalence.text() == (
        "5 % of the baseline's mean for times (at least 1 ms) and rates, 1 point of utilisation, "
        "0.01 of Jain's index, 0.1 of MOS, 0.5 points of other fractions"
    )
    special = replace(row_of("loss_rate"), least=0.02)
    monkeypatch.setitem(TABLE, "loss_rate", special)
    assert "2 points of loss" in equivalence.text()


def test_a_front_needs_a_direction_of_both_metrics() -> None:
    marks, used = "queue/b/mark_rate", "queue/b/utilisation"
    assert front([(0.1, 0.9), (0.2, 0.8)], [marks, used]) == [False, False]


def test_a_metric_that_the_table_lacks_has_what_is_usual_of_its_unit() -> None:
    kinds = {"s": "time", "bit/s": "rate", "1": "score", "packets": "count"}
    for unit, kind in kinds.items():
        row = row_of("class/x/unheard_of", unit)
        assert (row.kind, row.unit, row.label, row.better) == (kind, unit, "unheard_of", "")
    assert row_of("own/b/jain") == usual_row("own", "jain", "1"), "a custom metric of that name"


def test_a_custom_metric_says_its_kind_and_centre(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = synthetic.comparison(["taildrop", "pie"])

    @sojourn.metric(unit="1", kind="share", better="lower", centre="median", doc="A share")
    def share(result: sojourn.Result) -> float:
        return 0.25

    @sojourn.metric(unit="1", doc="A pure number")
    def jain(result: sojourn.Result) -> float:
        return 2.5

    own = type(compared)(
        compared.scenario, compared.link, compared.seeds, compared.results, (), {}, [share, jain]
    )
    shown = {row.label: (row.unit, row.cells[0].text) for row in table_rows(own)[-2:]}
    assert shown["jain"] == ("", "2.50 ± 0")
    assert shown["share"][0] == "%" and shown["share"][1].startswith("25")
    estimated = {cell["metric"]: cell["centre"] for cell in own.table().to_pylist()}
    assert estimated["own/bottleneck/share"] == "median"
    with pytest.raises(InputError, match=r"2\.5 is not a share"):
        replace(share, function=jain.function)(compared.of("pie")[0])


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"kind": "size"}, "kind `size`"), ({"centre": "mode"}, "`mode`")]
)
def test_a_custom_metric_of_no_known_kind_or_centre_is_refused(wrong, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        sojourn.metric(unit="1", doc="x", **wrong)
