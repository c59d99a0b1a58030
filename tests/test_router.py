"""The router in real time: its effect on packets, its records, and no remains.

Tests that need namespaces are skipped without them, unless CI requires them."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sojourn
from processes import below, is_alive, wait_for
from sojourn import _core
from sojourn.engines.linux import host
from sojourn.errors import InputError, RunFailed, ScenarioError
from sojourn.running import router

LACKS = host.missing()
needs_spaces = pytest.mark.skipif(
    LACKS is not None and not os.environ.get("CI"), reason=f"no namespaces: {LACKS}"
)

# Sends datagrams of 1000 bytes (ECT(0)) for a while; the other end counts them and those with CE.
# The first leaves when the other end listens, as its file shows.
SEND = """
import os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
while not os.path.exists(sys.argv[5]):
    time.sleep(0.01)
gap, end = 8000 / float(sys.argv[2]), time.monotonic() + float(sys.argv[3])
due = time.monotonic()
while due < end:
    s.sendto(time.monotonic_ns().to_bytes(8, "little") + bytes(964), (sys.argv[1], 9))
    due += gap
    time.sleep(max(0, due - time.monotonic()))
time.sleep(float(sys.argv[4]))
"""
RECEIVE = """
import json, os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.bind(("", 9))
said = {"packets": 0, "marked": 0, "least_ns": 1 << 60, "sent_ns": [], "took_ns": []}
while True:
    with open(sys.argv[1] + ".new", "w") as file:  # it is ended at any time
        file.write(json.dumps(said))
    os.replace(file.name, sys.argv[1])
    data, control, _, _ = s.recvmsg(2000, 100)
    now = time.monotonic_ns()
    said["packets"] += 1
    said["marked"] += control[0][2][0] & 3 == 3
    sent = int.from_bytes(data[:8], "little")
    said["least_ns"] = min(said["least_ns"], now - sent)
    said["sent_ns"].append(sent)
    said["took_ns"].append(now - sent)
"""


def flood(folder: Path, bps: float, forward: router.Direction, **more: Any) -> dict[str, Any]:
    """Send datagrams from near to far; return the router's final report, and ``received``."""
    received = folder / "received"
    # The queue at the end needs time to drain.
    patience = str(0.5 + max(0.0, 1.5 * (bps / 1e6 - 1)))
    words = ("100.64.0.2", str(bps), "1.5", patience, str(received))
    send = (sys.executable, "-c", SEND, *words)
    receive = (sys.executable, "-c", RECEIVE, str(received))
    out = more.pop("out", None)
    options = router.Options(forward, command=send, far_command=receive, **more)
    ended = router.route(options, out=out)
    return {**ended, "received": json.loads(received.read_text())}


LAW = '''
from sojourn import law


class Step:
    """Drops what has waited longer than a target."""

    target = law.time("5ms", "Delay that is not signalled", source="a test")
    late = law.var("packets", "Packets that waited longer than the target")

    def on_dequeue(self, now_ns, head, queue, random):
        if head.sojourn_ns > self.target and queue.packets:
            self.late += 1
            return law.Verdict.DROP_DETERMINISTIC
'''


def value(ended: dict[str, Any], metric: str, name: str = "forward") -> float:
    return next(row[3] for row in ended["summary"] if row[1:3] == [name, metric])


def only_stalls(reasons: list[str]) -> bool:
    """On a busy machine the router may report a stall, which does not fail a test."""
    return all("stalled" in reason for reason in reasons)


@pytest.mark.slow
@needs_spaces
def test_packets_meet_rate_queue_and_delay(tmp_path: Path) -> None:
    way = router.Direction(aqm="taildrop", rate="1mbit", delay="30ms", limit="10p")
    ended = flood(tmp_path, 2e6, way)
    assert ended["command"] == 0
    assert only_stalls(ended["invalid"])
    received, passed = ended["received"], ended["facts"]["passed"][0]
    assert received["packets"] == passed["packets"] == value(ended, "sent")
    # 1000 bytes take 8 ms at 1 Mbit/s, then 30 ms; ten packets take at most 80 ms.
    assert received["least_ns"] >= 38_000_000
    assert value(ended, "delay_max") <= 0.0801
    # Twice the rate is offered, so half is dropped, except for the packets in the queue.
    assert 0.3 < value(ended, "drop_rate") < 0.6
    assert value(ended, "arrived") == pytest.approx(375, abs=4)


@pytest.mark.slow
@needs_spaces
def test_marks_reach_the_receiver_with_their_checksums_right(tmp_path: Path) -> None:
    way = router.Direction(aqm="codel:ecn=true", rate="1mbit", limit="1000p")
    ended = flood(tmp_path, 2e6, way)
    # A packet whose checksum is wrong never reaches a socket.
    assert ended["received"]["packets"] == value(ended, "sent")
    arrived, marked = value(ended, "arrived"), value(ended, "mark_rate")
    assert ended["received"]["marked"] == round(arrived * marked) > 0
    assert value(ended, "drop_rate") == 0


@pytest.mark.slow
@needs_spaces
def test_results_have_the_usual_tables(tmp_path: Path) -> None:
    way = router.Direction(aqm="pie@linux:target=15ms", rate="1mbit")
    ended = flood(tmp_path, 2e6, way, packets=True, out=tmp_path / "out")
    stored = sojourn.Result.open(tmp_path / "out")
    assert stored.manifest["engine"] == "router"
    forward = stored.manifest["router"]["plan"]["paths"][0]["link"]
    assert forward["service"] == {"rates": [[0, 1_000_000]]}
    assert stored.table("packets").num_rows == value(ended, "arrived")
    assert "drop_prob" in set(stored.table("states").column("var").to_pylist())
    assert ["run", "", "late_p99"] in [row[:3] for row in ended["summary"]]


@pytest.mark.slow
@needs_spaces
def test_every_drop_and_mark_has_its_reason_and_the_state_before_it(tmp_path: Path) -> None:
    way = router.Direction(aqm="codel:ecn=true", rate="1mbit", limit="20p")
    ended = flood(tmp_path, 2e6, way, signals=True, out=tmp_path / "out")
    rows = sojourn.Result.open(tmp_path / "out").signals.to_pylist()
    arrived = value(ended, "arrived")
    # CoDel marks at the head; drops here are overflows.
    for done, metric, place in (
        ("marked", "mark_rate", ("dequeue", "deterministic")),
        ("dropped", "drop_rate", ("enqueue", "overflow")),
    ):
        of_it = [row for row in rows if row["signal"] == done]
        assert len(of_it) == round(arrived * value(ended, metric)) > 0
        assert {(row["stage"], row["cause"]) for row in of_it} == {place}
        assert all("count" in dict(row["state"]) for row in of_it)
    assert [row["t_ns"] for row in rows] == sorted(row["t_ns"] for row in rows)


@needs_spaces
def test_both_ways_are_configured_separately(tmp_path: Path) -> None:
    ended = flood(
        tmp_path, 5e5, router.Direction(delay="1ms"),
        reverse=router.Direction(aqm="fq_codel", rate="3mbit", delay="2ms"),
    )  # fmt: skip
    assert ended["received"]["packets"] == ended["facts"]["passed"][0]["packets"] > 50
    names = {row[1] for row in ended["summary"] if row[0] == "queue"}
    assert names == {"reverse"}


DOWNLOAD = """
import socket, sys
if sys.argv[1] == "serve":
    listener = socket.create_server(("100.64.0.2", 8000))
    connection, _ = listener.accept()
    connection.sendall(bytes(400_000))
    connection.close()
else:
    import time
    for _ in range(100):
        try:
            connection = socket.create_connection(("100.64.0.2", 8000))
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    while connection.recv(65536):
        pass
"""


def download(**ways: router.Direction) -> dict[str, Any]:
    """Fetch 400 kB from the far end at the near end."""
    serve, fetch = ((sys.executable, "-c", DOWNLOAD, role) for role in ("serve", "fetch"))
    return router.route(router.Options(**ways, command=fetch, far_command=serve))


@pytest.mark.slow
@needs_spaces
def test_a_download_is_shaped_by_the_reverse_rate_and_a_forward_rate_alone_warns() -> None:
    shaped = download(reverse=router.Direction(aqm="fq_codel", rate="4mbit"))
    assert shaped["warnings"] == []
    assert value(shaped, "arrived", "reverse") > 250
    assert shaped["wall_s"] > 0.8
    missed = download(forward=router.Direction(aqm="fq_codel", rate="4mbit"))
    [warning] = missed["warnings"]
    assert "went from far to near, where no rate is set" in warning
    assert warning.endswith("give --reverse-rate")


def test_a_rate_is_of_both_ways_unless_one_has_its_own() -> None:
    forward, reverse = router.both_ways("10mbit", aqm="pie", delay="5ms", limit="90p")
    assert forward == reverse == router.Direction("pie", "10mbit", "5ms", "90p")
    forward, reverse = router.both_ways("10mbit", down="50mbit", aqm="pie", reverse_aqm="codel")
    assert (forward.rate, forward.aqm) == ("10mbit", "pie")
    assert (reverse.rate, reverse.aqm) == ("50mbit", "codel")


def test_an_aqm_is_for_the_ways_with_a_rate() -> None:
    forward, reverse = router.both_ways(up="5mbit", aqm="pie", delay="1ms")
    assert (forward.aqm, reverse) == ("pie", router.Direction(delay="1ms"))
    forward, reverse = router.both_ways(down="5mbit", aqm="pie")
    assert (forward, reverse.aqm) == (router.Direction(), "pie")
    # A direction without any rate stays in the place where the core refuses it.
    assert router.both_ways(aqm="pie")[0].aqm == "pie"


@needs_spaces
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--", "sh", "-c", "exit 7"), 7),
        (("--", "sh", "-c", "kill -9 $$"), 137),
        (("--stall", "1ns", "--", "true"), 123),
        (("--duration", "200ms", "--", "sleep", "9"), 124),
        (("--near", "nonsuch", "--", "true"), 125),
        (("--", "/"), 126),
        (("--", "nonsuch-program"), 127),
    ],
)
def test_the_exit_code_is_the_commands_or_names_a_state_of_the_router(
    command: Any, words: tuple[str, ...], code: int
) -> None:
    stall = () if "--stall" in words else ("--stall", "9s")
    assert command("router", "--rate", "10mbit", *stall, *words).returncode == code


@needs_spaces
def test_the_report_has_a_file_and_stdout_is_the_commands(command: Any) -> None:
    done = command("router", "--rate", "1mbit", "--json", "r.json", "--", "echo", "only this")
    assert done.stdout == "only this\n"
    assert "B passed" in done.stderr
    assert json.loads((command.folder / "r.json").read_text())["command"] == 0
    assert "takes a file, or - for stdout" in command("router", "--json", "--", "true").stderr


@needs_spaces
def test_a_block_of_python_has_a_router_around_its_programs() -> None:
    serve, fetch = ([sys.executable, "-c", DOWNLOAD, role] for role in ("serve", "fetch"))
    with sojourn.router(rate="4mbit", delay="5ms", aqm="fq_codel", stall="9s") as link:
        link.far.popen(serve)
        link.near.run(fetch, timeout=60)
        left = link.far.popen(["sleep", "1000"])
        with pytest.raises(subprocess.CalledProcessError):
            link.near.run(["false"])
    assert link.ended["invalid"] == link.ended["warnings"] == []
    assert link.value("arrived", "reverse") > 250
    assert link.value("arrived") > 20
    assert left.poll() is not None
    with pytest.raises(TypeError, match="unknown argument `speed`"):
        sojourn.router(speed="4mbit")


@needs_spaces
def test_a_router_that_cannot_start_is_an_error_of_its_block() -> None:
    with (
        pytest.raises(RunFailed, match="--near /run/netns/nonsuch"),
        sojourn.router(near="nonsuch"),
    ):
        pass


def test_a_router_without_rates_and_aqms_warns_of_nothing() -> None:
    assert router.warnings(router.Options(), (10, 1000)) == []


SCENARIO = """
name = "home"
duration = "9s"
[links.up]
rate = {{ kind = "schedule", steps = [["0s", "2mbit"], ["500ms", "1mbit"]] }}
delay = "2ms"
{wire}
[links.down]
rate = "4mbit"
delay = "3ms"
queue = "fq_codel"
buffer = "80p"
[[flows]]
path = ["up"]
reverse = ["down"]
rtt = "30ms"
app = {{ kind = "bulk" }}
"""


@needs_spaces
def test_a_scenario_is_the_routers_configuration(tmp_path: Path) -> None:
    file = tmp_path / "home.toml"
    file.write_text(SCENARIO.format(wire='loss = { kind = "bernoulli", rate = 0.2 }'))
    scenario = sojourn.load(file)
    ended = flood(tmp_path, 8e5, router.Direction(aqm="codel"), scenario=scenario, stall="9s")
    [summary, left_out] = ended["remarks"]
    assert summary.startswith("home: links.up from near to far (delay ")
    assert "flows, duration, warmup and record" in left_out
    assert ended["warnings"] == ended["invalid"] == []
    up, down = ended["facts"]["plan"]["paths"]
    assert up["link"]["queue"].startswith("codel")
    assert up["link"]["service"] == {"rates": [[0, 2_000_000], [500_000_000, 1_000_000]]}
    assert down["link"]["limit"] == "80p"
    assert up["delay_ns"] + down["delay_ns"] == 30_000_000
    # 1000 B take 4 ms at 2 Mbit/s, plus the delay of that direction.
    assert ended["received"]["least_ns"] >= 4_000_000 + up["delay_ns"]
    lost = value(ended, "wire_loss_rate")
    assert 0.05 < lost < 0.4
    assert ended["received"]["packets"] == value(ended, "sent") - value(ended, "wire_lost")


def alternating(one: str, other: str) -> str:
    """Steps of 300 ms, because the start of the sender is unknown."""
    steps = [f'["{300 * step}ms", {one if step % 2 else other}]' for step in range(30)]
    return f'{{ kind = "schedule", steps = [{", ".join(steps)}] }}'


@needs_spaces
def test_a_scheduled_loss_acts_at_its_times(tmp_path: Path) -> None:
    file = tmp_path / "home.toml"
    file.write_text(SCENARIO.format(wire=f"loss = {alternating('1.0', '0.0')}"))
    ended = flood(tmp_path, 8e5, router.Direction(), scenario=sojourn.load(file), stall="9s")
    assert 0.3 < value(ended, "wire_loss_rate") < 0.7
    sent = ended["received"]["sent_ns"]
    gaps = [after - before for before, after in itertools.pairwise(sent)]
    long = [gap for gap in gaps if gap > 150e6]
    assert 1 <= len(long) <= 3 and all(250e6 < gap < 400e6 for gap in long), long


@needs_spaces
@pytest.mark.parametrize(
    ("old", "new", "least_ms", "most_ms"),
    [
        ('delay = "2ms"', "delay = " + alternating('"42ms"', '"2ms"'), 39, 41),
        ("WIRE", 'jitter = { kind = "uniform", max = "40ms", reorder = true }', 15, 30),
    ],
    ids=["scheduled delay", "jitter"],
)
def test_a_varying_delay_acts(
    tmp_path: Path, old: str, new: str, least_ms: float, most_ms: float
) -> None:
    text = SCENARIO.format(wire="WIRE").replace(old, new).replace("WIRE", "")
    # One rate, so that every packet takes the same time to be sent.
    (tmp_path / "home.toml").write_text(text.replace('["500ms", "1mbit"]', '["500ms", "2mbit"]'))
    scenario = sojourn.load(tmp_path / "home.toml")
    ended = flood(tmp_path, 8e5, router.Direction(), scenario=scenario, stall="9s")
    took = sorted(ended["received"]["took_ns"])
    assert len(took) == ended["received"]["packets"] > 100
    # The time between the middles of the quick half and of the slow half.
    between = (took[3 * len(took) // 4] - took[len(took) // 4]) / 1e6
    assert least_ms - 2 < between < most_ms + 2


@needs_spaces
def test_a_block_and_the_command_take_a_scenario(command: Any) -> None:
    (command.folder / "home.toml").write_text(SCENARIO.format(wire=""))
    words = ("--link", "down", "--set", "links.down.rate=9mbit", "--stall", "9s", "--", "true")
    done = command("router", "home.toml", *words)
    assert (done.returncode, done.stdout) == (0, "")
    assert "router: home: links.down from near to far" in done.stderr
    with sojourn.router(scenario=command.folder / "home.toml", stall="9s", aqm="pie") as link:
        link.near.run([sys.executable, "-c", "pass"])
    assert link.ended["facts"]["plan"]["paths"][0]["link"]["queue"].startswith("pie")


def test_a_scenario_that_the_router_cannot_follow_is_refused_with_the_remedy(
    tmp_path: Path, command: Any
) -> None:
    (command.folder / "home.toml").write_text(SCENARIO.format(wire=""))
    for words, said in (
        (("home.toml", "--rate", "1mbit"), "--rate: is in the scenario; change that with --set"),
        (("home.toml", "--link", "upp"), "--link: home has no link `upp`"),
        (("home.toml", "--set", "links.up.ecn_bleaching=true"), "links.up.ecn_bleaching: the rou"),
        (("--link", "up"), "--link: names a link of a scenario; give its file first"),
        (("--set", "a=1"), "is for a scenario; give its file first"),
        (("none.toml",), "none.toml"),
    ):
        done = command("router", *words)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    with pytest.raises(TypeError, match="`sets` is for a scenario"):
        sojourn.router(sets={"seed": 1})


@needs_spaces
def test_a_link_may_be_a_recording_of_any_length(tmp_path: Path) -> None:
    # 125 packets per second for an hour: longer than an argument of a process may be.
    (tmp_path / "trace").write_text("".join(f"{8 * n}\n" for n in range(1, 450_000)))
    recorded = 'rate = { kind = "trace", file = "trace" }'
    text = SCENARIO.format(wire="").replace('rate = "4mbit"', recorded)
    (tmp_path / "home.toml").write_text(text)
    scenario = sojourn.load(tmp_path / "home.toml")
    ended = flood(tmp_path, 8e5, router.Direction(), scenario=scenario, link="down", stall="9s")
    # One opportunity of 1500 B every 8 ms.
    assert value(ended, "throughput") == pytest.approx(8e5, rel=0.4)
    assert value(ended, "arrived") == value(ended, "sent") == ended["received"]["packets"]


TALK_IPV6 = """
import socket, sys
if sys.argv[1] == "serve":
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
    s.bind(("::", 9))
    print("up", flush=True)
    marked = 0
    for _ in range(60):
        data, control, _, source = s.recvmsg(2000, 100)
        marked += control[0][2][0] & 3 == 3
    s.sendto(str(marked).encode(), source)
else:
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
    for _ in range(60):
        s.sendto(bytes(952), (sys.argv[2], 9))
    print(s.recv(100).decode())
"""


@needs_spaces
def test_programs_talk_over_ipv6_and_marks_reach_them() -> None:
    serve, send = ([sys.executable, "-c", TALK_IPV6, role] for role in ("serve", "send"))
    law = "step@dctcp:backlog_threshold=20p"
    with sojourn.router(up="4mbit", delay="5ms", aqm=law, stall="9s") as link:
        if link.far.ipv6_address is None:
            pytest.skip("this machine has no IPv6")
        server = link.far.popen(serve, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        assert server.stdout.readline() == "up\n"
        marked = int(link.near.run([*send, link.far.ipv6_address], timeout=20).stdout)
    assert link.value("arrived") == link.value("sent") == 60
    assert marked == round(60 * link.value("mark_rate")) > 20
    assert link.ended["facts"]["foreign"] == 0


@needs_spaces
def test_a_run_whose_packets_leave_late_is_marked_invalid(tmp_path: Path) -> None:
    ended = flood(tmp_path, 5e5, router.Direction(rate="1mbit"), stall="1ns")
    assert any("the host stalled" in reason for reason in ended["invalid"])


@needs_spaces
def test_a_command_that_fails_or_is_missing_is_reported() -> None:
    ended = router.route(router.Options(router.Direction(rate="1mbit"), command=("false",)))
    assert ended["command"] == 1
    with pytest.raises(RunFailed, match="nonsuch-program"):
        router.route(router.Options(command=("nonsuch-program",)))


@needs_spaces
def test_a_missing_name_space_is_reported() -> None:
    with pytest.raises(RunFailed, match="--near /run/netns/nonsuch"):
        router.route(router.Options(near="nonsuch"))


@needs_spaces
def test_nothing_of_a_router_outlives_its_killed_parent() -> None:
    with started("--", "sleep", "1000") as parent:
        family = _of(parent.pid)
        assert len(family) >= 3, "router, its watcher, command"
        parent.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not any(map(is_alive, family)))


@needs_spaces
def test_ctrl_c_ends_it_with_a_summary() -> None:
    with started("--rate", "1mbit", "--json", "-", "--", "sleep", "1000") as parent:
        family = _of(parent.pid)
        parent.send_signal(signal.SIGINT)
        text, _ = parent.communicate(timeout=30)
    assert parent.returncode == 130
    assert json.loads(text)["interrupted"] is True
    # They are killed by then, but on a busy machine a killed process takes time to end.
    assert wait_for(lambda: not any(map(is_alive, family)), seconds=10)


@needs_spaces
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_needs_no_root(tmp_path: Path) -> None:
    """Run the system's interpreter with copies of our files, because that user cannot read ours."""
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        pytest.skip(f"{python}: is not there")
    if Path("/dev/net/tun").stat().st_mode & 0o006 != 0o006:
        pytest.skip("/dev/net/tun: this machine opens it to root alone")
    shared = Path("/tmp") / f"sojourn-test-{os.getpid()}"
    shared.mkdir(mode=0o755)
    try:
        core, program = shared / Path(_core.__file__).name, shared / "route.py"
        shutil.copy(_core.__file__, core)
        shutil.copy(Path(host.__file__).parent / "route.py", program)
        words = {"forward": {"rate": "1mbit"}, "duration": "500ms", "command": ["id", "-u"]}
        plan = os.memfd_create("plan")
        os.write(plan, _core.router_plan(json.dumps(words)).encode())
        os.lseek(plan, 0, os.SEEK_SET)
        report_out, report_in = os.pipe()
        control_out, control_in = os.pipe()
        for end in (report_in, control_out):
            os.fchown(end, 65534, 65534)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-I", "-S",
             str(program), str(core), str(plan), str(report_in), str(control_out), "", ""],
            pass_fds=(plan, report_in, control_out), capture_output=True, text=True, check=False,
        )  # fmt: skip
        os.close(plan)
        os.close(report_in)
        with os.fdopen(report_out) as report:
            lines = [json.loads(line) for line in report]
        os.close(control_out)
        os.close(control_in)
    finally:
        shutil.rmtree(shared)
    assert lines, done.stderr
    assert "end" in lines[-1]
    assert done.stdout.strip() == "0", "root of its own user namespace"


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (router.Options(router.Direction(aqm="nonsuch", rate="1mbit")), "--aqm"),
        (router.Options(router.Direction(aqm="codel")), "--aqm"),
        (router.Options(reverse=router.Direction(rate="fast")), "--reverse-rate"),
        (router.Options(duration="0s"), "--duration"),
        (router.Options(near="host", far="host"), "--far"),
    ],
)
def test_what_means_nothing_is_refused_with_its_option(options: router.Options, place: str) -> None:
    with pytest.raises(ScenarioError) as error:
        router.route(options)
    assert error.value.place == place


def test_a_machine_without_name_spaces_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_TUN", Path("/nonexistent/tun"))
    with pytest.raises(InputError, match=r"/nonexistent/tun: is not there; modprobe tun"):
        router.route(router.Options(router.Direction(rate="1mbit")))


class started:  # noqa: N801 - reads as a sentence
    """A router started by the command line, which runs within the block."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "sojourn", "router", *arguments]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> subprocess.Popen[str]:
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        assert line.startswith("router: near"), line + self._process.stderr.read()
        assert wait_for(lambda: len(_of(self._process.pid)) >= 3)
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.wait(30)


def _of(pid: int) -> list[int]:
    """The living processes below a process."""
    return [child for child in below(pid) if is_alive(child)]


@needs_spaces
def test_a_law_in_python_decides_in_the_router_and_the_manifest_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "step.py").write_text(LAW)
    monkeypatch.chdir(tmp_path)
    forward = router.Direction(aqm="step.py:Step:target=10ms", rate="1mbit")
    ended = flood(tmp_path, 2e6, forward, out=tmp_path / "out", signals=True)
    assert only_stalls(ended["invalid"])
    assert value(ended, "drop_rate") > 0.2
    assert value(ended, "delay_p95") < 0.05
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (law,) = manifest["router"]["plan"]["laws"]
    assert law["name"] == "Step"
    assert law["source"].startswith("python:step.py:Step sha256=")


@needs_spaces
def test_a_law_that_fails_ends_the_router_with_file_line_and_reason(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(LAW.replace("self.late += 1", "self.late += 1 / 0"))
    forward = router.Direction(aqm=f"{tmp_path}/wrong.py:Step:target=1ms", rate="1mbit")
    with pytest.raises(RunFailed, match=r"wrong\.py:13: Step\.on_dequeue at .*ZeroDivisionError"):
        flood(tmp_path, 2e6, forward)


class Local:
    """A law without a separate file."""

    def on_enqueue(self, now_ns: int, head: Any, queue: Any, random: Any) -> None:
        """Let everything pass."""


def test_a_class_without_a_file_is_refused_with_what_to_do() -> None:
    local: Any = Local
    with pytest.raises(ScenarioError, match="is in no file that another process could load"):
        router.route(router.Options(router.Direction(aqm=local, rate="1mbit")))
