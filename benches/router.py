"""The router beside others: throughput, added delay and jitter at three rates, in one run.

    python benches/router.py [--seconds S] [--user NAME]

Each contender joins the same two programs (traffic.py) by a link of that rate, 10 ms of delay and
a buffer of 1000 packets. mahimahi (mm-delay, mm-link) is measured where it is on the path; it
insists on an ordinary user. The first row is the same pair of programs over the loopback interface
alone: what is not the router's doing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TRAFFIC = str(HERE / "traffic.py")
RATES = {"10mbit": 10_000_000, "100mbit": 100_000_000, "1gbit": 1_000_000_000}
DELAY_MS = 10
# IP and UDP around the probe of traffic.py.
PROBE_BYTES = 128
MAHIMAHI_PACKET = 1504  # what one line of its traces carries, bytes
PYTHON = sys.executable
SYSTEM_PYTHON = "/usr/bin/python3"


def main() -> int:
    """Measure and print a table."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", default="5")
    options.add_argument("--user", default="nobody")
    given = options.parse_args()
    heads = ("rate", "router", "Mbit/s", "of TCP's share", "added p50, µs", "p99 - p50, µs")
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|")
    alone = loopback(given.seconds)
    row("-", "none (loopback)", alone, alone, None)
    for rate in RATES:
        row(rate, "sojourn", ours(rate, given.seconds), alone, rate)
        row(rate, "sojourn --realtime --spin 100us",
            ours(rate, given.seconds, "--realtime", "--spin", "100us"), alone, rate)  # fmt: skip
        if shutil.which("mm-link"):
            row(rate, "mahimahi", mahimahi(rate, given.seconds, given.user), alone, rate)
    if not shutil.which("mm-link"):
        print("\nmahimahi: not installed here")
    return 0


def row(rate: str, name: str, found: dict, alone: dict, link: str | None) -> None:
    """One line; delay beyond link and loopback."""
    if "bps" not in found:
        print(f"| {rate} | {name} | failed: {found['failed']} | | | |", flush=True)
        return
    own_ns = 0.0
    share = "-"
    if link is not None:
        own_ns = DELAY_MS * 1e6 + PROBE_BYTES * 8e9 / RATES[link] + alone["p50_ns"]
        # What TCP can carry at most: 1448 bytes of payload in packets of 1500.
        share = f"{found['bps'] / (RATES[link] * 1448 / 1500):.3f}"
    spread = (found["p99_ns"] - found["p50_ns"]) / 1e3
    print(f"| {rate} | {name} | {found['bps'] / 1e6:.1f} | {share} | "
          f"{(found['p50_ns'] - own_ns) / 1e3:.0f} | {spread:.0f} |", flush=True)  # fmt: skip


def loopback(seconds: str) -> dict:
    """Both programs on one interface."""
    return between([], [SYSTEM_PYTHON, TRAFFIC, "measure", "127.0.0.1", seconds])


def ours(rate: str, seconds: str, *more: str) -> dict:
    """Through our router."""
    return said([
        PYTHON, "-m", "sojourn", "router", "--rate", rate, "--delay", f"{DELAY_MS}ms",
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


def between(shells: list[str], command: list[str]) -> dict:
    """The serving program here, the other below some shells, which name the address of here."""
    with subprocess.Popen([SYSTEM_PYTHON, TRAFFIC, "serve"]) as server:
        try:
            if shells:
                # Only their own variable names the address.
                words = ["$MAHIMAHI_BASE" if w == "MAHIMAHI_BASE" else w for w in command]
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
