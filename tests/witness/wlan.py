"""Our wireless LAN compared with that of ns-3.44: writes the table in docs/how-to/wlan.md.

    python tests/witness/wlan.py

Stations send datagrams without pause to the access point, 50 packets deep; wlan.cc in this folder
is ns-3's side, with ns-3's NIST model of errors at the same signal-to-noise ratio. A minute of one
core.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

from record import ROOT, compiled

from sojourn import _core, files
from sojourn.engines import registry
from sojourn.running.result import Result

PAGE = ROOT / "docs" / "how-to" / "wlan.md"
BEGIN, END = "<!-- wlan.py -->\n", "<!-- end of wlan.py -->\n"
ANOMALY_BEGIN, ANOMALY_END = "<!-- wlan.py anomaly -->\n", "<!-- end of wlan.py anomaly -->\n"
SECONDS = 10
MODULES = ("mobility", "propagation", "wifi")
# The stations of each case: rate in Mbit/s or `minstrel`, and signal-to-noise ratio in dB.
CASES = (
    (("54", 60),),
    (("54", 60), ("54", 60), ("54", 60), ("54", 60)),
    (("54", 60), ("6", 60)),
    (("54", 60), ("54", 60), ("6", 60)),
    *((("minstrel", snr),) for snr in (14, 18, 22, 26)),
)
RATES_MBIT = (6, 9, 12, 18, 24, 36, 48, 54)
_HEAD = """\
| stations | goodput, ours [Mbit/s] | ns-3 | delay, ours [ms] | ns-3 | frames by rate, ours | ns-3 |
|---|---|---|---|---|---|---|
"""
_CELL = """\
name = "wlan"
duration = "{seconds}s"
warmup = "2s"
[wlans.home]
rate = "54mbit"
[links.access-point]
rate = {{ kind = "wireless", wlan = "home" }}
buffer = "50p"
"""
_STATION = """\
[links.station-{index}]
rate = {{ kind = "wireless", wlan = "home", rate = "{rate}", snr = "{snr}dB" }}
buffer = "50p"
"""
_FLOW = """\
[[flows]]
name = "{index}"
path = ["station-{index}"]
reverse = ["access-point"]
rtt = "100us"
app = {{ kind = "cbr", rate = "40mbit", packet = "1500B" }}
"""
Stations = tuple[tuple[str, int], ...]


# Total number of 802.11b hosts, and the rate of the slow one, Mbit/s; the others send at 11.
ANOMALIES = ((1, 11.0), (2, 5.5), (2, 2.0), (2, 1.0), (3, 1.0), (5, 1.0), (10, 1.0))
PAYLOAD_BITS, FRAME_BITS, ACK_BITS = 1472 * 8, 1536 * 8, 112
# IEEE 802.11-2012 clause 17, microseconds, with the long preamble and header.
SLOT_US, SIFS_US, DIFS_US, PREAMBLE_US, WINDOW = 20, 10, 50, 192, 31
_ANOMALY_HEAD = """\
| hosts | the slow one at | paper's formula, each | ns-3, those at 11 | ns-3, the slow one |
|---|---|---|---|---|
"""


def main() -> None:
    """Run both simulators, and write the tables between the page's comments."""
    rows = "".join(row for case in CASES for row in _rows(case))
    files.replace_between(PAGE, BEGIN, END, _HEAD + rows)
    table = _ANOMALY_HEAD + "".join(_anomaly(*each) for each in ANOMALIES)
    files.replace_between(PAGE, ANOMALY_BEGIN, ANOMALY_END, table)


def formula(hosts: int, slow: float, fast: float = 11.0) -> float:
    """The goodput of each host in Mbit/s, by Heusse et al. 2003, section III.

    Args:
        hosts: total number.
        slow: the rate of one of them, Mbit/s.
        fast: that of the others.
    """
    collide = 1 - (1 - 1 / WINDOW) ** (hosts - 1)
    contention = SLOT_US * (1 + collide) / (2 * hosts) * WINDOW / 2

    def exchange(rate: float) -> float:
        return (
            DIFS_US + PREAMBLE_US + FRAME_BITS / rate + SIFS_US + PREAMBLE_US + ACK_BITS / rate
            + contention
        )  # fmt: skip

    jam = 2 / hosts * exchange(slow) + (1 - 2 / hosts) * exchange(fast)
    lost = collide * jam * hosts if hosts > 1 else 0
    return PAYLOAD_BITS / ((hosts - 1) * exchange(fast) + exchange(slow) + lost)


def _anomaly(hosts: int, slow: float) -> str:
    stations = [("11b", 60)] * (hosts - 1) + [(f"{slow:g}b", 60)]
    found = [one["goodput"] for one in _theirs(tuple(stations))]
    fast = f"{sum(found[:-1]) / (hosts - 1):.2f}" if hosts > 1 else ""
    return (
        f"| {hosts} | {slow:g} Mbit/s | {formula(hosts, slow):.2f} | {fast} | {found[-1]:.2f} |\n"
    )


def _rows(stations: Stations) -> list[str]:
    ours, theirs = _ours(stations), _theirs(stations)
    rows = []
    for index, (rate, snr) in enumerate(stations):
        own, other = ours[index], theirs[index]
        name = f"`minstrel` at {snr} dB" if rate == "minstrel" else f"{rate} Mbit/s"
        of = f", {index + 1} of {len(stations)}" if len(stations) > 1 else ""
        rows.append(
            f"| {name}{of} | {own['goodput']:.2f} | {other['goodput']:.2f} | {own['delay']:.1f} | "
            f"{other['delay']:.1f} | {_shares(own['rates'])} | {_shares(other['rates'])} |\n"
        )
    return rows


def _shares(rates: dict[float, float]) -> str:
    """Percentages of frames by rate, if above 1 %."""
    return ", ".join(f"{rate:g}: {part:.0f} %" for rate, part in rates.items() if part > 1)


def _ours(stations: Stations) -> list[dict[str, Any]]:
    text = _CELL.format(seconds=SECONDS + 2)
    for index, (rate, snr) in enumerate(stations):
        given = rate if rate == "minstrel" else f"{rate}mbit"
        text += _STATION.format(index=index, rate=given, snr=snr)
    text += "".join(_FLOW.format(index=index) for index in range(len(stations)))
    (selected,) = registry.select(["sim"], {})
    found = Result(selected.run(_core.Scenario.load(text, origin="wlan"), _core.Cancel())).summary
    return [
        {
            "goodput": found[f"class/{index}/goodput"] / 1e6,
            "delay": 1e3 * found[f"class/{index}/owd_mean"],
            "rates": {
                rate: 100 * found[f"queue/station-{index}/frame_share_{rate}mbit"]
                for rate in RATES_MBIT
            },
        }
        for index in range(len(stations))
    ]


def _theirs(stations: Stations) -> list[dict[str, Any]]:
    given = ",".join(f"{rate}:{snr}" for rate, snr in stations)
    command = [str(compiled("wlan", MODULES)), f"--stations={given}", f"--seconds={SECONDS}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    for one in found:
        one["rates"] = {float(rate): part for rate, part in one["rates"].items()}
    return found


if __name__ == "__main__":
    main()
