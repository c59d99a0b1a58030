"""Trials of `sch_sojourn` while allocations fail, in a guest whose kernel injects failures.

    python faults_inside.py FOLDER

As for `inside.py` in the same folder, FOLDER has the module and `trials.json`, with the AQM under
`aqm`; the results are written to `found.json`. The kernel is that of `fault.config`; its files are
described in Documentation/fault-injection/fault-injection.rst."""

import ctypes
import errno
import json
import os
import re
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])
import inside

DEBUG = Path("/sys/kernel/debug")
SLAB, PAGES = DEBUG / "failslab", DEBUG / "fail_page_alloc"
KMEMLEAK = DEBUG / "kmemleak"
FAIL_NTH = Path("/proc/thread-self/fail-nth")
# Tasks of the kernel, such as the one that creates an AQM (memory.c), are its children.
KTHREADD = Path("/proc/2/make-it-fail")
PAGE_BYTES = 4096
# Messages of netlink (linux/rtnetlink.h, linux/netlink.h).
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, ACK, DUMP, CREATE, REPLACE = 0x1, 0x4, 0x300, 0x400, 0x100
TCA_KIND, TCA_OPTIONS, TCA_SOJOURN_AQM, NETLINK_EXT_ACK, SOL_NETLINK = 1, 2, 1, 11, 270
# System calls of x86-64; we load the module ourselves, because nothing fails in another process.
FINIT_MODULE, DELETE_MODULE = 313, 176
PARENT, HANDLE, OTHER = 0x10001, 0x100000, 0x500000
# Indices of allocations of a call to fail: all of the first ones, then in steps of 20 %.
NUMBERS = [*range(1, 60), *(int(60 * 1.2**power) for power in range(40))]
# Bytes that a task may allocate before an allocation fails: in small steps, then 10 % more each.
BUDGETS = [*range(0, 4096, 128), *(int(4096 * 1.1**power) for power in range(97))]
# Shares of failing allocations on the packet path, in percent.
SHARES = (1, 10, 50, 100)
# Reports of the kernel about the failures themselves.
FAILED = ("vmalloc error", "page allocation failure", "SLUB: Unable to allocate")
# Under User-Mode Linux with KASAN the leak detector does not know the memory of modules: in 6.1
# module_alloc leaves this to kasan_alloc_module_shadow, which returns before it. A trace follows
# when any module is loaded. Pointers in a module's data do not count as references there.
UNKNOWN = re.compile(r"kmemleak: (Adding scan area to|Trying to color) unknown object")
# Beginnings of the other lines of such a report.
IN_REPORT = (" ", "Call Trace", "Stack", "CPU:", "Mem-Info", "Node", "active_", "Normal", "lowmem")
# Error of glue.c if the library gets no memory, and its log message if the packet path gets none.
OURS, SHORT = b"there is not enough memory for this AQM", "sojourn: memory is short"


class Log:
    """The kernel's log from now on, read often enough that no line is overwritten."""

    def __init__(self) -> None:
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)
        self.kept: list[str] = []
        self.lost = 0

    def read(self) -> list[str]:
        """The new lines; those outside expected reports are kept."""
        new = []
        while True:
            try:
                record = os.read(self.file, 8192).decode(errors="replace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                self.lost += 1
            else:
                new.append(record.partition(";")[2].splitlines()[0])
        self.kept += _without_expected(new)
        return new


def main(folder: Path) -> None:
    """Do all trials; a failure becomes an entry, and the others continue."""
    os.environ["TC_LIB_DIR"] = str(folder)
    inside._run("mount", "-t", "debugfs", "debugfs", str(DEBUG))
    trials = json.loads((folder / "trials.json").read_text())
    found: dict[str, Any] = {"kernel": os.uname().release}
    log = Log()
    _prepare()
    if trials["loads"]:
        try:
            found["loads"] = _loads(folder, log)
        except (RuntimeError, OSError) as error:
            found["loads"] = f"failed: {error!r}"
    _disciplines(folder, trials["aqm"], log, found)
    log.read()
    found["ill"], found["lost"] = inside._ill(log.kept), log.lost
    found["ended"] = True
    (folder / "found.json").write_text(json.dumps(found, indent=1))


def _disciplines(folder: Path, aqm: str, log: Log, found: dict[str, Any]) -> None:
    inside._insmod(folder)
    inside._hosts()
    # Memory that the kernel allocates once, such as for the first packet, is not a leak.
    _around(aqm)
    _leaks()
    log.read()
    for name, trial in (("calls", _calls), ("traffic", _traffic)):
        try:
            found[name] = trial(aqm, log)
        except (RuntimeError, OSError, ValueError, KeyError, StopIteration) as error:
            found[name] = f"failed: {error!r}"
    found["leaks"] = _leaks()
    inside._set("pfifo")
    inside._run("rmmod", "sch_sojourn")
    found["unloaded_leaks"] = _leaks()


# ---- Failures. ----


def _prepare() -> None:
    """Failures happen in silence, and in the caches that slub_debug names at boot."""
    for at in (SLAB, PAGES):
        (at / "verbose").write_text("0")
        (at / "probability").write_text("0")
    (PAGES / "ignore-gfp-highmem").write_text("N")
    for name, fails in (("kmalloc-64", "1"), ("kmemleak_object", "0")):
        if (said := Path(f"/sys/kernel/slab/{name}/failslab").read_text().strip()) != fails:
            raise RuntimeError(f"the cache {name} has failslab {said}")
    (SLAB / "cache-filter").write_text("Y")


def _may_sleep(fail: bool) -> None:
    """Whether allocations that may wait for memory fail as well as those that may not."""
    for at in (SLAB, PAGES):
        (at / "ignore-gfp-wait").write_text("N" if fail else "Y")
    # Without these, single pages fail only for allocations that may not wait.
    (PAGES / "min-order").write_text("0" if fail else "1")


@contextmanager
def _budget(small_bytes: int) -> Iterator[None]:
    """Fail an allocation of this task or of the kernel's tasks, after some bytes and pages."""
    for at, space in ((SLAB, small_bytes), (PAGES, small_bytes // PAGE_BYTES)):
        for name, value in (("task-filter", "Y"), ("times", 1), ("space", space)):
            (at / name).write_text(str(value))
    _may_sleep(fail=True)
    KTHREADD.write_text("1")
    own = os.open("/proc/thread-self/make-it-fail", os.O_WRONLY)
    for at in (SLAB, PAGES):
        (at / "probability").write_text("100")
    os.write(own, b"1")
    try:
        yield
    finally:
        os.write(own, b"0")
        os.close(own)
        _end_failures()


@contextmanager
def _share(percent: int) -> Iterator[None]:
    """Fail a share of the allocations that may not wait for memory, of all tasks and interrupts."""
    for at in (SLAB, PAGES):
        for name, value in (("task-filter", "N"), ("times", -1), ("space", 0)):
            (at / name).write_text(str(value))
    _may_sleep(fail=False)
    for at in (SLAB, PAGES):
        (at / "probability").write_text(str(percent))
    try:
        yield
    finally:
        _end_failures()


def _end_failures() -> None:
    for at in (SLAB, PAGES):
        (at / "probability").write_text("0")
    KTHREADD.write_text("0")


def _each_failure(call: Any) -> Iterator[Any]:
    """Let an allocation of a call fail, then a later one, and so on: the answers."""
    _may_sleep(fail=True)
    handle = os.open(FAIL_NTH, os.O_RDWR)
    try:
        for nth in NUMBERS:
            os.pwrite(handle, str(nth).encode(), 0)
            answer = call()
            left = int(os.pread(handle, 20, 0))
            os.pwrite(handle, b"0", 0)
            if left:
                return
            yield answer
    finally:
        os.close(handle)
    raise RuntimeError(f"{NUMBERS[-1]} allocations are not all")


# ---- Calls of netlink, made without another process. ----


class Calls:
    """Calls about the discipline, whose messages exist before allocations fail."""

    def __init__(self, aqm: str) -> None:
        self.socket = _socket()
        self.ours = 0
        self.index = socket.if_nametoindex("r1")
        self.create = self._message(RTM_NEWQDISC, CREATE | REPLACE, HANDLE, "sojourn", aqm)
        self.change = self._message(RTM_NEWQDISC, 0, HANDLE, "sojourn", aqm)
        self.other = self._message(RTM_NEWQDISC, CREATE | REPLACE, OTHER, "pfifo", "")
        self.delete = self._message(RTM_DELQDISC, 0, HANDLE, "", "")
        self.dump = self._message(RTM_GETQDISC, DUMP, 0, "", "")

    def _message(self, kind: int, flags: int, handle: int, name: str, aqm: str) -> bytes:
        body = struct.pack("=BxxxiIII", 0, self.index, handle, PARENT if handle else 0, 0)
        if name:
            body += _attribute(TCA_KIND, name.encode() + b"\0")
        if aqm:
            body += _attribute(TCA_OPTIONS, _attribute(TCA_SOJOURN_AQM, aqm.encode() + b"\0"))
        flags |= REQUEST | (0 if flags & DUMP == DUMP else ACK)
        return struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body

    def __call__(self, message: bytes) -> int:
        """The error of a call; 0 if it succeeded."""
        try:
            self.socket.send(message)
            answer = self.socket.recv(1 << 16)
        except OSError as error:
            return error.errno or -1
        self.ours += OURS in answer
        return -int(struct.unpack_from("=i", answer, 16)[0])

    def dumped(self) -> tuple[int, bool]:
        """The error of a dump, and whether it has the discipline."""
        try:
            self.socket.send(self.dump)
            content, end = b"", None
            while end is None:
                part = self.socket.recv(1 << 18)
                content += part
                end = _end_of(part)
        except OSError as error:
            self._again()
            return error.errno or -1, False
        if end:
            self._again()
        return end, b"sojourn\0" in content

    def _again(self) -> None:
        # The rest of a dump that has begun would be read as the next answer, or cause EBUSY.
        self.socket.close()
        self.socket = _socket()


def _end_of(part: bytes) -> int | None:
    """The error with which a dump ends within these messages; 0 for none, None before its end."""
    while part:
        length, kind = struct.unpack_from("=IH", part)
        if kind in (NLMSG_ERROR, NLMSG_DONE):
            return -int(struct.unpack_from("=i", part, 16)[0])
        part = part[(length + 3) & ~3 :]
    return None


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    made.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
    made.bind((0, 0))
    return made


def _attribute(kind: int, content: bytes) -> bytes:
    length = 4 + len(content)
    return struct.pack("=HH", length, kind) + content + bytes(-length % 4)


def _loads(folder: Path, log: Log) -> dict[str, Any]:
    """Let allocations of loading the module fail, one after the other."""
    errors: Counter[str] = Counter()
    file = os.open(folder / "sch_sojourn.ko", os.O_RDONLY)

    def load() -> int:
        error = _system_call(FINIT_MODULE, file, b"", 0)
        if not error and (left := _system_call(DELETE_MODULE, b"sch_sojourn", os.O_NONBLOCK)):
            raise RuntimeError(f"a loaded module stays: {os.strerror(left)}")
        if Path("/sys/module/sch_sojourn").exists():
            raise RuntimeError(f"a module stays whose loading ended with {os.strerror(error)}")
        return error

    for error in _each_failure(load):
        errors[errno.errorcode.get(error, str(error)) if error else "done"] += 1
        log.read()
    os.close(file)
    return {"failures": sum(errors.values()), "errors": dict(errors), "leaks": _leaks()}


def _system_call(number: int, *arguments: Any) -> int:
    """The error of a system call; 0 if it succeeded."""
    return 0 if inside.LIBC.syscall(number, *arguments) == 0 else ctypes.get_errno()


def _around(aqm: str) -> None:
    """Everything once, without failures."""
    calls = Calls(aqm)
    senders = inside._senders(8)
    for message in (calls.create, calls.change, calls.other):
        if error := calls(message):
            raise RuntimeError(f"{aqm}: {os.strerror(error)}")
        inside._flood(senders, 8)
    for each in senders:
        each.close()


def _calls(aqm: str, log: Log) -> dict[str, Any]:
    """Let every allocation of creating, changing, showing and destroying fail, under load."""
    calls, senders = Calls(aqm), inside._senders(8)
    errors: Counter[str] = Counter()

    def done(error: int) -> None:
        errors[errno.errorcode.get(error, str(error)) if error else "done"] += 1
        inside._flood(senders, 1)
        log.read()

    for before, call in ((calls.other, calls.create), (calls.create, calls.change)):
        calls(before)
        for error in _each_failure(lambda call=call: calls(call)):
            done(error)
            calls(before)
        for budget in BUDGETS:
            with _budget(budget):
                error = calls(call)
            done(error)
            if call is calls.change and error and (shown := inside._shown()["aqm"]) != aqm:
                raise RuntimeError(f"{aqm}: a change failed, and left {shown}")
            calls(before)
    calls(calls.create)
    silent = 0
    for error, has in _each_failure(calls.dumped):
        done(error)
        silent += not error and not has
    for error in _each_failure(lambda: calls(calls.delete)):
        done(error)
        calls(calls.create)
    for each in senders:
        each.close()
    return {"aqm": aqm, "failures": sum(errors.values()), "errors": dict(errors),
            "ours": calls.ours, "silent_dumps": silent, "works": _works(aqm)}  # fmt: skip


def _works(aqm: str) -> bool:
    """Whether a discipline that is changed to this AQM passes packets and empties itself."""
    inside._ours("taildrop")
    inside._ours(aqm, verb="change")
    before = inside._shown()["packets"]
    senders = inside._senders(8)
    for _ in range(inside.TURN):
        inside._flood(senders, 1)
        time.sleep(0.02)
    for each in senders:
        each.close()
    time.sleep(2.0)
    shown = inside._shown()
    return bool(shown["packets"] > before and shown["qlen"] == 0)


def _traffic(aqm: str, log: Log) -> dict[str, Any]:
    """Let allocations fail that may not wait, while packets arrive, wait and leave."""
    sent = short = 0
    for share in SHARES:
        inside._ours("taildrop")
        inside._ours(aqm)
        senders = inside._senders(16)
        with _share(share):
            for _ in range(inside.TURN):
                sent += inside._flood(senders, 8)
                time.sleep(0.01)
            inside._ours(aqm, verb="change")
            sent += inside._flood(senders, 8)
            inside._run("ip", "link", "set", "r1", "down")
            inside._run("ip", "link", "set", "r1", "up")
        for each in senders:
            each.close()
        if not _works(aqm):
            raise RuntimeError(f"{aqm}: passes nothing after {share} % of failures")
        short += any(SHORT in line for line in log.read())
    return {"aqm": aqm, "sent": sent, "short": short}


# ---- Afterwards. ----


def _leaks() -> list[str]:
    """New findings of the leak detector (kmemleak.rst)."""
    for _ in range(2):
        # An object counts once it is five seconds old.
        time.sleep(6.0)
        KMEMLEAK.write_text("scan")
    found = KMEMLEAK.read_text()
    KMEMLEAK.write_text("clear")
    return found.split("unreferenced object")[1:]


def _without_expected(log: list[str]) -> list[str]:
    """The log without expected reports, each with its trace; all other traces count."""
    kept, is_report = [], False
    for line in log:
        if any(text in line for text in FAILED) or UNKNOWN.search(line):
            is_report = True
        elif is_report and (inside.ILL.search(line.replace("Call Trace", ""))
                            or not line.startswith(IN_REPORT)):  # fmt: skip
            is_report = False
        if not is_report:
            kept.append(line)
    return kept


if __name__ == "__main__":
    inside.run(main)
