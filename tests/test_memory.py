"""A run's memory is estimated before it starts, and refused if it is not available."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from sojourn import __main__
from sojourn.cli import main
from sojourn.describing.library import load, parse_set
from sojourn.running import memory

FAST = "100000gbit"
ENDLESS = {
    "flows[0].count": ("dumbbell-reno", {"flows.0.count": 100_000_000}),
    "flows[0].initial_window": ("dumbbell-reno", {"flows.0.initial_window": 2**31}),
    "flows[0].app.rate": (
        "rfc7928/unresponsive-alone",
        {"flows.0.count": 5000, "flows.0.app.rate": "1000gbit", "flows.0.access_rate": FAST,
         "duration": "5s", "warmup": "0s"},
    ),
    "links.bottleneck.buffer": (
        "dumbbell-reno", {"links.bottleneck.buffer": "100000GB", "flows.0.access_rate": FAST},
    ),
    "record.bins": ("dumbbell-reno", {"record.bins": "1ns"}),
    "record.sample": ("dumbbell-reno", {"record.sample": "1ns"}),
}  # fmt: skip


@pytest.mark.parametrize("place", ENDLESS)
def test_a_run_that_needs_more_memory_than_there_is_names_the_word_that_drives_it(
    place: str,
) -> None:
    scenario, sets = ENDLESS[place]
    with pytest.raises(sojourn.InputError) as caught:
        sojourn.run(scenario, sets=sets)
    message = str(caught.value)
    assert message.startswith(f"{place}: ")
    assert "of memory" in message and 'say `memory="' in message


def test_too_many_seeds_are_refused_before_any_is_listed() -> None:
    with pytest.raises(sojourn.InputError, match=r"^seeds: 200,000,000 runs whose results take"):
        sojourn.compare("dumbbell-reno", ["pie", "codel"], 100_000_000)


def test_memory_allows_less_than_the_machine_has_or_more() -> None:
    with pytest.raises(sojourn.InputError, match="50MB are allowed"):
        sojourn.run("dumbbell-reno", sets={"flows.0.count": 100_000}, memory="50MB")
    with pytest.raises(sojourn.InputError, match="memory 3 apples: is not a size"):
        sojourn.run("dumbbell-reno", memory="3 apples")
    for text in ("-1GB", "0GB"):
        with pytest.raises(sojourn.InputError, match=f"memory {text}: must be positive"):
            sojourn.run("dumbbell-reno", memory=text)
    memory.check(load("dumbbell-reno", {"flows.0.count": 100_000_000}), allowed="1000GB")


LARGE = [
    ("flows.0.count=100000", "duration=1s", "warmup=0s"),
    ("record.bins=50us", "duration=5s", "warmup=0s"),
    ("record.sample=50us", "duration=5s", "warmup=0s"),
]


@pytest.mark.slow
@pytest.mark.parametrize("sets", [(), *LARGE], ids=["as-shipped", "flows", "bins", "samples"])
@pytest.mark.parametrize("scenario", ["dumbbell-reno", "traffic-mix"])
def test_a_run_uses_what_was_expected_within_a_quarter(
    scenario: str, sets: tuple[str, ...]
) -> None:
    pairs = [parse_set(text) for text in sets]
    expected = memory.expected(load(scenario, pairs))
    used = peak_bytes(scenario, *(word for text in sets for word in ("--set", text)))
    assert expected / used == pytest.approx(1.0, abs=0.25)


SOURCES = {
    "rate": [
        "{ kind = 'cbr', rate = '1gbit', packet = '200B' }",
        "{ kind = 'cbr', rate = '1gbit', packet = '200B', arrivals = 'poisson' }",
        "{ kind = 'onoff', rate = '1gbit', packet = '200B', on = '50ms', off = '50ms' }",
        "{ kind = 'bursts', rate = '1gbit', packet = '200B', at = ['0s', '500ms'], "
        "length = '400ms' }",
    ],
    "frames": ["{ kind = 'video', frames = ['1MB', '2MB'], interval = '10ms', packet = '200B' }"],
    "file": ["{ kind = 'replay', file = 'recorded.csv', packet = '200B' }"],
    "codec": ["{ kind = 'voice', codec = 'g711' }"],
}
"""Sources of datagrams by the key that determines their backlog."""


def with_source(folder: Path, app: str) -> str:
    """A scenario whose senders are faster than their access links."""
    (folder / "recorded.csv").write_text("".join(f"{i / 100},1000000\n" for i in range(100)))
    access = "1kbit" if "voice" in app else "20mbit"
    duration, count = ("100s", 100) if "voice" in app else ("1s", 1)
    file = folder / "source.toml"
    file.write_text(
        f"name = 'source'\nduration = '{duration}'\n[links.slow]\nrate = '2mbit'\n"
        f"queue = 'taildrop:limit=100p'\n[[flows]]\ncount = {count}\npath = ['slow']\n"
        f"rtt = '10ms'\naccess_rate = '{access}'\napp = {app}\n"
    )
    return str(file)


@pytest.mark.parametrize(("word", "app"), [(w, app) for w, apps in SOURCES.items() for app in apps])
def test_datagrams_in_front_of_the_first_link_are_expected_and_refused(
    word: str, app: str, tmp_path: Path
) -> None:
    scenario = with_source(tmp_path, app)
    with pytest.raises(sojourn.InputError, match=rf"^flows\[0\]\.app\.{word}: .* 60MB are allowed"):
        sojourn.run(scenario, memory="60MB")
    assert memory.expected(load(scenario)) / peak_bytes(scenario) == pytest.approx(1.0, abs=0.25)


LONG_WIRE = """
name = "wire"
duration = "4s"
[links.fast]
rate = "10gbit"
queue = "taildrop:limit=1000p"
[[flows]]
path = ["fast"]
rtt = "2s"
access_rate = "10gbit"
app = { kind = "cbr", rate = "8gbit", packet = "1kB" }
"""


def test_packets_on_a_wire_are_expected(tmp_path: Path) -> None:
    file = tmp_path / "wire.toml"
    file.write_text(LONG_WIRE)
    with pytest.raises(
        sojourn.InputError, match=r"in all some 17\dMB of memory, and 60MB are allowed"
    ):
        sojourn.run(file, memory="60MB")
    assert memory.expected(load(file)) / peak_bytes(str(file)) == pytest.approx(1.0, abs=0.25)


MANY_QUEUES = """
name = "queues"
duration = "10ms"
[links.first]
rate = "10mbit"
queue = "{queue}"
[links.second]
rate = "10mbit"
queue = "{queue}"
[links.third]
rate = "10mbit"
queue = "{queue}"
[[flows]]
path = ["first", "second", "third"]
rtt = "20ms"
app = {{ kind = "bulk" }}
"""


@pytest.mark.parametrize(
    "queue", ["fq(pie):flows=65536", "fq(codel):flows=65536", "cake:flows=65528,diffserv=diffserv8"]
)
def test_the_queues_of_flows_are_expected(queue: str, tmp_path: Path) -> None:
    file = tmp_path / "queues.toml"
    file.write_text(MANY_QUEUES.format(queue=queue))
    with pytest.raises(sojourn.InputError, match=r"^links\.\w+\.queue: \d+,\d+ queues of the"):
        sojourn.run(file, memory="60MB")
    assert memory.expected(load(file)) / peak_bytes(str(file)) == pytest.approx(1.0, abs=0.25)


def test_a_run_that_takes_more_than_expected_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wire.toml"
    file.write_text(LONG_WIRE)
    monkeypatch.setattr(memory, "_parts", lambda _scenario: (0.0, 0.0))
    # One run at a time: what two hold together depends on which of them the machine runs.
    several = ["compare", "--aqm", "taildrop,pie", "--seeds", "2", "--jobs", "1"]
    for command in (["run"], several):
        assert main([*command, str(file), "--memory", "60MB", "--fresh"]) == 1
        said = capsys.readouterr()
        assert re.search(
            r"the first 0\.\d+ s of simulated time take 2[2-9]\.\dMB of memory, and 22\.0MB are "
            r"allowed: simulate less, or allow more with `--memory`",
            said.err,
        ), said.err
    with pytest.raises(MemoryError, match="of simulated time take"):
        sojourn.run(file, memory="60MB", store=None)


def test_the_results_of_earlier_runs_do_not_count(tmp_path: Path) -> None:
    """As in a notebook: the next run gets what is free, whatever the process already holds."""
    sampled = {"record.sample": "20us", "duration": "8s", "warmup": "0s"}
    held = sojourn.run("dumbbell-reno", sets=sampled, store=None)
    assert sojourn.run("dumbbell-reno", memory="41MB", store=None).summary
    assert held.summary


# The peak memory of the program itself, without its parent's.
_SAY_PEAK = """
import atexit, pathlib, sys
from sojourn.cli import main
atexit.register(lambda: print(pathlib.Path("/proc/self/status").read_text(), file=sys.stderr))
sys.exit(main())
"""


def peak_bytes(*arguments: str) -> int:
    """The largest resident size of `sojourn run`."""
    command = [sys.executable, "-c", _SAY_PEAK, "run", "--fresh", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"VmHWM:\s+(\d+) kB", done.stderr)
    assert found
    return int(found[1]) * 1024


@pytest.mark.parametrize("command", ["compare", "attack", "tune", "reproduce", "diff"])
def test_too_little_address_space_is_said_before_a_library_aborts(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (600_000 * 1024, -1))
    assert main([command, "--help"]) == 2
    said = capsys.readouterr().err
    assert f"{command}: the libraries that draw and compute need 1 GB" in said
    assert "allows 614 MB" in said
    assert main(["explain", "pie"]) == 0, "it needs none of them"


def test_libraries_are_set_to_take_little_address_space_where_it_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit, pool in ((resource.RLIM_INFINITY, None), (2_000_000_000, "system")):
        monkeypatch.setattr(resource, "getrlimit", lambda _which, limit=limit: (limit, -1))
        monkeypatch.setattr(os, "environ", {})
        __main__._spare_memory()
        assert os.environ.get("ARROW_DEFAULT_MEMORY_POOL") == pool
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
