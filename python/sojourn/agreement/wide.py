"""The wide grids: covering designs over the range of real hosts.

Every pair of levels that can be combined occurs in at least one cell
(`sojourn.agreement.covering`). The full product of the larger grid would have 33,000 cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sojourn import _core
from sojourn.agreement.covering import Cell, Level, covering


@dataclass(frozen=True)
class CoveringDesign:
    """A covering design.

    Attributes:
        name: its name in ``--grid``.
        title: title of its page.
        factors: levels keyed by name; rates in Mbit/s. With mixed round trips half of the flows
            have each.
    """

    name: str
    title: str
    factors: Mapping[str, Sequence[Level]]


WIDE = CoveringDesign("wide", "Agreement over the range of real hosts", {
    "aqm": (
        "pfifo", "codel", "fq_codel", "pie", "fq_pie", "red", "ared", "choke", "cake", "sfq", "sfb",
    ),
    "traffic": ("bulk", "files", "web", "cbr", "bursts", "acks"),
    "flows": (1, 2, 4, 16, 64, 256),
    "rate": (2, 10, 50, 200, 1000),
    "rtt": ("5 ms", "20 ms", "100 ms", "500 ms", "mixed"),
    "tcp": ("reno", "cubic", "paced cubic", "bbr", "dctcp"),
    "ecn": (False, True),
})  # fmt: skip
"""Features of every kernel from 6.1 on."""

NEWER = CoveringDesign("newer", "Agreement on newer kernels: DualPI2 and segmentation offload", {
    "aqm": ("dualpi2", "codel", "fq_codel", "pie"),
    "traffic": ("bulk", "files", "cbr"),
    "flows": (1, 4, 16, 64),
    "rate": (10, 50, 200),
    "rtt": ("5 ms", "20 ms", "100 ms"),
    "tcp": ("reno", "cubic", "bbr", "dctcp"),
    "ecn": (False, True),
    "offload": ("off", "tso:64kB"),
})  # fmt: skip
"""DualPI2, which Linux has since 6.17, and hosts with segmentation offload."""

DESIGNS = (WIDE, NEWER)

_RTTS_MS = {"5 ms": [5], "20 ms": [20], "100 ms": [100], "500 ms": [500], "mixed": [10, 100]}
_WITHOUT_ECN = ("pfifo", "sfq")
# Below this share a flow has less than a packet in 400 ms and progresses only by timeouts.
_LEAST_SHARE_BPS = 30_000
# Chosen when the kernel's receive buffer was limited to 16 MB, a window of 8 MB. The buffer now
# grows (fact linux-18); the grid stays as it was recorded.
_LARGEST_SHARE_OF_BDP = 4_000_000
_PACKET_BITS = 12_000
# With 1000 bytes at a fifth of the rate, all times would be multiples of the transmission time of
# 500 bytes, and phase effects would decide which packet a full queue drops (fact linux-25).
_DATAGRAM = "1021B"
# The rate of every host's interface. With the default, ten times the link's rate, the engines
# differ: in the guest the hosts of a group share one interface (fact linux-20).
_HOST_RATE = "10gbit"
# Duration of a cell: this number of packets, and at least these numbers of round trips and ms;
# capped at the maximum number of packets, unless that is below the minimum of round trips.
_PACKETS, _ROUND_TRIPS, _LEAST_MS = 20_000, 40, 4_000
_MOST_PACKETS, _LEAST_ROUND_TRIPS = 150_000, 10


def cells(design: CoveringDesign = WIDE) -> list[Cell]:
    """The cells of a design: a level of every factor."""
    return covering(design.factors, is_allowed)


def is_allowed(cell: Cell) -> bool:
    """Whether the levels known so far can be combined."""
    return not any(applies(cell) for applies in _LEFT_OUT.values())


def left_out(design: CoveringDesign) -> list[str]:
    """Combinations of a design's levels that are left out."""
    levels = [
        dict(zip(design.factors, chosen, strict=True))
        for chosen in product(*design.factors.values())
    ]
    return [what for what, applies in _LEFT_OUT.items() if any(map(applies, levels))]


def _share_bps(cell: Cell) -> float | None:
    """A flow's share of the rate, if known."""
    rate, flows = cell.get("rate"), cell.get("flows")
    if not (isinstance(rate, int) and isinstance(flows, int)):
        return None
    return rate * 1e6 / flows


def _is_starved(cell: Cell) -> bool:
    share_bps = _share_bps(cell)
    return share_bps is not None and share_bps < _LEAST_SHARE_BPS


def _holds_too_much(cell: Cell) -> bool:
    share_bps = _share_bps(cell)
    rtt_ms = max(_RTTS_MS.get(str(cell.get("rtt")), [0]))
    return share_bps is not None and share_bps * rtt_ms / 8e3 > _LARGEST_SHARE_OF_BDP


# Combinations of levels to leave out, also in cells that lack some factors.
_LEFT_OUT: dict[str, Callable[[Cell], bool]] = {
    "marks under `pfifo` and `sfq`": lambda cell: (
        cell.get("aqm") in _WITHOUT_ECN and (cell.get("ecn") is True or cell.get("tcp") == "dctcp")
    ),
    "DCTCP without ECN": lambda cell: cell.get("tcp") == "dctcp" and cell.get("ecn") is False,
    "one flow of mixed round trips": lambda cell: (
        cell.get("rtt") == "mixed" and cell.get("flows") == 1
    ),
    f"shares of less than {_LEAST_SHARE_BPS // 1000} kbit/s": _is_starved,
    f"paths that hold more than {_LARGEST_SHARE_OF_BDP // 1_000_000} MB per flow": _holds_too_much,
}


def name(cell: Cell) -> str:
    """The name of a cell, which consists of its levels."""
    ecn = " ecn" if cell["ecn"] else ""
    others = "" if cell["traffic"] == "bulk" else f" + {cell['traffic']}"
    offload = ", tso" if _offload(cell) != "off" else ""
    return (
        f"{cell['aqm']}{ecn} {cell['rate']} Mbit/s {cell['rtt']} "
        f"{cell['flows']} x {cell['tcp']}{others}{offload}"
    )


def _offload(cell: Cell) -> str:
    return str(cell.get("offload", "off"))


@dataclass(frozen=True)
class _Path:
    """Derived values of a cell, on which its scenario depends.

    Attributes:
        bps: rate of the link.
        rtts_ms: round trips of its groups of bulk flows.
        duration_ms: simulated time.
        warmup_ms: its first sixth, which is excluded.
    """

    bps: int
    rtts_ms: list[int]

    @property
    def duration_ms(self) -> int:
        packets_per_ms = self.bps / _PACKET_BITS / 1e3
        rtt_ms = max(self.rtts_ms)
        wanted = max(_PACKETS / packets_per_ms, _ROUND_TRIPS * rtt_ms, _LEAST_MS)
        most = max(_MOST_PACKETS / packets_per_ms, _LEAST_ROUND_TRIPS * rtt_ms)
        return 6 * round(min(wanted, most) / 6)

    @property
    def warmup_ms(self) -> int:
        return self.duration_ms // 6

    def packets(self, ms: float) -> int:
        """Full packets that the link sends in `ms` milliseconds."""
        return round(self.bps * ms / 1e3 / _PACKET_BITS)


def scenario(cell: Cell, tcp: str = "linux") -> _core.Scenario:
    """The scenario of a cell.

    Args:
        cell: the levels.
        tcp: the profile that models the kernel's TCP.
    """
    path = _Path(int(cell["rate"]) * 1_000_000, _RTTS_MS[str(cell["rtt"])])
    text = "\n".join([
        f'name = "{name(cell)}"',
        f'duration = "{path.duration_ms}ms"',
        f'warmup = "{path.warmup_ms}ms"',
        "[record]",
        "states = false",
        "flows = true",
        f'sample = "{path.warmup_ms}ms"',
        "[links.bottleneck]",
        f'rate = "{path.bps}bit"',
        f'queue = "{_queue(cell, path)}"',
        *_acks(cell, path),
        *_bulk(cell, path, tcp),
        *_cross_traffic(cell, path, tcp),
    ])  # fmt: skip
    return _core.Scenario.load(text, origin=name(cell))


def _queue(cell: Cell, path: _Path) -> str:
    """The AQM with its own defaults, except that packet limits and thresholds follow the rate."""
    limit = max(1000, path.packets(200))
    low = max(5, path.packets(15 if path.bps < 100_000_000 else 5))
    red = f"limit={15 * low}kB,min_th={1.5 * low:.0f}kB,max_th={4.5 * low:.0f}kB"
    step = ",ce_threshold=" + f"{max(1000, 24_000_000_000 // path.bps)}us"
    text = {
        "pfifo": f"taildrop:limit={max(50, path.packets(100))}p",
        "codel": f"codel@linux:limit={limit}p" + (step if cell["tcp"] == "dctcp" else ""),
        "fq_codel": f"fq_codel@linux:limit={limit}p" + (step if cell["tcp"] == "dctcp" else ""),
        "pie": f"pie@linux:limit={limit}p,hz=1000",
        "fq_pie": f"fq_pie@linux:limit={limit}p,hz=1000",
        "red": f"red@linux:{red}",
        "ared": f"ared@linux:{red},hz=1000",
        "choke": f"choke:limit={10 * low}p,min_th={low},max_th={3 * low}",
        "cake": "cake",
        "sfq": f"sfq:limit={min(4000, max(50, path.packets(100)))}p",
        "sfb": "sfb",
        "dualpi2": f"dualpi2@linux:limit={limit}p",
    }[str(cell["aqm"])]
    if not cell["ecn"] or cell["aqm"] in ("cake", "sfb", "dualpi2"):
        return text  # these three AQMs mark every ECN-capable packet
    return f"{text},ecn=true"


def _acks(cell: Cell, path: _Path) -> list[str]:
    """The reverse path of cells with congested ACKs: 60 % of the rate that the ACKs need."""
    if cell["traffic"] != "acks":
        return []
    return ["[links.acks]", f'rate = "{path.bps // 100}bit"', 'queue = "taildrop:limit=100p"']


def _bulk(cell: Cell, path: _Path, tcp: str) -> list[str]:
    flows, lines = int(cell["flows"]), []
    for place, rtt_ms in enumerate(path.rtts_ms):
        count = flows // len(path.rtts_ms)
        lines += [
            "[[flows]]",
            f'name = "{"bulk" if len(path.rtts_ms) == 1 else ("short", "long")[place]}"',
            f"count = {count}",
            'path = ["bottleneck"]',
            *(['reverse = ["acks"]'] if cell["traffic"] == "acks" else []),
            _propagation(rtt_ms),
            f'access_rate = "{_HOST_RATE}"',
            *_tcp(cell, tcp),
            f'start = "0s..{path.warmup_ms // 2}ms"',
            'app = { kind = "bulk" }',
        ]
    return lines


def _propagation(rtt_ms: int) -> str:
    """Puts all propagation delay on the senders' side, as in the guest (fact linux-24)."""
    return f'access = {{ sender = "{rtt_ms / 2:g}ms", receiver = "0s" }}'


def _tcp(cell: Cell, own: str) -> list[str]:
    control = {"paced cubic": "cubic"}.get(str(cell["tcp"]), cell["tcp"])
    paced = "-fq" if cell["tcp"] == "paced cubic" else ""
    return [
        f'tcp = "{own}{paced}"',
        f'cc = "{control}"',
        f"ecn = {str(cell['ecn']).lower()}",
        *([f'offload = "{_offload(cell)}"'] if _offload(cell) != "off" else []),
    ]


def _cross_traffic(cell: Cell, path: _Path, tcp: str) -> list[str]:
    """The traffic in addition to the bulk flows: users or datagrams."""
    users = max(1, min(16, path.bps // 5_000_000))
    apps = {
        "files": (users, '{ kind = "files", think = "500ms", sizes = ["15kB", "44kB", "150kB"] }'),
        "web": (users, '{ kind = "web", reading = "1s", objects = 10 }'),
        "cbr": (1, f'{{ kind = "cbr", rate = "{path.bps // 5}bit", packet = "{_DATAGRAM}" }}'),
        "bursts": (1, _bursts(path)),
    }
    if cell["traffic"] not in apps:
        return []
    count, app = apps[str(cell["traffic"])]
    own = _tcp(cell, tcp) if cell["traffic"] in ("files", "web") else []
    return [
        "[[flows]]", f'name = "{cell["traffic"]}"', f"count = {count}", 'path = ["bottleneck"]',
        _propagation(min(path.rtts_ms)), f'access_rate = "{_HOST_RATE}"', *own,
        f'start = "0s..{path.warmup_ms // 2}ms"', f"app = {app}",
    ]  # fmt: skip


def _bursts(path: _Path) -> str:
    """Ten bursts at the rate of the link, each 1 % of the duration."""
    at = ", ".join(f'"{place * path.duration_ms // 10}ms"' for place in range(10))
    length = f"{path.duration_ms // 100}ms"
    return (
        f'{{ kind = "bursts", rate = "{path.bps}bit", packet = "1000B", at = [{at}], '
        f'length = "{length}" }}'
    )
