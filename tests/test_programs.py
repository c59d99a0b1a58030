"""Unmodified programs on the guest kernel, and errors before one is started.

Tests that need a guest kernel or a program are skipped without it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sojourn
from conftest import NO_KERNEL
from guests import KERNEL, needs_kernel
from sojourn import _core
from sojourn.cli import main
from sojourn.engines.child import Cpu, Notice, carry_out, scratch
from sojourn.engines.linux import guest
from sojourn.errors import InputError, RunFailed, ScenarioError
from sojourn.programs.running import with_bottleneck
from sojourn.programs.wish import Programs, gather

LINE = """
name = "line"
duration = "20s"
warmup = "0s"
{more}
[links.down]
rate = "20mbit"
queue = "{queue}"
[links.up]
rate = "5mbit"
queue = "fq_codel"
[[flows]]
name = "programs"
path = ["down"]
reverse = ["up"]
rtt = "50ms"
app = {{ kind = "bulk" }}
"""
SERVE = "truncate -s 1M big; exec python3 -m http.server 8000"
FETCH = "curl -sO http://server:8000/big && ls big"
in_guest = pytest.mark.skipif(
    KERNEL is None and not os.environ.get("CI"), reason=f"{NO_KERNEL}: sojourn kernel build"
)


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test if a program is not installed where the guest can open it."""
    found = shutil.which(program, path=guest_path())
    return pytest.mark.skipif(found is None, reason=f"{program}: not installed")


def guest_path() -> str:
    """The search path of a guest."""
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """A line with a reverse link."""
    return written(tmp_path)


def written(folder: Path, queue: str = "fq_codel", more: str = "") -> Path:
    file = folder / "line.toml"
    file.write_text(LINE.format(queue=queue, more=more))
    return file


@in_guest
@needs("curl")
def test_a_server_and_a_client_give_the_same_packets_in_every_run(line, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["exec", str(line), "--server", SERVE, "--client", FETCH, "--json"]
    assert main([*command, "--out", str(out)]) == 0
    first = json.loads(capsys.readouterr().out)
    again = sojourn.run_programs(line, {"server": SERVE, "client": FETCH})
    assert again.digest == first["digest"]
    server, client = first["programs"]
    assert (server["end_ns"], server["exit_code"]) == (None, None), "the end of the run stopped it"
    assert (client["start_ns"] // 10**6, client["exit_code"]) == (1000, 0)
    assert client["stdout"] == "big\n"
    assert "GET /big" in server["stderr"]
    (flow,) = again.program_flows.to_pylist()
    assert flow["to_client_bytes"] > 1_048_576
    assert (flow["server"], flow["server_port"], flow["client"]) == ("server", 8000, "client")
    summary = again.summary
    duration_s = (client["end_ns"] - client["start_ns"]) / 1e9
    assert summary["class/client/completion_mean"] == pytest.approx(duration_s)
    assert summary["queue/up/arrived"] > 100, "acknowledgements"
    assert (out / "programs" / "2-client.stdout").read_text() == "big\n"
    assert sojourn.Result.open(out).programs.equals(again.programs)


@in_guest
@needs("iperf3")
def test_the_kernels_own_discipline_takes_programs_and_flows_together(tmp_path):
    more = '[engine.linux]\nbottleneck = "kernel"'
    line = written(tmp_path, "fq_codel@linux", more)
    line.write_text(
        line.read_text() + '[[flows]]\nname = "bulk"\npath = ["down"]\nrtt = "50ms"\n'
        'app = { kind = "bulk" }\n'
    )
    commands = {"server": "iperf3 -s", "client": "iperf3 -c server -R -u -b 4M -t 2"}
    result = sojourn.run_programs(line, commands)
    assert result.invalid == []
    assert result.summary["class/bulk/goodput"] > 5e6
    # 4 Mbit/s of payload for two seconds, with packets lost or not.
    assert result.summary["class/client/goodput"] > 2e6
    protocols = {row["protocol"] for row in result.program_flows.to_pylist()}
    assert protocols == {6, 17}


@in_guest
def test_a_host_has_its_name_its_own_folder_and_what_the_user_lets_it_see(line, tmp_path):
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "text").write_text("shown\n")
    (tmp_path / "hidden").write_text("private")
    # They yield or poll until the other process has slept; they would never end if that took no
    # time.
    waits = (
        "import os, time\npid = os.fork()\nif not pid: time.sleep({}); os._exit(0)\n"
        "while not os.waitpid(pid, os.WNOHANG)[0]: {}\n"
    )
    # The cycle counter around a pause: RDTSC, RDX << 32 | RAX.
    counts = (
        "import ctypes, mmap, time\nplace = mmap.mmap(-1, 4096, prot=7)\n"
        'place.write(bytes.fromhex("0f3148c1e2204809d0c3"))\n'
        "at = ctypes.addressof(ctypes.c_char.from_buffer(place))\n"
        "read = ctypes.CFUNCTYPE(ctypes.c_uint64)(at)\n"
        "start = read()\ntime.sleep(0.05)\nprint(read() - start)\n"
    )
    yields, polls = waits.format(0.05, "os.sched_yield()"), waits.format(0.005, "pass")
    commands = {
        "client": [
            f"hostname; cat {tmp_path}/seen/text; cat {tmp_path}/hidden; pwd; echo $LEVEL",
            f"python3 -c '{yields}'",
            f"python3 -c '{polls}'",
            f"python3 -c '{counts}'",
        ],
        "client-2@2s": "ls /tmp/own; getent hosts client; "
        "cat /proc/sys/net/ipv4/tcp_congestion_control; cat /etc/gitconfig; "
        "touch /etc/own /var/lib/own && ls -d /sys/class/net/eth0; "
        "setpriv --reuid=nobody --clear-groups touch /tmp/of-nobody /dev/shm/of-nobody",
        "server": "no-such-program",
    }
    result = sojourn.run_programs(
        line, commands, see=[tmp_path / "seen"], environment={"LEVEL": "3"}
    )
    rows = result.programs.to_pylist()
    assert rows[0]["stdout"].split() == ["client", "shown", "/tmp/own", "3"]
    assert "hidden" in rows[0]["stderr"]
    assert [row["exit_code"] for row in rows[1:3]] == [0, 0]
    assert 0 <= int(rows[3]["stdout"]) - 50_000_000 < 100_000, "ns, as on the clock"
    assert rows[4]["stdout"].split() == ["10.2.0.10", "client", "cubic", "/sys/class/net/eth0"]
    assert rows[4]["stderr"] == "cat: /etc/gitconfig: No such file or directory\n"
    (reason,) = result.invalid
    assert reason.startswith("server: `no-such-program` ended with exit code 127")
    assert "--see DIR" in reason


@needs_kernel
@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(
            "yes",
            "wrote more than the 256 MB that a host's folder holds",
            marks=pytest.mark.nightly,
        ),
        ("while :; do :; done", "computes, or starts others, without end"),
    ],
)
def test_what_uses_up_a_guest_ends_in_one_sentence(line, monkeypatch, command, message):
    if command != "yes":  # it computes while it writes
        monkeypatch.setattr(guest, "OF_PROGRAMS", replace(guest.OF_PROGRAMS, cpu_s=2.0))
    with pytest.raises(RunFailed, match=message):
        sojourn.run_programs(line, {"client": command})


@needs_kernel
@pytest.mark.nightly
def test_a_program_whose_memory_takes_too_many_mappings_ends_the_run(line):
    with pytest.raises(RunFailed, match=r"killed a program .* vm\.max_map_count"):
        sojourn.run_programs(line, {"client": "tail /dev/zero"})


@needs_kernel
def test_programs_can_neither_end_the_guest_nor_set_its_clock(line):
    commands = ["kill -9 $PPID; poweroff -f", "date -s 2030-01-01"]
    says = sojourn.run_programs(line, {"client": commands}).invalid
    assert len(says) == 2 and all("Operation not permitted" in reason for reason in says)


@needs_kernel
@pytest.mark.nightly
def test_a_program_that_reads_the_clock_in_a_loop_ends_the_run_with_its_command(line):
    code = "import time\nwhile time.time(): pass"
    with pytest.raises(
        RunFailed, match=r"`python3 -c import time while .* for 1\.0 s, from 1\.0 s"
    ):
        sojourn.run_programs(line, {"client": f"python3 -c '{code}'"})


def test_a_program_that_polls_is_named_once_with_the_pace(monkeypatch, capsys):
    times = iter([100.0, 105.0, 112.0, 200.0])
    monkeypatch.setattr("sojourn.engines.child.time.monotonic", lambda: next(times))
    notice = Notice()
    for now_ms in 1000, 1100, 1240, 1300:
        notice.see(now_ms * 10**6, "spin me")
    said = capsys.readouterr().err
    assert said.count("`spin me` in the guest reads a clock or polls in a loop: 20 ms") == 1


@pytest.mark.parametrize(
    ("ends", "says"),
    [("exit 3", "its plan, with exit code 3; its"), ("kill -9 $$", "killed by this machine"),
     ("kill -11 $$", "its plan, by SIGSEGV; its console says nothing")],
)  # fmt: skip
def test_how_a_guest_ended_early_is_said(ends, says):
    with scratch() as folder, pytest.raises(RunFailed, match=says):
        carry_out(["/bin/sh", "-c", ends], folder, "{}", _core.Cancel(), "guest")


def test_the_clock_may_stand_longer_while_the_guests_kernel_serves_programs():
    patience, before = guest.OF_PROGRAMS, Cpu(100.0, 50.0)
    assert patience.exceeded(Cpu(150.0, 50.0), before) is None
    assert patience.exceeded(Cpu(170.0, 55.0), before) == 60.0, "computing"
    assert patience.exceeded(Cpu(170.0, 80.0), before) is None, "starting"
    assert patience.exceeded(Cpu(300.0, 150.0), before) == 150.0


@needs_kernel
@pytest.mark.nightly
def test_programs_that_start_others_without_end_are_ended(line):
    code = "import os, time\nwhile os.fork(): pass\ntime.sleep(9)\n"
    with pytest.raises(RunFailed, match="a run has room for 400: does one of them start others"):
        sojourn.run_programs(line, {"client": [f"python3 -c '{code}'", "sleep 9"]})


@needs_kernel
@pytest.mark.parametrize(("until", "code"), [(["--for", "3s"], 0), ([], 1)])
def test_a_client_may_be_stopped_where_the_user_says_so(line, until, code, capsys):
    assert main(["exec", str(line), "--client", "sleep 100", *until]) == code
    assert ("had not ended at 20.000 s" in capsys.readouterr().err) == bool(code)


@needs_kernel
@needs("curl")
def test_the_tcp_state_of_programs_is_sampled_and_bins_add_up_to_what_was_delivered(line):
    commands = {"server": SERVE, "client": FETCH}
    plain = sojourn.run_programs(line, commands)
    # A bin counts once it has ended: the run's end may cut off one of these, 125 kB of the file.
    sets = {"record.flows": True, "record.bins": "50ms"}
    result = sojourn.run_programs(line, commands, sets=sets)
    assert result.digest == plain.digest
    (flow,) = result.rows("program_flows")
    assert flow["cc"] == "cubic" and plain.rows("program_flows")[0]["cc"] is None
    samples = result.rows("flows")
    assert max(row["cwnd_bytes"] for row in samples) > 100_000
    assert all(0.05 <= row["srtt_ns"] / 1e9 < 0.2 for row in samples if row["delivered_bytes"])
    rates = [row for row in result.rows("bins") if row["scope"] == "class"]
    binned = sum(row["value"] for row in rates if row["metric"] == "goodput") * 0.05 / 8
    assert 0.8 * flow["to_client_bytes"] < binned <= flow["to_client_bytes"]


@needs_kernel
@needs("curl")
@pytest.mark.nightly
def test_several_aqms_are_compared_by_the_durations_of_programs(line, tmp_path, capsys):
    command = ["exec", str(line), "--server", SERVE, "--client", FETCH, "--seeds", "2"]
    out = tmp_path / "out"
    assert main([*command, "--aqm", "taildrop,fq_codel", "--out", str(out)]) == 0
    assert "completion" in capsys.readouterr().out
    assert (out / "report.html").exists()


CLASSES = """
[links.down.scheduler]
kind = "htb"
default = "rest"
classes = [
    { name = "call", rate = "4mbit", ceil = "20mbit", dscp = ["ef"] },
    { name = "rest", rate = "6mbit", ceil = "20mbit" },
]
"""
SENDS_IN_TWO_CLASSES = (
    "import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for tos, count in (0xb8, 40), (0, 20):\n"
    " s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)\n"
    ' for _ in range(count): s.sendto(b"x", ("client", 9)); time.sleep(0.001)\n'
)


@needs_kernel
@pytest.mark.nightly
def test_packets_of_programs_are_counted_in_the_class_of_their_dscp(tmp_path):
    line = tmp_path / "line.toml"
    text = LINE.format(queue="fq_codel@linux", more="").replace(
        "[links.up]", f"{CLASSES}[links.up]"
    )
    line.write_text(text)
    commands = {"server": f"python3 -c '{SENDS_IN_TWO_CLASSES}'", "client": "sleep 1"}
    found = sojourn.run_programs(line, commands).summary
    assert (found["leaf/down.call/sent"], found["leaf/down.rest/sent"]) == (40.0, 20.0)


@pytest.mark.parametrize(
    ("commands", "choices", "message"),
    [
        ({"server": "true"}, {}, "commands: name a command behind the link"),
        ({"web": "true"}, {}, "--at web: a host is in front of the link"),
        ({"Client": "true"}, {}, "in lower case"),
        ({"client@soon": "true"}, {}, "`soon` is not a time"),
        ({"client@-1s": "true"}, {}, "is not a time"),
        ({"client@1e12s": "true"}, {}, "later than any run ends"),
        ({"client": " "}, {}, "needs a command of the shell"),
        ({"client": "echo \udcff"}, {}, r"client: `echo \\udcff` is not UTF-8, from character 6"),
        ({"client": "true"}, {"environment": {"A": "\udcff"}}, "environment A: .* is not UTF-8"),
        ({"client": "true"}, {"see": ["\udcff"]}, "--see: .* is not UTF-8"),
        ({"client": "true"}, {"see": ["/no/such/folder"]}, "--see: /no/such/folder: is not there"),
        ({"client": "true"}, {"folders": {"server": "/usr"}}, "folders server: has no command"),
        ({"client": "true"}, {"folders": {"client": "/etc/passwd"}}, "is not a folder"),
        ({"client": "true"}, {"environment": {"1A": "b"}}, "environment 1A: is not the name"),
    ],
)
def test_an_invalid_host_start_folder_or_variable_is_refused(commands, choices, message):
    with pytest.raises(InputError, match=message):
        gather(commands, **choices)


def wish(text: str, programs: Programs) -> dict[str, object]:
    asked: dict[str, object] = json.loads(programs.to_json(sojourn.Scenario.load(text)))
    return asked


def test_programs_take_the_place_of_the_group_named_so_or_of_the_only_one():
    text = LINE.format(queue="codel", more="")
    programs = gather({"client@2s": "true"})
    asked = wish(text, programs)
    assert asked["group"] == "programs"
    assert asked["commands"] == [{"host": 0, "text": "true", "start_ns": 2_000_000_000}]
    other = text.replace('name = "programs"', 'name = "web"')
    assert wish(other, programs)["group"] == "web"
    two = other + '[[flows]]\nname = "voice"\npath = ["down"]\nrtt = "1ms"\napp = "voice"\n'
    two = two.replace('app = "voice"', 'app = { kind = "bulk" }')
    with pytest.raises(InputError, match="group: programs take the place of one group"):
        wish(two, programs)
    assert wish(two, gather({"client": "true"}, group="voice"))["group"] == "voice"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ('[engine.linux]\nwhere = "host"', InputError),
        ('[engine.linux]\nbottleneck = "sojourn-module"', ScenarioError),
    ],
)
def test_programs_run_in_a_guest_behind_the_kernels_disciplines_or_our_router(
    tmp_path, more, error
):
    if KERNEL is None:
        pytest.skip(NO_KERNEL)
    with pytest.raises(error, match=r"engine\.linux\.(where|bottleneck)"):
        sojourn.run_programs(written(tmp_path, more=more), {"client": "true"})


@pytest.mark.parametrize(
    ("settings", "bottleneck"),
    [
        ("", "sojourn"),
        ("hz = 250", "sojourn"),
        ('bottleneck = "kernel"', "kernel"),
        ('bottleneck = "sojourn"', "sojourn"),
    ],
)
def test_programs_run_behind_our_router_unless_the_scenario_names_a_bottleneck(
    tmp_path, settings, bottleneck
):
    line = written(tmp_path, more=f"[engine.linux]\n{settings}" if settings else "")
    assert _core.linux_wish(with_bottleneck(line))[1] == bottleneck


def test_a_pair_on_the_command_line_needs_a_name(line, capsys):
    assert main(["exec", str(line), "--client", "true", "--env", "=x"]) == 2
    assert "write NAME=VALUE" in capsys.readouterr().err
