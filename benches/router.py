"""The router compared with others: throughput, added delay and jitter at three rates, in one run.

    python benches/router.py [--seconds S] [--user NAME]

Each contender joins the same two programs (traffic.py) by a link of that rate, 10 ms of delay and
a buffer of 1000 packets. mahimahi (mm-delay, mm-link) and rattan are measured if they are on the
PATH; mahimahi requires an ordinary user, rattan root. The first row is the same pair of programs
over the loopback interface, the baseline. All rows are from one run, so they can be compared only
with each other; the ratios are relative to our router without options at the same rate.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sojourn.engines.linux import host

HERE = Path(__file__).parent
TRAFFIC = str(HERE / "traffic.py")
RATES = {"10mbit": 10_000_000, "100mbit": 100_000_000, "1gbit": 1_000_000_000}
DELAY_MS = 10
# IP and UDP around the probe of traffic.py.
PROBE_BYTES = 128
# Variables in which the shells have the near address.
BASES = ("MAHIMAHI_BASE", "RATTAN_BASE")
MAHIMAHI_PACKET = 1504  # bytes per line of its traces
PYTHON = sys.executable
SYSTEM_PYTHON = "/usr/bin/python3"
HEADS = ("rate", "router", "Mbit/s", "of TCP's share", "added p50, µs", "added p99, µs",
         "p99 - p50, µs", "Mbit/s to ours", "added p50 to ours")  # fmt: skip


def main() -> int:
    """Measure and print a table."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", default="5")
    options.add_argument("--user", default="nobody")
    given = options.parse_args()
    print("\n### The router in real time, compared with others\n")
    lacks = host.missing()
    if lacks is not None:
        print(f"Namespaces do not work here: {lacks[0]}.")
        return 0
    load = os.getloadavg()[0]
    print(f"Load average {load:.1f} at the beginning; only rows of this table compare.\n")
    print(f"| {' | '.join(HEADS)} |")
    print(f"|{'---|' * len(HEADS)}")
    alone = loopback(given.seconds)
    row("-", "none (loopback)", beyond(alone, 0.0), None, {})
    for rate, bits in RATES.items():
        own_ns = DELAY_MS * 1e6 + PROBE_BYTES * 8e9 / bits + alone.get("p50_ns", 0.0)
        reference: dict = {}
        for name, measured in contenders(rate, given.seconds, given.user):
            found = beyond(measured, own_ns)
            reference = reference or found
            row(rate, name, found, bits, reference)
    for program, name, _ in OTHERS:
        if not shutil.which(program):
            print(f"\n{name}: not installed here, so not measured.")
    return 0


def contenders(rate: str, seconds: str, user: str) -> Iterator[tuple[str, dict]]:
    """Name and measurement of each contender, ours first."""
    yield "sojourn", ours(rate, seconds)
    if os.geteuid() == 0:
        spinning = ("--realtime", "--spin", "100us")
        yield "sojourn, `--realtime --spin 100us`", ours(rate, seconds, *spinning)
    for program, name, measure in OTHERS:
        if shutil.which(program):
            yield name, measure(rate, seconds, user)


def beyond(found: dict, own_ns: float) -> dict:
    """Delays minus those of link and loopback."""
    if "bps" not in found:
        return found
    return found | {key: found[key] - own_ns for key in ("p50_ns", "p99_ns")}


def row(rate: str, name: str, found: dict, link_bps: int | None, reference: dict) -> None:
    """One line."""
    if "bps" not in found:
        print(
            f"| {rate} | {name} | failed: {found['failed']} |{' |' * (len(HEADS) - 3)}", flush=True
        )
        return
    # What TCP can carry at most: 1448 bytes of payload in packets of 1500.
    share = f"{found['bps'] / (link_bps * 1448 / 1500):.3f}" if link_bps else "-"
    p50_us, p99_us = found["p50_ns"] / 1e3, found["p99_ns"] / 1e3
    ratios = ["-", "-"]
    if "bps" in reference:
        ratios = [f"{found[key] / reference[key]:.2f}" for key in ("bps", "p50_ns")]
    cells = [rate, name, f"{found['bps'] / 1e6:.1f}", share, f"{p50_us:.0f}", f"{p99_us:.0f}",
             f"{p99_us - p50_us:.0f}", *ratios]  # fmt: skip
    print(f"| {' | '.join(cells)} |", flush=True)


def loopback(seconds: str) -> dict:
    """Both programs on one interface."""
    return between([], [SYSTEM_PYTHON, TRAFFIC, "measure", "127.0.0.1", seconds])


def ours(rate: str, seconds: str, *more: str) -> dict:
    """Through our router."""
    return said([
        PYTHON, "-m", "sojourn", "router", "--up", rate, "--delay", f"{DELAY_MS}ms",
        "--limit", "1000p", *more, "--far-run", f"{SYSTEM_PYTHON} {TRAFFIC} serve", "--",
        SYSTEM_PYTHON, TRAFFIC, "measure", "100.64.0.2", seconds,
    ])  # fmt: skip


def mahimahi(rate: str, seconds: str, user: str) -> dict:
    """Through mahimahi, as an ordinary user; its clock ticks in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        trace = Path(folder) / "trace"
        packets = RATES[rate] / 8 / MAHIMAHI_PACKET  # per second
        times = [str(round(1000 * i / packets) + 1) for i in range(round(packets))]
        trace.write_text("\n".join(times) + "\n")
        trace.chmod(0o644)
        shutil.copy(TRAFFIC, folder)
        program = f"{folder}/traffic.py"
        shells = [
            "runuser", "-u", user, "--", "env", "HOME=/tmp", "mm-delay", str(DELAY_MS), "mm-link",
            str(trace), str(trace), "--uplink-queue=droptail", "--uplink-queue-args=packets=1000",
            "--",
        ]  # fmt: skip
        return between(shells, [SYSTEM_PYTHON, program, "measure", "MAHIMAHI_BASE", seconds])


def rattan(rate: str, seconds: str, _user: str) -> dict:
    """Through rattan; its command runs at the near end, the far end is here."""
    shells = [
        "rattan", "link", "--left-stdout", "--uplink-bandwidth", f"{RATES[rate]}bps",
        "--uplink-delay", f"{DELAY_MS}ms", "--downlink-delay", f"{DELAY_MS}ms",
        "--uplink-queue", "droptail", "--uplink-queue-args", '{"packet_limit":1000}', "--",
    ]  # fmt: skip
    return between(shells, [SYSTEM_PYTHON, TRAFFIC, "measure", "RATTAN_BASE", seconds])


OTHERS = (("mm-link", "mahimahi", mahimahi), ("rattan", "rattan", rattan))


def between(shells: list[str], command: list[str]) -> dict:
    """Run the server here and the client below some shells, which provide the near address."""
    with subprocess.Popen([SYSTEM_PYTHON, TRAFFIC, "serve"]) as server:
        try:
            if shells:
                # Only their own variable names the address.
                words = [f"${w}" if w in BASES else w for w in command]
                return said([*shells, "sh", "-c", " ".join(words)])
            return said(command)
        finally:
            server.kill()


def said(command: list[str]) -> dict:
    """The line of JSON that the measuring program prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    return {"failed": " ".join(done.stderr.split())[-120:]}


if __name__ == "__main__":
    sys.exit(main())
