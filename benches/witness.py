"""One QUIC library in the simulator and as a program in the guest kernel, packet by packet.

    python benches/witness.py

Compares the datagrams of one download at the bottleneck and prints a table for
docs/results/real-stacks.md. The program is crates/endpoint-quinn/examples/socket.rs, over the
sockets and the clock of Linux. Needs the guest kernel.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import sojourn

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "target" / "debug" / "examples" / "socket"
BYTES = 1_000_000
TEXT = f"""
name = "witness"
duration = "8s"
warmup = "0s"
record = {{ packets = true }}
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
buffer = "300kB"
queue = "QUEUE"
[links.up]
rate = "10mbit"
buffer = "300kB"
[[flows]]
name = "download"
path = ["bottleneck"]
reverse = ["up"]
rtt = "50ms"
start = "1s"
transport = "quic"
app = {{ kind = "bulk", bytes = "{BYTES}B" }}
"""
AQMS = ("codel",)


def main() -> None:
    """Build the program, make the runs, print the table."""
    build = ["cargo", "build", "--quiet", "--package", "sojourn-endpoint-quinn", "--examples"]
    subprocess.run(build, check=True, cwd=ROOT)
    print("| | " + " | ".join(f"`{aqm}`" for aqm in AQMS) + " |")
    print("|---|" + "--:|" * len(AQMS))
    columns = [compared(aqm) for aqm in AQMS]
    for what in columns[0]:
        print(f"| {what} | " + " | ".join(column[what] for column in columns) + " |")


def compared(aqm: str) -> dict[str, str]:
    """The rows of one AQM."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "witness.toml"
        file.write_text(TEXT.replace("QUEUE", aqm))
        inside = sojourn.run(file, endpoints={"quic": "quinn"}, store=None)
        file.write_text(file.read_text().replace('transport = "quic"\n', ""))
        outside = sojourn.run_programs(
            file,
            {
                "server": f"{PROGRAM} serve 0.0.0.0:4433 {BYTES}",
                "client": f"{PROGRAM} fetch server:4433",
            },
            group="download",
            see=[PROGRAM.parent],
        )
    return rows(*(packets(result) for result in (inside, outside)))


def packets(result: sojourn.Result) -> list[dict[str, Any]]:
    """The packets at the bottleneck, with times since the first."""
    found = [row for row in result.table("packets").to_pylist() if row["queue"] == "bottleneck"]
    first = found[0]["arrived_ns"]
    return [{**row, "t": row["arrived_ns"] - first} for row in found]


def rows(inside: list[dict[str, Any]], outside: list[dict[str, Any]]) -> dict[str, str]:
    """What the two have in common, and where they part."""
    same = 0
    for one, other in zip(inside, outside, strict=False):
        if one["bytes"] != other["bytes"] or one["fate"] != other["fate"]:
            break
        same += 1
    late = [abs(a["t"] - b["t"]) / 1e3 for a, b in zip(inside[:same], outside[:same], strict=True)]
    drops = [sum(row["fate"] == "dropped" for row in each) for each in (inside, outside)]
    took = [each[-1]["t"] / 1e9 for each in (inside, outside)]
    middle = sorted(late)[len(late) // 2]
    return {
        "packets: simulator, guest": f"{len(inside)}, {len(outside)}",
        "drops: simulator, guest": f"{drops[0]}, {drops[1]}",
        "last packet [s]: simulator, guest": f"{took[0]:.3f}, {took[1]:.3f}",
        "packets before the first of another size or fate": str(same),
        "of these, difference in time [µs]: median, max": f"{middle:.0f}, {max(late):.0f}",
    }


if __name__ == "__main__":
    main()
