"""Hand-written pages agree with the code."""

import re
from pathlib import Path

import pytest

import sojourn
from sojourn.describing.metric_table import ROWS
from sojourn.running.result import TABLES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reference" / "tables.md").read_text()
# Runs that together have every metric: voice, files, marks, random loss, a wireless LAN.
RUNS = {
    "traffic-mix": {
        "record.flows": True,
        "record.bins": "1s",
        "record.latency": True,
        "flows.0.ecn": True,
    },
    "wlan": {},
    "rrul": {"duration": "7s"},
    "dumbbell-cubic": {"links.bottleneck.loss": {"kind": "bernoulli", "rate": 0.001}},
    "dumbbell-reno": {"links.bottleneck.policer": {"rate": "5mbit", "burst": "20kB"}},
}


def section(heading: str) -> str:
    """The text below the heading with this word, up to the next heading."""
    (found,) = [part for part in PAGE.split("\n## ") if f"`{heading}`" in part.split("\n", 1)[0]]
    return found


def first_cells(text: str) -> list[str]:
    """The words in code of the first column of every table."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row.split("|")[1])]


def metrics(text: str) -> set[str]:
    """The metrics of the summary; `_p50` continues the word before it."""
    found: list[str] = []
    for word in first_cells(text):
        if not word.startswith("_"):
            stem = word.rpartition("_")[0]
        found.append(stem + word if word.startswith("_") else word)
    return set(found)


QUIC = """
name = "quic"
duration = "2s"
warmup = "0s"

[links.bottleneck]
rate = "10mbit"

[[flows]]
name = "quic"
path = ["bottleneck"]
rtt = "40ms"
transport = "quic"
app = { kind = "bulk" }
"""


# A player that must stall, and a call whose frames are lost behind a full queue.
VIDEO = """
name = "video"
duration = "20s"
[links.bottleneck]
rate = "3mbit"
buffer = "60p"
[[flows]]
name = "player"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "chunks", every = "2s", rates = ["1mbit", "4mbit"], buffer = "8s" }
[[flows]]
name = "call"
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "video", frames = ["5kB"], interval = "40ms" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    quic = tmp_path_factory.mktemp("pages") / "quic.toml"
    quic.write_text(QUIC)
    return [
        *(sojourn.run(name, sets={"duration": "5s", "warmup": "0s", **sets})
          for name, sets in RUNS.items()),
        sojourn.run(quic, endpoints={"quic": "quinn"}),
        sojourn.run(sojourn.Scenario.load(VIDEO)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_a_table_is_on_its_page(name, results):
    columns = results[0].table(name).column_names
    if name in ("states", "flow_states"):
        columns = ["queue", "flow", *columns[1:]]
    first_table = section(name).partition("|\n\n")[0]
    assert sorted(first_cells(first_table)) == sorted(columns)


def test_every_metric_of_the_summary_is_on_the_page_and_no_other(results):
    made = {metric for result in results for _, _, metric, _, _ in result.summary_rows}
    named = metrics(section("summary")) - {"scope", "name", "metric", "value", "unit"}
    # These replace unknown numbers, which these runs need not have.
    bounds = {f"completion_{q}_above" for q in ("p50", "p95", "p99")}
    assert bounds <= named
    # The page also has metrics that another program writes, or no engine for a stated reason.
    elsewhere = {row.name for row in ROWS if row.only or row.never}
    assert named - bounds - elsewhere == made - bounds
    assert elsewhere <= named


def test_every_variable_that_all_queues_and_flows_have_is_named(results):
    tail_drop = set(results[0].table("states").column("var").to_pylist())
    of_flows = set(results[0].table("flow_states").column("var").to_pylist())
    named = set(re.findall(r"`([a-z_]+)`", section("states")))
    assert tail_drop | of_flows <= named


def test_every_key_of_the_manifest_is_on_the_page(results):
    keys = set(first_cells(section("manifest.json")))
    assert keys - {"linux", "files", "checksum"} == set(results[0].manifest)


@pytest.mark.parametrize(
    ("template", "page"),
    [
        ("coverage/page.template", "coverage.md"),
        ("witness/traces.template", "tcp-witness.md"),
    ],
)
def test_a_recorded_page_has_the_words_of_its_template(template, page):
    """Both pages are written by programs that run for minutes and need other simulators."""
    parts = re.split(r"\{[a-z0-9_]+\}", (ROOT / "tests" / template).read_text())
    filled = ".+?".join(map(re.escape, parts))
    text = (ROOT / "docs" / "evidence" / page).read_text()
    assert re.fullmatch(filled, text, re.DOTALL)
