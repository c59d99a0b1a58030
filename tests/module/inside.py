"""Trials of `sch_sojourn` in a separate kernel: it is loaded, changed, flooded, unloaded.

    python inside.py FOLDER

Runs as root in a guest or a virtual machine, with `ip`, `tc`, `insmod` and `rmmod`. FOLDER has the
module, the plug-in of tc (q_sojourn.so) and `trials.json`: the AQMs. Writes `found.json` there, an
object with one entry per trial. Nothing but the standard library is imported."""

import ctypes
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
POWER_OFF = 0x4321FEDC
SENDER, RECEIVER = "10.1.0.1", "10.2.0.1"
PORT = 7000
FULL = b"x" * 1472
# Messages of a kernel with a bug (Documentation/admin-guide/bug-hunting.rst).
ILL = re.compile(
    r"BUG:|WARNING:|KASAN|Oops|stack trace|lock state|deadlock|suspicious RCU|general protection"
    r"|Call Trace|refcount_t|scheduling while atomic|invalid context|circular locking"
)
# Number of log lines after such a line that show the place.
WHERE = 24
# Written to the log before the module is loaded. Earlier lines are not ours: under lockdep
# User-Mode Linux 6.1 warns about its maple tree when the first programs are started.
LOADED = "trials of sch_sojourn begin"
# How often a discipline is changed under load, and the module loaded and unloaded.
CHANGES, LOADS = 400, 5
TURN = 25
# Handles of the kernel's own disciplines.
OTHERS = itertools.count(20)


def main(folder: Path) -> None:
    """Do all trials; a failure becomes an entry, and the others continue."""
    os.environ["TC_LIB_DIR"] = str(folder)
    trials = json.loads((folder / "trials.json").read_text())
    found: dict[str, Any] = {"kernel": os.uname().release}
    Path("/dev/kmsg").write_text(LOADED)
    _insmod(folder)
    _hosts()
    each: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("aqms", lambda: [_fares(aqm) for aqm in trials["aqms"]]),
        ("refused", lambda: _refused(trials["refused"])),
        ("changes", lambda: _storm_of_changes(trials["aqms"])),
        ("down", lambda: [_down_and_up(aqm) for aqm in trials["down"]]),
        ("segments", lambda: [_largest_frame(kind) for kind in trials["segments"]]),
        ("packets", lambda: _storm_of_packets(trials["packets"])),
        ("short", lambda: _out_of_memory(*trials["large"])),
        ("unloading", lambda: _unload(folder)),
    )
    for name, trial in each:
        try:
            found[name] = trial()
        except (RuntimeError, OSError, ValueError, KeyError, StopIteration) as error:
            found[name] = f"failed: {error!r}"
        (folder / "found.json").write_text(json.dumps(found, indent=1))
    found["ill"] = _ill(_log())
    found["ended"] = True
    (folder / "found.json").write_text(json.dumps(found, indent=1))


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _insmod(folder: Path) -> None:
    _run("insmod", str(folder / "sch_sojourn.ko"))


def _hosts() -> None:
    """A sender, this router and a receiver, joined by two pairs of interfaces."""
    for line in (
        "netns add sender", "netns add receiver", "link set dev lo up",
        "link add r0 type veth peer name s netns sender",
        "link add r1 type veth peer name d netns receiver",
        "address add 10.1.0.254/24 dev r0", "address add 10.2.0.254/24 dev r1",
        "link set dev r0 up", "link set dev r1 up",
        f"-n sender address add {SENDER}/24 dev s", "-n sender link set dev s up",
        f"-n receiver address add {RECEIVER}/24 dev d", "-n receiver link set dev d up",
        "-n sender route add default via 10.1.0.254",
        "-n receiver route add default via 10.2.0.254",
    ):  # fmt: skip
        _run("ip", *line.split())
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    _shape("100mbit")


def _shape(rate: str) -> None:
    _run("tc", "qdisc", "replace", "dev", "r1", "root", "handle", "1:", "tbf", "rate", rate,
         "burst", "100kb", "limit", "100mb")  # fmt: skip


def _set(*discipline: str, verb: str = "replace") -> None:
    # A discipline cannot replace another kind under the same handle.
    handle = "10:" if discipline[0] == "sojourn" else f"{next(OTHERS)}:"
    _run("tc", "qdisc", verb, "dev", "r1", "parent", "1:1", "handle", handle, *discipline)


def _ours(aqm: str, verb: str = "replace") -> None:
    _set("sojourn", "aqm", aqm, "rate", "100mbit", verb=verb)


def _shown() -> dict[str, Any]:
    """The output of tc for the discipline."""
    rows = json.loads(_run("tc", "-s", "-j", "qdisc", "show", "dev", "r1"))
    found: dict[str, Any] = next(row for row in rows if row["handle"] == "10:")
    return found | found["options"]


@contextmanager
def _within(netns: str) -> Iterator[None]:
    """Enter a network namespace; sockets stay in the one in which they were created."""
    ours, theirs = Path("/proc/self/ns/net"), Path("/run/netns") / netns
    with ours.open() as before, theirs.open() as there:
        LIBC.setns(there.fileno(), CLONE_NEWNET)
        try:
            yield
        finally:
            LIBC.setns(before.fileno(), CLONE_NEWNET)


def _senders(count: int) -> list[socket.socket]:
    """Sockets of `count` flows, with the ECN fields in turn."""
    with _within("sender"):
        found = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for index, each in enumerate(found):
        each.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, index % 4)
        each.connect((RECEIVER, PORT))
        each.setblocking(False)
    return found


def _flood(senders: list[socket.socket], rounds: int) -> int:
    """Send `count` packets from each, as fast as possible; return how many were accepted."""
    sent = 0
    for _ in range(rounds):
        for each in senders:
            try:
                each.send(FULL)
                sent += 1
            except (BlockingIOError, ConnectionRefusedError, OSError):
                pass
    return sent


def _fares(aqm: str) -> dict[str, Any]:
    """Create an AQM, flood it, and check the output of tc."""
    _ours(aqm)
    senders = _senders(8)
    sent = 0
    for _ in range(TURN):
        sent += _flood(senders, 8)
        time.sleep(0.01)
    shown = _shown()
    time.sleep(1.0)
    end = _shown()
    for each in senders:
        each.close()
    causes = sum(end["drops_by_cause"].values())
    return {
        "aqm": aqm, "shown": end["aqm"] == aqm, "sent": sent, "drops": end["drops"],
        "drops_have_causes": causes == end["drops"], "backlog_then": shown["qlen"],
        "backlog_in_the_end": end["qlen"], "vars": len(end["vars"]),
        "left_or_dropped": end["packets"] + end["drops"] >= sent,
    }  # fmt: skip


def _refused(texts: list[str]) -> list[list[str]]:
    """Invalid texts change nothing, and tc reports why."""
    _ours("codel@linux")
    found = []
    for text in texts:
        try:
            _ours(text, verb="change")
            found.append([text, "was taken"])
        except RuntimeError as error:
            said = str(error).partition(": ")[2]
            found.append([text, said if _shown()["aqm"] == "codel@linux" else "changed the AQM"])
    return found


def _storm_of_changes(aqms: list[str]) -> dict[str, Any]:
    """Change the AQM again and again under load; no packet is lost from the count."""
    _ours(aqms[0])
    senders = _senders(8)
    sent = 0
    for index in range(CHANGES):
        sent += _flood(senders, 2)
        _ours(aqms[index % len(aqms)], verb="change")
        if index % TURN == 0:
            time.sleep(0.01)
    time.sleep(3.0)
    shown = _shown()
    return {"changes": CHANGES, "sent": sent, "backlog_in_the_end": shown["qlen"],
            "left_or_dropped": shown["packets"] + shown["drops"] >= sent}  # fmt: skip


def _down_and_up(aqm: str) -> dict[str, Any]:
    """Take the interface down while packets are queued, and up: they are freed, later ones pass."""
    _shape("1mbit")
    _ours(aqm)
    senders = _senders(8)
    _flood(senders, 25)
    waited = _shown()["qlen"]
    _run("ip", "link", "set", "r1", "down")
    left = _shown()["qlen"]
    _shape("100mbit")
    _ours(aqm, verb="change")
    _run("ip", "link", "set", "r1", "up")
    before = _shown()["packets"]
    for _ in range(TURN):
        _flood(senders, 1)
        time.sleep(0.05)
    for each in senders:
        each.close()
    return {"aqm": aqm, "waited": waited, "left": left, "passed": _shown()["packets"] - before}


def _largest_frame(kind: str) -> list[Any]:
    """The largest frame that a connection with segmentation offload has behind a discipline."""
    _set(*kind.split())
    with _within("receiver"):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.bind(("d", 0))
        tap.setblocking(False)
        listener = socket.create_server((RECEIVER, PORT))
    with _within("sender"):
        sender = socket.create_connection((RECEIVER, PORT), timeout=10)
    receiver, _ = listener.accept()
    sender.setblocking(False)
    receiver.setblocking(False)
    largest = 0
    for _ in range(200):
        # Neither blocks on the other: a closed window opens when the receiver reads.
        with suppress(BlockingIOError):
            sender.send(b"y" * 100_000)
        with suppress(BlockingIOError):
            receiver.recv(1 << 20)
        time.sleep(0.002)
        while True:
            try:
                largest = max(largest, len(tap.recv(1 << 17)))
            except BlockingIOError:
                break
    for each in (sender, receiver, listener, tap):
        each.close()
    return [kind, largest]


def _storm_of_packets(aqms: list[str]) -> list[dict[str, Any]]:
    """More packets than memory holds, at a link that hardly sends."""
    found = []
    for aqm in aqms:
        _shape("100kbit")
        _ours(aqm)
        senders = _senders(64)
        sent = sum(_flood(senders, 50) for _ in range(TURN))
        shown = _shown()
        for each in senders:
            each.close()
        _set("pfifo")
        _shape("100mbit")
        found.append({"aqm": aqm, "sent": sent, "waited": shown["qlen"],
                      "dropped": shown["drops"]})  # fmt: skip
    return found


def _out_of_memory(aqm: str, count: int) -> dict[str, Any]:
    """Disciplines on more and more interfaces until one is refused for lack of memory."""
    _run("ip", "netns", "add", "many")
    made, said = 0, ""
    for index in range(count):
        _run("ip", "-n", "many", "link", "add", f"m{index}", "type", "veth", "peer", "name",
             f"n{index}")  # fmt: skip
        try:
            _run("tc", "-n", "many", "qdisc", "add", "dev", f"m{index}", "root", "sojourn", "aqm",
                 aqm)  # fmt: skip
        except RuntimeError as error:
            said = str(error).partition(": ")[2]
            break
        made += 1
    _run("ip", "netns", "delete", "many")
    return {"made": made, "said": said}


def _unload(folder: Path) -> dict[str, Any]:
    """Unload the module: refused while in use; then repeatedly, and with packets queued."""
    _ours("codel@linux")
    in_use = ""
    try:
        _run("rmmod", "sch_sojourn")
    except RuntimeError as error:
        in_use = str(error).partition(": ")[2]
    senders = _senders(4)
    for _ in range(LOADS):
        _ours("fq_codel@linux")
        _flood(senders, 100)
        _set("pfifo")
        _run("rmmod", "sch_sojourn")
        _insmod(folder)
    loaded = "sch_sojourn" in Path("/proc/modules").read_text()
    return {"in_use": in_use, "times": LOADS, "loaded": loaded}


def _ill(log: list[str]) -> list[str]:
    """Error messages of the kernel, each with the lines that show the place."""
    found = []
    begin = log.index(LOADED) if LOADED in log else 0  # old lines make room for new ones
    rest = iter(log[begin:])
    for line in rest:
        if ILL.search(line):
            found.append("\n".join([line, *itertools.islice(rest, WHERE)]))
    return found


def _log() -> list[str]:
    """The kernel's log (Documentation/ABI/testing/dev-kmsg: a record per read)."""
    lines = []
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    while True:
        try:
            record = os.read(log, 8192).decode(errors="replace")
        except BlockingIOError:
            return lines
        except BrokenPipeError:
            continue
        lines.append(record.partition(";")[2].splitlines()[0])


def run(trials: Callable[[Path], None]) -> None:
    """Run trials in the folder of the command line; as the guest's first process, end the guest.

    An error is written to `failed` in that folder.
    """
    folder = Path(sys.argv[1])
    try:
        trials(folder)
    except Exception as error:
        (folder / "failed").write_text(repr(error))
        raise
    finally:
        if os.getpid() == 1:
            LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    run(main)
