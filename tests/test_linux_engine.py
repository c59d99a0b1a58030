"""The engine linux: guests, their plans, their results, and no remains.

Tests that need a guest kernel are skipped without one, unless CI requires one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import sojourn
from guests import KERNEL, in_guest, needs_kernel, numbers, on_linux
from processes import below, is_alive, wait_for
from sojourn import _core
from sojourn.describing.library import load
from sojourn.engines import child, registry
from sojourn.engines.linux import guest, kernel
from sojourn.engines.linux.kernel import archives, changes
from sojourn.errors import InputError, RunFailed, ScenarioError
from sojourn.loading.bring import bring

TEXT = """
name = "guest"
duration = "{duration}"
warmup = "1s"
[record]
packets = true
flows = true
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
count = 2
path = ["bottleneck"]
rtt = "40ms"
cc = "{cc}"
app = {{ kind = "bulk" }}
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
app = {{ kind = "cbr", rate = "87kbit", packet = "218B" }}
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
cc = "reno"
app = {{ kind = "files", sizes = ["15kB"], think = "200ms" }}
"""


def scenario(
    queue: str = "codel@linux", cc: str = "cubic", duration: str = "4s", **sets: str
) -> _core.Scenario:
    text = TEXT.format(queue=queue, cc=cc, duration=duration)
    return _core.Scenario.load(text, sets=list(sets.items()))


@pytest.mark.slow
@needs_kernel
@pytest.mark.parametrize("bottleneck", ["kernel", "sojourn"])
@pytest.mark.parametrize("cc", ["reno", pytest.param("cubic", marks=pytest.mark.nightly)])
def test_kernel_and_router_agree_with_the_simulator(bottleneck: str, cc: str) -> None:
    # The run is so long that the first overshoot, which single acknowledgements decide, matters
    # little.
    given = scenario(cc=cc, duration="20s", **{"engine.linux.bottleneck": f'"{bottleneck}"'})
    run = in_guest(given)
    assert run.invalid == []
    real, simulated = numbers(run), numbers(_core.run(given))
    for metric in ("utilisation", "delay_mean"):
        key = f"queue/bottleneck/{metric}"
        assert real[key] == pytest.approx(simulated[key], rel=0.25), key
    # 87 kbit/s in datagrams of 218 bytes, the same number on both engines.
    assert real["class/cbr/goodput"] == pytest.approx(simulated["class/cbr/goodput"], rel=0.02)
    assert real["class/files/transfers"] >= 3
    # At least 20 ms of propagation.
    assert real["class/cbr/owd_p50"] > 0.020


@needs_kernel
@pytest.mark.parametrize("queue", ["codel@linux", "pie@linux:hz=1000"])
def test_two_runs_are_the_same_packet_for_packet(queue: str) -> None:
    first, second = (in_guest(scenario(queue, duration="3s")) for _ in range(2))
    assert first.digest == second.digest
    assert first.packets_handled > 1000


STEP = """
from sojourn import law


class Step:
    'Drops what has waited longer than 5 ms.'

    late = law.var("packets", "Packets that have waited longer")

    def on_dequeue(self, now_ns, head, queue, random):
        if head.sojourn_ns > 5_000_000 and queue.packets:
            self.late += 1
            return law.Verdict.DROP_DETERMINISTIC
"""


@needs_kernel
@pytest.mark.nightly
def test_a_law_in_python_decides_in_our_router_in_a_guest_twice_the_same(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    brought = bring([f"{tmp_path}/step.py:Step"])
    given = scenario(duration="2s", **{"engine.linux.bottleneck": '"sojourn"'})
    given = given.with_laws(brought.laws).with_queue("bottleneck", brought.aqms[0])
    first, second = (in_guest(given) for _ in range(2))
    assert first.digest == second.digest
    assert numbers(first)["queue/bottleneck/drop_rate"] > 0.01
    with pytest.raises(ScenarioError, match="the kernel has no `Step`"):
        in_guest(_core.Scenario.load(TEXT.format(queue="pie", cc="reno", duration="2s"))
                 .with_laws(brought.laws).with_queue("bottleneck", "Step"))  # fmt: skip


@needs_kernel
def test_ecn_and_transfers_that_do_not_finish_are_counted_as_in_the_simulator() -> None:
    # Files of 5 MB, requested after the warm-up, take more than 4 s; most others finish.
    given = scenario(duration="3s", **{
        "flows[0].ecn": "true",
        "flows[0].start": '"1500ms"',
        "flows[0].app": '{ kind = "files", sizes = ["5MB"], think = "10ms" }',
    })  # fmt: skip
    run = in_guest(given)
    real, simulated = numbers(run), numbers(_core.run(given))
    shares = {key for key in simulated if key.endswith(("/ecn_share", "/unfinished_share"))}
    assert len(shares) == 3
    assert shares <= real.keys()
    (ecn,) = (key for key in shares if key.endswith("/ecn_share"))
    assert real[ecn] == simulated[ecn] == 1.0
    large = ecn.replace("ecn_share", "unfinished_share")
    assert real[large] == simulated[large] == 1.0
    assert run.invalid == []


@needs_kernel
@pytest.mark.nightly
def test_another_seed_is_another_run_where_something_is_drawn() -> None:
    given = scenario("pie@linux:hz=1000", duration="3s")
    assert in_guest(given).digest != in_guest(given.with_seed(2)).digest


@pytest.mark.slow
@needs_kernel
def test_every_qdisc_of_the_kernel_is_configured_as_asked() -> None:
    for queue in ("taildrop:limit=50p", "fq_codel@linux", "fq_pie@linux:hz=1000", "red@linux",
                  "sfq", "fq", "choke", "cake"):  # fmt: skip
        run = in_guest(scenario(queue, duration="2s"))
        assert numbers(run)["queue/bottleneck/sent"] > 500, queue


@needs_kernel
def test_results_have_the_tables_of_the_simulator(tmp_path: Path) -> None:
    result = sojourn.run(scenario(duration="2s"), engine="linux", out=tmp_path)
    stored = sojourn.Result.open(tmp_path)
    assert stored.manifest["engine"] == "linux"
    assert stored.manifest["linux"]["virtual_time"] is True
    assert stored.table("packets").num_rows == result.packets.num_rows > 500
    assert stored.table("flows").column("cwnd_bytes").to_pylist()[-1] > 0
    own = sojourn.run(scenario(duration="2s"))
    assert result.packets.schema == own.packets.schema


@needs_kernel
def test_nothing_of_a_guest_outlives_its_killed_parent(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(TEXT.format(queue="codel@linux", cc="reno", duration="2000s"))
    command = [sys.executable, "-m", "sojourn", "run", str(file), "--engine", "linux"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as parent:
        assert wait_for(lambda: len(below(parent.pid)) > 1), "the guest has started"
        family = below(parent.pid)
        parent.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not any(is_alive(pid) for pid in family))


@pytest.mark.parametrize(("help_of_it", "option"), [(b"seccomp=<on/auto/off>", True), (b"", False)])
def test_a_kernel_that_has_seccomp_is_made_to_use_it(
    tmp_path: Path, help_of_it: bytes, option: bool
) -> None:
    program = tmp_path / "linux"
    program.write_bytes(b"rngseed=N\n\0" + help_of_it)
    asked = guest.command_of(kernel.Kernel(program, "own", None), 1)
    assert ("seccomp=on" in asked) == option


@needs_kernel
def test_a_cancelled_run_ends_its_guest() -> None:
    cancel = _core.Cancel()
    cancel.cancel()
    before = set(below(os.getpid()))  # of other tests in this process
    with pytest.raises(_core.Cancelled):
        on_linux(scenario(duration="2000s"), cancel)
    assert wait_for(lambda: set(below(os.getpid())) <= before)


@needs_kernel
def test_the_guest_cannot_write_the_hosts_tree(tmp_path: Path) -> None:
    assert KERNEL is not None
    target = tmp_path / "mine"
    target.write_text("mine")
    with child.scratch() as folder:
        (folder.shared / child.PLAN).write_text("{}")
        program = f"/bin/sh -c 'echo theirs > {target}; echo $? > /run/said; rm -f {target}'"
        (folder.shared / "init").write_text(f"{program}\n")
        with folder.console.open("wb") as console:
            command = guest.command_of(KERNEL, 1)
            with child.group(command, folder, console, "") as group:
                group.wait(60)
        assert (folder.shared / "said").read_text().strip() != "0"
    assert target.read_text() == "mine"


def _first_shell_does(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    def write(folder: child.Folder, _place: str, _before: Sequence[str] = ()) -> None:
        (folder.shared / "init").write_text(f"{line}\n")

    monkeypatch.setattr(guest, "write_script", write)


def _fails(plan: str, says: str) -> None:
    """The guest cannot carry out the plan, and the message has the remedy."""
    assert KERNEL is not None
    with child.scratch() as folder, pytest.raises(RunFailed, match=says):
        guest.run(KERNEL, folder, plan, 1, _core.Cancel())


@needs_kernel
def test_a_kernel_panic_in_the_guest_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    _first_shell_does(monkeypatch, "exit 3")
    _fails("{}", r"its kernel says: Kernel panic .* kill init.*; take the kernel that `sojourn")


@needs_kernel
def test_a_guest_out_of_memory_is_reported_and_leaves_no_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The guest's only program allocates memory until the kernel can kill no other process."""
    small = partial(guest.command_of, memory="64M")
    monkeypatch.setattr(guest, "command_of", small)
    _first_shell_does(monkeypatch, "exec tail /dev/zero")
    says = r"its kernel says: Out of memory.*; the scenario needs more than .* take fewer flows"
    with pytest.raises(RunFailed, match=says):
        sojourn.run(scenario(duration="2s"), engine="linux", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@needs_kernel
def test_a_guest_that_hangs_is_ended_with_all_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_PATIENCE_S", 2.0)
    _first_shell_does(monkeypatch, "while :; do :; done")
    before = _guests()
    _fails("{}", r"made no progress for 2 s after 0.000 s .*; run fewer at a time")
    assert wait_for(lambda: not _guests() - before)


@needs_kernel
def test_a_text_that_is_not_a_plan_is_refused() -> None:
    _fails("no plan", r"in the guest: plan.json")


@needs_kernel
@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("nonsuch limit 10", "`tc qdisc add .* nonsuch limit 10`: .*does not have that discipline"),
        ("codel limit many", "`tc qdisc add .* codel limit many`: .*change the parameter"),
    ],
)
def test_what_tc_refuses_is_reported_with_the_command_and_the_remedy(queue: str, says: str) -> None:
    plan = json.loads(_core.linux_plan(scenario("codel@linux", duration="2s")))
    (arguments,) = (c["arguments"] for c in plan["commands"] if "parent" in c["arguments"])
    arguments[arguments.index("codel") :] = queue.split()
    _fails(json.dumps(plan), says)


@needs_kernel
def test_a_configuration_that_reads_back_otherwise_ends_the_run() -> None:
    plan = json.loads(_core.linux_plan(scenario("codel@linux", duration="2s")))
    (expected,) = (e for e in plan["expected"] if e["kind"] == "codel")
    expected["options"] = [["limit", 999]]
    _fails(json.dumps(plan), "qdisc codel at out: limit: asked for 999, the kernel has 1000")


@needs_kernel
def test_a_congestion_control_that_the_kernel_lacks_is_reported() -> None:
    plan = json.loads(_core.linux_plan(scenario("codel@linux", duration="2s")))
    plan["flows"][0]["cc"] = "nonsuch"
    _fails(json.dumps(plan), "no congestion control `nonsuch`")


@needs_kernel
def test_the_kernels_red_adapts() -> None:
    queue = "ared@linux:limit=150kB,min_th=3kB,max_th=9kB,hz=1000"
    run = in_guest(scenario(queue, duration="6s"))
    assert run.invalid == []
    facts = sojourn.Result(run).manifest["linux"]
    before, after = (
        next(row["options"]["probability"] for row in facts[when]["router"] if row["kind"] == "red")
        for when in ("qdiscs_before", "qdiscs_after")
    )
    assert before == pytest.approx(0.02, rel=1e-3)
    # Two flows need a lower probability than the initial 2 %.
    assert after < 0.9 * before


TRAFFIC = """
name = "every kind of traffic"
duration = "8s"
warmup = "1s"
[links.bottleneck]
rate = "20mbit"
delay = "5ms"
queue = "taildrop"
[engine.linux]
bottleneck = "{bottleneck}"
{flows}
"""
KINDS = {
    "voice": '{ kind = "voice", codec = "g711" }',
    "poisson": '{ kind = "cbr", rate = "400kbit", packet = "500B", arrivals = "poisson" }',
    "onoff": '{ kind = "onoff", rate = "1mbit", packet = "500B", on = "300ms", off = "300ms" }',
    "bursts": '{ kind = "bursts", rate = "4mbit", packet = "1kB", at = ["2s", "4s"], '
    'length = "500ms" }',
    "files": '{ kind = "files", think = "200ms", sizes = { kind = "exponential", mean = "20kB", '
    'min = "1kB", max = "90kB" } }',
    "web": '{ kind = "web", reading = "500ms" }',
    "chunks": '{ kind = "chunks", every = "1s", rates = ["300kbit", "1mbit"] }',
    "video": '{ kind = "video", frames = ["3kB", "9kB"], interval = "40ms" }',
    "replay": '{ kind = "replay", file = "recorded.csv" }',
}


@pytest.mark.slow
@needs_kernel
@pytest.mark.parametrize(
    "bottleneck", ["kernel", pytest.param("sojourn", marks=pytest.mark.nightly)]
)
def test_every_kind_of_traffic_carries_what_it_does_in_the_simulator(
    bottleneck: str, tmp_path: Path
) -> None:
    group = '[[flows]]\nname = "{}"\npath = ["bottleneck"]\nrtt = "20ms"\napp = {}\n'
    flows = "".join(group.format(name, app) for name, app in KINDS.items())
    file = tmp_path / "traffic.toml"
    file.write_text(TRAFFIC.format(flows=flows, bottleneck=bottleneck))
    rows = [f"{at / 100},{500 + 10 * at}" for at in range(700)]
    (tmp_path / "recorded.csv").write_text("time,bytes\n" + "\n".join(rows) + "\n")
    given = load(str(file))
    run = in_guest(given)
    assert run.invalid == []
    real, simulated = numbers(run), numbers(_core.run(given))
    for name in KINDS:
        key = f"class/{name}/goodput"
        # Without congestion both engines draw the same files, pages and frames.
        assert real[key] == pytest.approx(simulated[key], rel=0.05), key
    assert real["class/voice/voice_mos"] == pytest.approx(
        simulated["class/voice/voice_mos"], abs=0.05
    )
    for name in ("files", "web", "chunks"):
        key = f"class/{name}/transfers"
        assert real[key] == pytest.approx(simulated[key], abs=2), key


@needs_kernel
def test_requests_of_a_web_user_do_not_pass_the_bottleneck() -> None:
    app = '{ kind = "web", reading = "100ms", request = "777B" }'
    flows = f'[[flows]]\npath = ["bottleneck"]\nrtt = "20ms"\napp = {app}\n'
    text = TRAFFIC.format(bottleneck="kernel", flows=flows)
    sets = {"duration": '"2s"', "record.packets": "true"}
    run = in_guest(_core.Scenario.load(text, sets=list(sets.items())))
    sizes = sojourn.Result(run).packets["bytes"].to_pylist()
    assert (run.invalid, sizes.count(777)) == ([], 0)
    assert 1500 in sizes, "pages came"


@needs_kernel
@pytest.mark.parametrize(("tcp", "is_paced"), [("linux", False), ("linux-fq", True)])
def test_a_paced_flow_sends_its_second_flight_packet_by_packet(tcp: str, is_paced: bool) -> None:
    flow = f'path = ["bottleneck"]\nrtt = "100ms"\ntcp = "{tcp}"\napp = {{ kind = "bulk" }}\n'
    text = TRAFFIC.format(bottleneck="kernel", flows=f"[[flows]]\n{flow}")
    sets = {"duration": '"500ms"', "warmup": '"0s"', "record.packets": "true"}
    run = in_guest(_core.Scenario.load(text, sets=list(sets.items())))
    packets = sojourn.Result(run).packets
    # The SYN and the acknowledgement of its answer, a first flight of ten, and one of twenty.
    arrived = packets["arrived_ns"].to_pylist()[12:32]
    gaps_ms = [(after - before) / 1e6 for before, after in pairwise(arrived)]
    assert (min(gaps_ms) > 1) == is_paced, gaps_ms


@pytest.mark.slow
@needs_kernel
def test_the_variables_of_our_law_are_recorded_under_the_kernels_tcp() -> None:
    sets = {"engine.linux.bottleneck": '"sojourn"', "record.states": "true"}
    run = in_guest(scenario("pie", duration="3s", **sets))
    table = sojourn.Result(run).states
    found = dict.fromkeys(table["var"].to_pylist())
    own = sojourn.Result(_core.run(scenario("pie", duration="3s", **sets))).states
    assert list(found) == list(dict.fromkeys(own["var"].to_pylist()))
    probs = [v for v, var in zip(table["value"].to_pylist(), table["var"].to_pylist(), strict=True)
             if var == "drop_prob"]  # fmt: skip
    assert max(probs) > 0


def test_scratch_folders_are_private_and_removed() -> None:
    with child.scratch() as folder:
        assert folder.shared.parent.stat().st_mode & 0o077 == 0
    assert not folder.shared.parent.exists()


@pytest.mark.parametrize(
    ("queue", "sets", "place"),
    [
        ("madpie", {}, "links.bottleneck.queue"),
        ("codel@linux:count=16", {}, "links.bottleneck.queue"),
        ("codel@linux", {"links.bottleneck.rate": '"10500bit"'}, "links.bottleneck.rate"),
    ],
)
def test_what_the_kernel_cannot_do_is_refused_before_it_starts(
    queue: str, sets: dict[str, str], place: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        _core.linux_plan(scenario(queue, **sets))
    assert error.value.place.endswith(place)


def test_a_run_on_a_kernel_with_other_roots_in_cake_is_warned_of() -> None:
    """Fact linux-30."""

    def warned(queue: str, version: str | None) -> list[str]:
        plan = json.loads(_core.linux_plan(scenario(queue), version=version))
        return [text for text in plan["warnings"] if "inverse roots" in text]

    for queue, version in (("cake", "6.1.192-2"), ("cake", "own"), ("cake", None)):
        assert warned(queue, version) == []
    assert warned("cake:inverse_roots=linux-6.12", "7.2.13") == []
    (text,) = warned("cake", "7.2.13")
    assert text.startswith("links.bottleneck.queue: the kernel's cake has")


def test_a_run_on_a_kernel_with_another_tcp_is_warned_of() -> None:
    """Facts tcp-45 to tcp-49."""

    def warned(tcp: str, version: str) -> list[str]:
        asked = scenario(**{f"flows[{group}].tcp": f'"{tcp}"' for group in (0, 2)})
        plan = json.loads(_core.linux_plan(asked, version=version))
        return [text for text in plan["warnings"] if "TCP" in text]

    assert warned("linux", "6.1.192-2") == warned("linux-7.2", "7.2.13") == []
    for text in warned("linux", "7.2.13"):
        assert text.endswith('with `tcp = "linux-7.2"` the simulator has it too')
    assert len(warned("linux", "7.2.13")) == 2, "the bulk flow and the files"


def test_more_than_one_bottleneck_is_refused() -> None:
    with pytest.raises(ScenarioError, match="engine linux"):
        _core.linux_plan(load("two-way"))


def test_a_wireless_lan_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"wlans\.home: engine linux has no wireless LAN"):
        _core.linux_plan(load("wlan"))


def test_a_host_that_sends_datagrams_back_is_refused() -> None:
    pings = scenario(**{"flows.1.app": '{ kind = "echo", interval = "100ms" }'})
    with pytest.raises(ScenarioError, match=r"flows\[\d\]\.app: engine linux has no host"):
        _core.linux_plan(pings)


def test_a_timer_frequency_that_no_kernel_has_is_refused() -> None:
    with pytest.raises(ScenarioError, match="100, 250, 300 or 1000"):
        scenario(**{"engine.linux.hz": "123"})


def test_engines_are_known_by_name() -> None:
    with pytest.raises(InputError, match="known: sim, linux"):
        registry.select(["qemu"], {})
    with pytest.raises(InputError, match="kernel: only engine linux has a kernel; add `engine"):
        registry.select(["sim"], {"kernel": Path("/bin/true")})
    with pytest.raises(InputError, match="not a program"):
        kernel.own(Path("/nonexistent"))


def test_several_kernels_are_separate_contenders() -> None:
    two = registry.select_variants("sim,linux", {"kernel": Path("6.1,./linux")})
    assert [each.label for each in two] == ["sim", "linux 6.1", "linux ./linux"]
    assert [each.options.get("kernel") for each in two] == [None, Path("6.1"), Path("linux")]
    (one,) = registry.select_variants("linux", {"kernel": Path("6.1")})
    assert (one.label, one.options["kernel"]) == ("linux", Path("6.1"))
    for given in ("6.1,6.1", "6.1,"):
        with pytest.raises(InputError, match="name each once, separated by commas"):
            registry.select_variants("linux", {"kernel": Path(given)})


@needs_kernel
def test_kernels_are_compared_side_by_side(tmp_path: Path) -> None:
    assert KERNEL is not None
    own = tmp_path / "linux"
    shutil.copy(KERNEL.path, own)
    given = scenario(duration="3s")
    compared = sojourn.compare(given, "codel", 2, engine="linux", kernel=f"6.1,{own}")
    assert compared.aqms == ["codel on linux 6.1", f"codel on linux {own}"]
    first, second = ([run.digest for run in runs if run] for runs in compared.results.values())
    assert first == second, "the same program"
    with pytest.raises(InputError, match="is not a program"):
        sojourn.compare(given, "codel", 2, engine="linux", kernel=f"6.1,{tmp_path}/nowhere")


def test_a_program_that_is_not_a_kernel_is_refused_before_it_is_started() -> None:
    with pytest.raises(InputError, match="not a User-Mode Linux kernel"):
        kernel.own(Path("/bin/sh"))


def test_a_build_without_packages_names_the_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FOLDER", Path("/nonexistent"))
    assert kernel.missing().endswith(kernel.INSTALL)


@pytest.mark.parametrize(
    ("console", "says"),
    [
        ("<3>Out of memory: Killed process 1 (python3)\n<0>Kernel panic - x", "fewer flows"),
        ("<3>userspace - ptrace set fp regs failed, errno = 14\n<0>Kernel panic", "one that copes"),
        ("<0>Kernel panic - not syncing: x", "with --kernel look at yours"),
        ("something else", "its console says: something else"),
        ("", "says nothing"),
    ],
)
def test_the_last_message_of_a_kernel_is_reported_with_the_remedy(console: str, says: str) -> None:
    with child.scratch() as folder:
        folder.console.write_text(console)
        assert says in child.end_of_console(folder, guest.REMEDIES)


def test_a_build_without_room_says_how_much_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel, "_DISK_BYTES", 1 << 60)
    with pytest.raises(InputError, match=r"GB free and needs .* XDG_CACHE_HOME"):
        kernel._check_disk(tmp_path)


def test_an_interrupted_build_goes_on_with_sources_that_are_changed_once(tmp_path: Path) -> None:
    for name, old, _new in changes.CHANGES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text() if file.exists() else "before\n"
        file.write_text(f"{before}{old}\nafter\n")
    changes.adapt(tmp_path, 1000)
    once = {name: (tmp_path / name).read_text() for name, _old, _new in changes.CHANGES}
    changes.adapt(tmp_path, 1000)
    assert once == {name: (tmp_path / name).read_text() for name in once}
    assert "default 1000" in once["arch/um/Kconfig"]
    (tmp_path / "arch/um/Kconfig").write_text("of another kernel")
    refusal = r"Kconfig: has another text.* not the sources of Debian's 6\.1"
    with pytest.raises(InputError, match=refusal):
        changes.adapt(tmp_path, 1000)


def _guests() -> set[int]:
    """All processes of guests on this machine, including orphans."""
    command = ["ps", "-eo", "pid=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {int(line.split()[0]) for line in listed.splitlines() if "umid=guest" in line}
