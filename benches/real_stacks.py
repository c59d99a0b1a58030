"""Real transport libraries and programs under twelve AQMs; writes docs/results/real-stacks.md.

    python benches/real_stacks.py

Runs one bulk transfer alone, then the same next to one CUBIC flow of the simulator. Each sender is
a library inside the simulator (quinn, smoltcp, a call of str0m; ngtcp2 if Debian's packages are
installed), the simulator's TCP, or the TCP of Linux in the guest, where the AQM is ours too: from
our sender, and from nginx to curl.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import _core, files
from sojourn.comparing.compare import compare
from sojourn.comparing.comparison import Comparison
from sojourn.engines.linux import kernel
from sojourn.programs.running import engine as engine_with

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "real-stacks.md"
MARKS = ("<!-- real stacks: begin -->\n", "<!-- real stacks: end -->\n")
AQMS = (
    "taildrop", "red", "ared", "codel", "cobalt", "pie", "pi2", "madpie", "sfq", "fq_codel",
    "fq_pie", "cake",
)  # fmt: skip
SEEDS = 2
# The buffer is about five bandwidth-delay products, as in a home router.
TEXT = """
name = "real-stacks"
duration = "20s"
warmup = "5s"
[engine.linux]
bottleneck = "sojourn"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
buffer = "300kB"
queue = "codel"
[[flows]]
name = "stack"
path = ["bottleneck"]
rtt = "50ms"
{transport}
app = {{ {app} }}
"""
# curl loads a file that outlasts the run; the group's class then has the name of curl's host.
PROGRAMS = {
    "server": "truncate -s 100M big; printf 'daemon off; user root; pid nginx.pid; events {}"
    " http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f;"
    " uwsgi_temp_path u; scgi_temp_path s; server { listen 80; root /tmp/own; } }' > nginx.conf;"
    " exec nginx -p /tmp/own -c /tmp/own/nginx.conf -e stderr",
    "client": "curl -s -o /dev/null http://server/big",
}
# At the best quality 10 Mbit/s.
VIDEO = 'kind = "video", frames = ["41250B"], interval = "33ms"'
RIVAL = """
[[flows]]
name = "rival"
path = ["bottleneck"]
rtt = "50ms"
cc = "cubic"
app = { kind = "bulk" }
"""


@dataclass(frozen=True)
class Sender:
    """A sender.

    Attributes:
        name: its name in the tables.
        transport: lines of the scenario's flow.
        app: what the flow carries.
        endpoint: the library of flows with transport ``library``.
        engine: the engine that runs it.
        programs: commands that send instead of the flow, by host.
    """

    name: str
    transport: str = 'transport = "library"'
    app: str = 'kind = "bulk"'
    endpoint: str = ""
    engine: str = "sim"
    programs: dict[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The class of its flow."""
        return "client" if self.programs else "stack"

    def compared(self, rival: str) -> Comparison:
        """Its runs under every AQM, next to a rival if one is given."""
        scenario = _core.Scenario.load(TEXT.format(transport=self.transport, app=self.app) + rival)
        endpoints = {"library": self.endpoint} if self.endpoint else None
        on = engine_with(self.programs, may_be_stopped=True) if self.programs else self.engine
        return compare(scenario, AQMS, SEEDS, engine=on, endpoints=endpoints)


def senders(built: Path) -> Iterator[Sender]:
    """Every sender that can run here."""
    yield Sender("simulator CUBIC", 'cc = "cubic"')
    yield Sender("Linux CUBIC", 'cc = "cubic"', engine="linux")
    yield Sender("nginx, curl", engine="linux", transport="", programs=PROGRAMS)
    for control in ("cubic", "newreno", "bbr"):
        yield Sender(f"quinn {control}", endpoint=f"quinn:cc={control}")
    for control in ("reno", "cubic"):
        yield Sender(f"smoltcp {control}", endpoint=f"smoltcp:cc={control}")
    yield Sender("str0m", endpoint="str0m", app=VIDEO)
    library = _ngtcp2(built)
    for control in ("reno", "cubic", "bbr", "bbr2") if library else ():
        yield Sender(f"ngtcp2 {control}", endpoint=f"{library}:cc={control}")


def _ngtcp2(folder: Path) -> Path | None:
    command = ["pkg-config", "--cflags", "--libs", "libngtcp2_crypto_gnutls", "gnutls"]
    if subprocess.run([*command[:1], "--exists", *command[3:]], check=False).returncode != 0:
        print("ngtcp2 is left out: its packages are not installed", file=sys.stderr)
        return None
    flags = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    library = folder / "libngtcp2.so"
    headers = ROOT / "crates" / "endpoint-c" / "include"
    source = ROOT / "examples" / "endpoints" / "ngtcp2.c"
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", f"-I{headers}", str(source), "-o", str(library), *flags],
        check=True,
    )
    return library


@dataclass
class Tables:
    """The tables of one experiment, a column for each sender."""

    heads: list[str] = field(default_factory=list)
    cells: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def add(self, sender: Sender, quantities: dict[str, dict[str, str]]) -> None:
        """Add a sender's column: by quantity and AQM, the text of the cell."""
        self.heads.append(sender.name)
        for quantity, by_aqm in quantities.items():
            for aqm, text in by_aqm.items():
                self.cells.setdefault(quantity, {}).setdefault(aqm, []).append(text)

    def text(self) -> str:
        """All tables in Markdown."""
        head = f"| AQM | {' | '.join(self.heads)} |\n|---|{'--:|' * len(self.heads)}\n"
        return "\n".join(
            f"### {quantity}\n\n{head}"
            + "".join(f"| `{aqm}` | {' | '.join(cells)} |\n" for aqm, cells in rows.items())
            for quantity, rows in self.cells.items()
        )


def _means(compared: Comparison, key: str, scale: float) -> dict[str, str]:
    """The mean of a metric over the seeds, by AQM."""
    values = {aqm: [run.summary[key] for run in compared.of(aqm)] for aqm in compared.aqms}
    return {
        aqm: f"{scale * sum(each) / len(each):.3g}" if each else "failed"
        for aqm, each in values.items()
    }


def main() -> None:
    """Run, tabulate and write."""
    alone, shared = Tables(), Tables()
    with tempfile.TemporaryDirectory() as folder:
        for sender in senders(Path(folder)):
            print(sender.name, file=sys.stderr)
            by_itself = sender.compared("")
            alone.add(sender, {
                "Queue delay, 95th percentile [ms]":
                    _means(by_itself, "queue/bottleneck/delay_p95", 1e3),
                "Goodput [Mbit/s]": _means(by_itself, f"class/{sender.group}/goodput", 1e-6),
                "Packets dropped [%]": _means(by_itself, "queue/bottleneck/drop_rate", 1e2),
            })  # fmt: skip
            if sender.engine == "sim":
                against = sender.compared(RIVAL)
                goodput = "class/stack/goodput"
                shared.add(sender, {"Goodput [Mbit/s]": _means(against, goodput, 1e-6)})
    guest = kernel.find()
    text = (
        f"Guest kernel {guest.version if guest else 'missing'}; quinn-proto, smoltcp and str0m as "
        f"in `Cargo.lock`; ngtcp2 of Debian 12. Means over {SEEDS} seeds.\n\n"
        f"## Alone\n\n{alone.text()}\n## Next to one CUBIC flow\n\n{shared.text()}"
    )
    files.replace_between(PAGE, *MARKS, text)


if __name__ == "__main__":
    main()
