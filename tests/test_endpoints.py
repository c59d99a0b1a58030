"""Transport libraries inside the simulator, from the command line and from Python."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sojourn
from sojourn import _core
from sojourn.endpoint import contending_libraries, parse_libraries, with_endpoints
from sojourn.errors import InputError

SCENARIO = """
name = "quic"
duration = "3s"
warmup = "1s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "codel"
[[flows]]
name = "download"
path = ["bottleneck"]
rtt = "40ms"
transport = "quic"
app = { kind = "bulk" }
"""
RUN = """
import sojourn
print(sojourn.run("quic.toml", endpoints={"quic": "quinn"}, store=None).digest)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "quic.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_with_quinn_gives_one_digest_in_two_processes(folder):
    """In each process TLS draws other keys from the system."""
    command = [sys.executable, "-c", RUN]
    digests = {subprocess.check_output(command, cwd=folder, text=True) for _ in range(2)}
    assert digests == {sojourn.run("quic.toml", endpoints={"quic": "quinn"}).digest + "\n"}


def test_the_result_names_library_version_and_settings(folder):
    result = sojourn.run("quic.toml", endpoints={"quic": "quinn:cc=newreno"})
    named = result.manifest["sim"]["endpoints"]["quic"]
    assert named.startswith("quinn-proto 0.11.19 rustls-ring, adapter 1: cc=newreno")
    values = {(name, metric): value for _, name, metric, value, _ in result.summary_rows}
    assert 8e6 < values["download", "goodput"] < 10e6
    assert not result.warnings


def test_a_control_that_draws_from_the_system_is_a_warning_and_never_kept(folder):
    scenario = _core.Scenario.load(SCENARIO)
    quinn, bbr = (with_endpoints(scenario, {"quic": text}) for text in ("quinn", "quinn:cc=bbr"))
    assert quinn.repeats and not bbr.repeats
    assert quinn.endpoint_sources != bbr.endpoint_sources
    (warning,) = sojourn.run(bbr).warnings
    assert "runs with one seed may differ" in warning


def test_aqms_are_compared_under_a_library(folder):
    from sojourn.running.store import Store

    store = Store(folder / "cache")
    kept = {"aqms": "taildrop,codel", "seeds": 2, "store": store}
    made = [
        sojourn.compare("quic.toml", **kept, endpoints={"quic": text})
        for text in ("quinn", "quinn:cc=newreno", "quinn")
    ]
    digests = [[run.digest for runs in each.results.values() for run in runs] for each in made]
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "flows[0].transport: no library is given for `quic`; add --endpoint quic=quinn"),
        (["quic"], "--endpoint quic: write TRANSPORT=LIBRARY, such as quic=quinn"),
        (["quic=quinn", "quic=quinn"], "--endpoint quic=quinn: `quic` is given twice"),
        (["quic=nginx"], "endpoint[quic]: unknown transport library `nginx`; known: quinn"),
        (["quic=quinn:cc=x"], "endpoint[quic]: cc=x: quinn's congestion controls are cubic"),
        (["quic=quinn@linux"], "endpoint[quic]: quinn has no dialects"),
        (["quic=quinn", "tcp=quinn"], "endpoint[tcp]: no flows have this transport; known: quic"),
    ],
)
def test_bad_input_ends_in_one_sentence(folder, options, sentence):
    given = [word for text in options for word in ("--endpoint", text)]
    command = [sys.executable, "-m", "sojourn", "run", "quic.toml", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_several_libraries_are_contenders(folder):
    given = parse_libraries(["quic=quinn:cc=cubic,receive_window=2MB,quinn:cc=newreno"])
    assert given == {"quic": ["quinn:cc=cubic,receive_window=2MB", "quinn:cc=newreno"]}
    comparison = sojourn.compare("quic.toml", ["codel", "pie"], 2, endpoints=given)
    first, second = given["quic"]
    names = [f"codel with {first}", f"pie with {first}", f"codel with {second}"]
    assert comparison.aqms[:3] == names
    assert comparison.results[names[0]][0].digest != comparison.results[names[2]][0].digest
    own = sojourn.compare("quic.toml", [], 1, endpoints=given)
    assert [name.partition(" with ")[2] for name in own.aqms] == [first, second]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"quic": ["quinn", "quinn"]}, "endpoints quic: `quinn` is given twice"),
        ({"quic": []}, "endpoints quic: a library is missing"),
    ],
)
def test_a_list_of_libraries_without_sense_is_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        contending_libraries(given)


def test_a_page_over_quinn_is_streams_of_one_connection(folder):
    pages = 'kind = "web", object = ["5kB"], objects = 10, reading = "100ms"'
    (folder / "quic.toml").write_text(SCENARIO.replace('kind = "bulk"', pages))
    result = sojourn.run("quic.toml", endpoints={"quic": "quinn"})
    streams = result.rows("streams")
    assert len(result.rows("transfers")) > 3
    assert sorted(row["stream"] for row in streams) == [*range(len(streams))]
    assert all(row["goodput_bps"] > 0 for row in streams if row["complete"])
    assert result.summary["class/download/completion_p50"] > 0.1
    why = r"`transfers`, and flows\[0\]\.app has kind `web`"
    with pytest.raises(_core.ScenarioError, match=why):
        sojourn.run("quic.toml", endpoints={"quic": "smoltcp"})


def test_endpoints_that_are_not_a_mapping_are_refused(folder):
    with pytest.raises(InputError, match="is not like"):
        sojourn.run("quic.toml", endpoints="quic=quinn")


def test_the_page_has_no_transport_libraries_and_says_so(folder):
    command = [sys.executable, "-m", "sojourn", "live", "quic.toml", "--no-open"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "quic.toml: flows have transport `quic`, and the page has no transport" in done.stderr


def test_smoltcp_carries_data_and_has_no_ecn(folder):
    result = sojourn.run("quic.toml", endpoints={"quic": "smoltcp:cc=reno"})
    named = result.manifest["sim"]["endpoints"]["quic"]
    assert named == "smoltcp 0.14.0 assembler-32, adapter 1: cc=reno, buffer=1000000B"
    assert result.summary["class/download/goodput"] > 5e6
    (folder / "quic.toml").write_text(SCENARIO.replace('"codel"', '"dualpi2"'))
    with pytest.raises(_core.ScenarioError, match=r"smoltcp .* has no ECN, and links"):
        sojourn.run("quic.toml", endpoints={"quic": "smoltcp"})


CALL = SCENARIO.replace(
    'app = { kind = "bulk" }', 'app = { kind = "video", frames = ["20kB"], interval = "33ms" }'
)


def test_a_call_over_str0m_has_metrics_of_video_and_no_ecn(folder):
    (folder / "quic.toml").write_text(CALL.replace('"3s"', '"10s"'))
    result = sojourn.run("quic.toml", endpoints={"quic": "str0m:share=0.7"})
    named = result.manifest["sim"]["endpoints"]["quic"]
    assert named == "str0m 0.25.0 unencrypted, adapter 1: share=0.7, wait=500ms"
    assert result.summary["class/download/frames_skipped"] < 0.1
    assert 0 < result.summary["class/download/frame_delay_p95"] < 1
    assert not result.warnings
    (folder / "quic.toml").write_text(CALL.replace('"codel"', '"dualpi2"'))
    with pytest.raises(_core.ScenarioError, match=r"str0m .* has no ECN, and links"):
        sojourn.run("quic.toml", endpoints={"quic": "str0m"})


def test_libraries_for_streams_and_for_calls_are_not_confused(folder):
    sentence = r"carries kind `video`, and flows\[0\]\.app has kind `bulk`"
    with pytest.raises(_core.ScenarioError, match=sentence):
        sojourn.run("quic.toml", endpoints={"quic": "str0m"})
    (folder / "quic.toml").write_text(CALL)
    with pytest.raises(_core.ScenarioError, match="carries kind `bulk`"):
        sojourn.run("quic.toml", endpoints={"quic": "quinn"})


def test_str0m_keeps_every_promise_with_other_entropy(folder, capsys):
    from sojourn.cli import main

    assert main(["check", "str0m", "--quick"]) == 0, capsys.readouterr()
    assert "in 3 processes" in capsys.readouterr().out
