"""`sojourn tc`: importing set-ups, findings, exporting commands, and AQMs in tc's syntax."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

import sojourn
from sojourn import _core
from sojourn.describing.library import load
from sojourn.errors import InputError, ScenarioError
from sojourn.exporting.tc import senders
from sojourn.loading.bring import bring

SLOW = """\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0
qdisc fq_codel 110: dev eth0 parent 1:10 limit 1001p flows 1024 target 5ms interval 100ms ecn
class htb 1:10 root leaf 110: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b
"""
BYTES = "tc qdisc add dev eth0 root cake bandwidth 10mbps overhead 18\n"
RIGHT = "tc qdisc add dev eth0 root cake bandwidth 10mbit overhead 18 besteffort\n"


@pytest.fixture
def call(command):
    """A call of the command: exit code, stdout, stderr."""

    def done(*arguments: str, **options: str) -> tuple[int, str, str]:
        ended = command(*arguments, **options)
        return ended.returncode, ended.stdout, ended.stderr

    return done


@pytest.fixture
def paste(command):
    def write(text: str) -> str:
        (command.folder / "paste.txt").write_text(text)
        return "paste.txt"

    return write


POLICED = """\
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip prio 50 u32 match ip src 0.0.0.0/0 \\
   police rate 8mbit burst 100k drop flowid :1
"""


def test_a_pasted_policer_drops_in_a_run_and_goes_back(call, command, paste):
    code, _out, err = call("tc", "import", paste(POLICED), "--rate", "20mbit", "-o", "line.toml")
    assert code == 0 and "eth0 (policer): down" in err
    result = sojourn.run(command.folder / "line.toml", sets={"duration": "3s", "warmup": "0s"})
    assert result.summary["queue/down/drop_rate_policed"] > 0
    code, out, _err = call("tc", "export", "line.toml", "--dev", "eth1")
    assert code == 0
    assert "matchall action police rate 8mbit burst 102400b conform-exceed drop/pipe action" in out


def test_a_paste_becomes_a_scenario_that_runs_and_goes_back(call, command, paste):
    code, _out, err = call("tc", "import", paste(SLOW), "-o", "line.toml")
    assert code == 0
    assert "read: eth0 (htb > fq_codel): up, 1mbit" in err and "stab" in err
    scenario = load(command.folder / "line.toml")
    assert scenario.links == ["up"]
    code, out, _err = call("tc", "export", "line.toml", "--dev", "eth1")
    assert code == 0
    assert "htb rate 1mbit ceil 1mbit" in out and "parent 1:10" in out
    (command.folder / "again.sh").write_text(out)
    call("tc", "import", "again.sh", "-o", "again.toml")
    again = load(command.folder / "again.toml")
    resolved = [json.loads(each.resolved_json())["links"] for each in (scenario, again)]
    assert resolved[0] == resolved[1]


def test_the_import_prints_to_stdout_and_never_replaces_its_own_file(call, paste):
    code, out, err = call("tc", "import", paste(RIGHT))
    assert code == 0 and 'queue = "cake:bandwidth=10mbit,overhead=18B"' in out
    assert "not in the text: the traffic" in err
    code, _out, err = call("tc", "import", "paste.txt", "-o", "paste.txt")
    assert code == 2 and "choose another" in err
    code, _out, err = call("tc", "import")
    assert code == 2 and "--dev eth0" in err


def test_a_wrong_set_up_is_measured_with_its_remedy(call, paste):
    code, out, _err = call("tc", "check", paste(BYTES), "--seeds", "2")
    assert code == 1
    assert "WRONG: the rate is 80 Mbit/s" in out and "Assumed: round trip 40 ms" in out
    code, out, _err = call("tc", "check", "paste.txt", "--seeds", "2", "--json")
    found = json.loads(out)["findings"]
    assert code == 1
    assert found[0]["code"] == "bytes-per-second"
    delay = found[0]["measured"][0]
    assert delay["before"] > 500 and delay["after"] < 60
    assert delay["test"]["difference"]["mean"] < -500


def test_an_adsl_line_has_a_queue_of_its_own_until_the_shaper_counts_its_cells(call, paste):
    """At 90 % of the line: 1514 B of a frame are 1749 B in cells (ITU-T I.363.5)."""
    shaper = (
        "tc qdisc add dev eth0 root handle 1: {}htb default 10\n"
        "tc class add dev eth0 parent 1: classid 1:10 htb rate 3600kbit\n"
        "tc qdisc add dev eth0 parent 1:10 codel\n"
    )
    line = ("--line", "4mbit", "--medium", "adsl", "--seeds", "2", "--json")
    counted, bare = (shaper.format(it) for it in ("stab linklayer adsl overhead 26 ", ""))
    delays = {}
    for text in (bare, counted):
        found = json.loads(call("tc", "check", paste(text), *line)[1])["findings"]
        delays[text] = {it["code"]: it["measured"][0] for it in found}
    without = delays[bare]["no-overhead"]
    assert without["before"] > 5 * without["after"] and without["after"] < 60
    assert list(delays[counted]) == ["ecn-off"]
    # The links of that trial do not include the line behind the shaper.
    assert delays[counted]["ecn-off"]["before"] < 60


def test_the_exit_code_says_whether_something_is_wrong(call, paste):
    assert call("tc", "check", paste(RIGHT))[0] == 0
    doubtful = RIGHT.replace(" overhead 18", "")
    assert call("tc", "check", paste(doubtful), "--seeds", "0")[0] == 0
    assert call("tc", "check", "paste.txt", "--seeds", "0", "--strict")[0] == 1
    code, _out, err = call("tc", "check", paste("<pre>qdisc</pre>"))
    assert code == 2 and "line 1" in err and "HTML" in err
    assert call("tc", "check", paste(RIGHT), "--line", "10mbit", "--seeds", "0")[0] == 1


def test_an_aqm_after_tc_is_in_its_words_and_one_without_gets_the_remedy():
    assert bring(["tc: fq_codel limit 1000 target 20ms"]).aqms == [
        "fq_codel@linux:limit=1000p,target=20ms"
    ]
    assert bring(["tc: cake bandwidth 10mbit besteffort nat ack-filter-aggressive"]).aqms == [
        "cake:bandwidth=10mbit,ack_filter=aggressive"
    ]
    below = bring(["tc: cake besteffort overhead 10"], framing=lambda: 14)
    assert below.aqms == ["cake:overhead=-4B"], "on top of the framing of the link"
    with pytest.raises(InputError, match="write `tc: fq_codel limit 1001p"):
        bring(["fq_codel limit 1001p flows 1024"])
    assert bring(["tc: cake bandwidth 10mbit autorate-ingress ingress besteffort"]).aqms == [
        "cake:bandwidth=10mbit,ingress=true,autorate_ingress=true"
    ]
    with pytest.raises(InputError, match="no counterpart"):
        bring(["tc: cake bandwidth 10mbit fwmark 0xff"])
    with pytest.raises(ScenarioError, match="not known here"):
        bring(["tc: fq_codel limi 1000"])


def test_what_commands_cannot_say_is_refused(call, command):
    toml = """
name = "x"
duration = "5s"
[links.a]
rate = { kind = "schedule", steps = [["0s", "1mbit"], ["2s", "2mbit"]] }
queue = "pie@linux"
[[flows]]
path = ["a"]
rtt = "10ms"
app = { kind = "bulk" }
"""
    (command.folder / "x.toml").write_text(toml)
    code, _out, err = call("tc", "export", "x.toml")
    assert code == 2 and "schedule" in err and "--set links.a.rate" in err
    flat = ("tc", "export", "x.toml", "--set", "links.a.rate=1mbit", "--set")
    code, _out, err = call(*flat, "links.a.queue=madpie")
    assert code == 2 and "no `madpie`" in err
    code, _out, err = call(*flat, "links.a.queue=dualpi2@linux", "--kernel", "6.1")
    assert code == 2 and "6.17" in err
    code, _out, err = call(*flat, "links.a.queue=cake", "--kernel", "new")
    assert code == 2 and "such as 6.1" in err


WORDS = [
    "taildrop:limit=50p",
    "taildrop@bytes:limit=30kB",
    "codel@linux:target=7ms,ecn=true,ce_threshold=1ms",
    "fq_codel@linux:flows=512,quantum=300B,memory_limit=4MB,drop_batch=8",
    "pie@linux:alpha=0.25hz,beta=2hz,tupdate=30ms,byte_mode=true,delay=rate",
    "fq_pie@linux:target=20ms,quantum=600B,flows=16",
    "red@linux:limit=400kB,min_th=30kB,max_th=90kB,burst=55,ecn=true",
    "choke:limit=100p,min_th=10,max_th=30",
    "sfq:perturb=10s,quantum=3000B,divisor=512",
    "sfb:bin_max=30,rehash_interval=60s",
    "cake:bandwidth=10mbit,isolation=src,overhead=30B,cells=atm,mpu=64B,limit=2MB",
]


@pytest.mark.skipif(shutil.which("tc") is None, reason="needs tc (iproute2)")
@pytest.mark.parametrize("aqm", WORDS)
def test_tc_itself_takes_the_words(aqm):
    """tc reads all options before it looks for the device, so the test needs no device."""
    commands, _ = _core.tc_export(
        [("nosuchdev0", False, 10_000_000, None, (14, 0, "none"), aqm, None, None)], None, False
    )
    for line in commands:
        done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
        assert 'Cannot find device "nosuchdev0"' in done.stderr, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("plan", [_core.linux_plan, _core.ns3_plan])
def test_other_engines_refuse_hosts_that_groups_share(plan):
    toml = """
name = "x"
duration = "1s"
[links.a]
rate = "1mbit"
[[flows]]
path = ["a"]
reverse = []
rtt = "10ms"
src_host = "pc"
app = { kind = "bulk" }
"""
    with pytest.raises(ScenarioError, match=r"flows\[0\].src_host: engine .* use engine sim"):
        plan(_core.Scenario.load(toml))


def test_an_export_ends_with_the_settings_of_the_senders():
    flow = '[[flows]]\nname = "{}"\npath = ["a"]\nrtt = "10ms"\n{}\napp = {{ kind = "bulk" }}\n'
    flows = [("one", 'cc = "bbr"'), ("two", "ecn = true"), ("three", 'cc = "bbr"'), ("l4s", PRAGUE)]
    links = 'name = "x"\nduration = "5s"\n[links.a]\nrate = "5mbit"\nqueue = "cake"\n'
    text = links + "".join(flow.format(*it) for it in flows)
    assert senders(_core.Scenario.load(text)) == [
        "# on hosts that send one, three: sysctl -w net.ipv4.tcp_congestion_control=bbr "
        "net.ipv4.tcp_ecn=2",
        "# on hosts that send two: sysctl -w net.ipv4.tcp_congestion_control=cubic "
        "net.ipv4.tcp_ecn=1",
    ]


PRAGUE = 'cc = "prague"'
ALONE = ["unshare", "--user", "--map-root-user", "--net"]


@pytest.mark.skipif(shutil.which("tc") is None, reason="needs tc (iproute2)")
def test_exported_commands_may_be_run_again():
    """htb does not allow changes: the second `replace` ended with an error."""
    script = "ip tuntap add eth9 mode tap && tc qdisc add dev eth9 root htb"
    if subprocess.run([*ALONE, "sh", "-c", script], capture_output=True, check=False).returncode:
        pytest.skip("needs a network namespace with tap and htb")
    commands, _ = _core.tc_export(
        [("eth9", False, 10_000_000, None, (40, 0, "none"), "taildrop:limit=50p", None, None)],
        None,
        False,
    )
    text = "\n".join(commands)
    script = f"set -e; ip tuntap add eth9 mode tap\n{text}\n{text}\ntc class show dev eth9"
    done = subprocess.run([*ALONE, "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    assert "class htb 1:10 root leaf 110: prio 0 rate 10Mbit ceil 10Mbit" in done.stdout


def test_what_a_path_does_is_told_in_the_words_of_netem():
    from sojourn.exporting.tc import _path_of

    jitter = {"kind": "netem", "mean": "40ms", "deviation": "10ms", "distribution": "normal"}
    entry = {
        "name": "a", "delay": "60ms", "jitter": jitter | {"reorder": True},
        "loss": {"kind": "bernoulli", "rate": 0.003, "correlation": 0.25},
        "reorder": {"rate": 0.25, "gap": 5}, "corrupt": {"rate": 0.001},
    }  # fmt: skip
    assert _path_of(entry).endswith(
        "netem delay 100000us 10000us distribution normal loss 0.3% 25% corrupt 0.1% reorder 25% "
        "gap 5"
    )
    in_order = entry | {"jitter": jitter | {"reorder": False}, "loss": None}
    assert _path_of(in_order).endswith("gap 5 (netem has no such jitter)")
