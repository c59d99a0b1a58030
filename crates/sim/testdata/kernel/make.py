"""Records congestion windows of a real kernel under given losses and marks, in the files here.

Run as ``python crates/sim/testdata/kernel/make.py`` where `sojourn doctor` shows the guest. One
flow, a link without a queue, our router at the bottleneck, which drops or marks exactly the data
packets with the given numbers, counted from 1. The kernel is asked for its window every half
millisecond; a line is written when an answer changes.
"""

import json
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.engines.linux import guest, kernel

SEGMENT_BYTES = 1448
SCENARIO = """
name = "kernel {name}"
duration = "{duration}"
[record]
flows = true
sample = "500us"
[engine.linux]
bottleneck = "sojourn"
[links.bottleneck]
rate = "100mbit"
delay = "10ms"
queue = "taildrop:limit=10000p"
[[flows]]
path = ["bottleneck"]
rtt = "50ms"
cc = "{cc}"
ecn = {ecn}
access_rate = "1gbit"
app = {{ kind = "bulk" }}
"""

# name: congestion control, duration, numbers of packets dropped, numbers of packets marked
CASES = {
    "reno-drops": ("reno", "8s", [60, 700, 701, 702, 2000, 5000], []),
    "cubic-drops": ("cubic", "8s", [60, 700, 701, 702, 2000, 5000], []),
    "reno-tail": ("reno", "4s", [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41], []),
    "reno-marks": ("reno", "6s", [], [60, 700, 701, 2000]),
    "cubic-marks": ("cubic", "6s", [], [60, 700, 701, 2000]),
    "dctcp-marks": ("dctcp", "6s", [], [60, *range(700, 740), *range(2000, 2300, 10)]),
}


def main() -> None:
    """Record every case."""
    for name, (cc, duration, drops, marks) in CASES.items():
        ecn = "true" if marks else "false"
        text = SCENARIO.format(name=name, cc=cc, duration=duration, ecn=ecn)
        plan = json.loads(_core.linux_plan(_core.Scenario.load(text)))
        router_link = plan["bottleneck"]["sojourn"]
        router_link["drop_list"], router_link["mark_list"] = drops, marks
        found = kernel.find(plan["hz"])
        assert found is not None, "sojourn kernel build"
        with guest.scratch() as folder:
            guest.run(found, folder, json.dumps(plan), 1, _core.Cancel())
            result = json.loads((folder.shared / "result.json").read_text())
        lines = [
            f"# Linux {found.version}, {found.hz} Hz: "
            f"{cc}, 100 Mbit/s, 50 ms, 1448 B segments, {duration}",
            f"# dropped {' '.join(map(str, drops)) or 'none'}",
            f"# marked {' '.join(map(str, marks)) or 'none'}",
            "# t_us cwnd ssthresh state (0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss)",
            *changes(result["samples"]),
        ]
        (Path(__file__).parent / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(name, len(lines))


def changes(samples: list[dict[str, Any]]) -> list[str]:
    """One line whenever window, threshold or state change, once connected."""
    lines, last = [], None
    for row in samples:
        account = row["account"]
        if account is None or account["srtt_us"] == 0:
            continue
        now = (account["cwnd_bytes"] // SEGMENT_BYTES, account["ssthresh"], account["state"])
        if now != last:
            lines.append(f"{row['at_ns'] // 1000} {' '.join(map(str, now))}")
            last = now
    return lines


if __name__ == "__main__":
    main()
