"""The compiled core of Sojourn: scenarios, the packet simulator, result tables."""

from pathlib import Path
from typing import Any, final

class ScenarioError(ValueError):
    """A scenario, a parameter or a trace is not what it should be.

    Attributes:
        place: where, such as ``links.bottleneck.queue.target`` or ``file.toml:12``; may be empty.
        message: what is wrong and what would be right.
    """

    place: str
    message: str

class Cancelled(Exception):
    """The run was cancelled through its `Cancel`."""

class ControlError(Exception):
    """A congestion control written in Python failed; the cause is what it raised."""

class AppError(Exception):
    """An application written in Python failed; the cause is what it raised."""

class LawError(Exception):
    """An AQM law that is not built in failed; the cause is what it raised, if it did."""

__all__: list[str]

@final
class CustomLaw:
    """An AQM law that is not built in."""

    @staticmethod
    def python(
        law: type,
        name: str,
        doc: str,
        source: str,
        place: str,
        file: str | None,
        params: list[tuple[str, str, str, str | None, list[str], str, str, str]],
        vars: list[tuple[str, str, str]],
        hooks: list[str],
    ) -> CustomLaw:
        """A law that a Python class decides.

        Args:
            law: the class; one object is made per queue.
            name: its name in text forms and tables.
            doc: what it does, one line.
            source: its code, as manifests name it.
            place: file and line, for messages.
            params: name, meaning, kind, word for no value, words, rule, default, source of each.
            vars: name, unit, meaning of each state variable.
            hooks: the hooks that the class has.

        Raises:
            ScenarioError: something is not declared as it should be, or the name is taken.
        """
    @staticmethod
    def library(path: str, opened: str, name: str, source: str) -> CustomLaw:
        """A law in a shared library, which stays loaded until the process ends.

        Args:
            path: the file.
            opened: the file that is loaded: the same, or a copy.
            name: the file, as messages show it.
            source: its code, as manifests name it.

        Raises:
            ScenarioError: it is not a library, not a law, or built for another version.
        """
    @property
    def name(self) -> str:
        """Its name in text forms and tables."""
    @property
    def source(self) -> str:
        """Its code, as manifests name it."""

@final
class Head:
    """The packet in hand, as a law in Python sees it; valid until the hook returns."""

    @property
    def bytes(self) -> int:
        """Size."""
    @property
    def enqueued_ns(self) -> int:
        """When it was accepted into the queue; on arrival: now."""
    @property
    def sojourn_ns(self) -> int:
        """How long it has waited."""
    @property
    def can_mark(self) -> bool:
        """Whether a mark reaches the sender: ECT(0), ECT(1) or already CE."""
    @property
    def ecn(self) -> str:
        """``not-ect``, ``ect0``, ``ect1`` or ``ce`` (RFC 3168 §5)."""

@final
class Backlog:
    """The backlog without the packet in hand; valid until the hook returns."""

    @property
    def packets(self) -> int:
        """Packets in this law's queue."""
    @property
    def bytes(self) -> int:
        """Bytes in this law's queue."""
    @property
    def link_bytes(self) -> int:
        """Bytes in all queues of the discipline."""

@final
class Random:
    """The random numbers of a law's queue, from the seed of the run."""

    def uniform(self) -> float:
        """A uniform number in [0, 1)."""
    def below(self, bound: int) -> int:
        """A uniform whole number from 0 to bound - 1."""
    def exponential(self, mean: float) -> float:
        """An exponential number."""

@final
class Env:
    """The environment of a law when it is made."""

    @property
    def limit_packets(self) -> int | None:
        """Packets that may wait in the discipline, if its limit is in packets."""
    @property
    def limit_bytes(self) -> int | None:
        """Bytes that may wait in the discipline, if its limit is in bytes."""
    @property
    def mtu_bytes(self) -> int:
        """Largest packet, as the link accounts it."""
    @property
    def rate_bps(self) -> int | None:
        """Rate of the link at the start, where it is known."""

@final
class Ack:
    """An acknowledgement as a congestion control in Python sees it; counts are in packets."""

    @property
    def now_s(self) -> float:
        """Simulated time."""
    @property
    def delivered(self) -> int:
        """Newly delivered."""
    @property
    def rtt_s(self) -> float | None:
        """The newest round-trip sample, if this acknowledgement gave one."""
    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time; zero before the first sample."""
    @property
    def in_flight(self) -> int:
        """Believed in the network."""
    @property
    def lost(self) -> int:
        """Judged lost by this acknowledgement."""
    @property
    def marks(self) -> int:
        """Reported as marked by this acknowledgement (RFC 9768)."""
    @property
    def limited(self) -> bool:
        """Whether the window limits the flow; otherwise it should not grow."""
    @property
    def round_start(self) -> bool:
        """Whether a round trip begins."""
    @property
    def delivery_rate(self) -> float | None:
        """Packets per second that the network carried, if this acknowledgement gave a sample."""

@final
class Cancel:
    """A switch shared with runs in other threads, and their progress meter.

    Runs raise `MemoryError` as soon as the core holds more than `memory_bytes`.
    """

    def __init__(self, memory_bytes: int | None = None) -> None: ...
    def cancel(self) -> None:
        """Make every run that holds this switch stop soon and raise `Cancelled`."""
    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
    def advance(self, seconds: float) -> None:
        """Add seconds that another engine has simulated."""
    def simulated_s(self) -> float:
        """Simulated seconds so far, summed over all runs that hold this switch."""

@final
class Scenario:
    """A scenario that has been read, checked and resolved. Immutable."""

    @staticmethod
    def load(
        text: str,
        *,
        format: str = "toml",
        origin: str = "",
        folder: str | Path = ".",
        sets: list[tuple[str, str]] = ...,
    ) -> Scenario:
        """Read a scenario from TOML or JSON text.

        Args:
            text: the scenario.
            format: ``"toml"`` or ``"json"``.
            origin: name of the file, for error messages.
            folder: folder that trace files are relative to.
            sets: dotted keys and TOML values that override the text, in order.

        Raises:
            ScenarioError: with place and remedy.
            OSError: a trace file cannot be read.
        """
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def duration_s(self) -> float: ...
    def memory_needs(self) -> list[tuple[str, str, float, bool]]: ...
    def capture_bytes(self) -> float:
        """The memory that the packets of a capture need."""
    @property
    def links(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def source(self) -> str:
        """The text it was read from."""
    @property
    def origin(self) -> str:
        """The file it was read from, as error messages name it."""
    def line_of(self, path: str) -> int | None:
        """The line of the key or entry at a dotted path, such as ``expect[0]``; None in JSON."""
    @property
    def sets(self) -> list[tuple[str, str]]:
        """Dotted keys and TOML values that override the text, in order."""
    def queue(self, link: str) -> str:
        """The AQM of a link in its text form, such as ``pie:target=5ms``."""
    def with_queue(self, link: str, aqm: str) -> Scenario:
        """The same scenario with another AQM on `link`; the link's buffer stays."""
    def with_laws(self, laws: list[CustomLaw]) -> Scenario:
        """The same scenario, whose queues `with_queue` may set to these laws too.

        Raises:
            ScenarioError: two laws have one name.
        """
    @property
    def law_sources(self) -> list[str]:
        """The code of the laws in its queues that are not built in, as manifests name it."""
    def with_apps(self, apps: list[tuple[str, type, str]]) -> Scenario:
        """The same scenario, whose flows of these names have these applications.

        Args:
            apps: name of the flows, class, and what the manifest calls it.
        """
    @property
    def app_sources(self) -> list[str]:
        """The code of its applications written in Python, as manifests name it."""
    def with_seed(self, seed: int) -> Scenario:
        """The same scenario under another seed."""
    def resolved_json(self) -> str:
        """The resolved scenario as JSON: every default filled in, every number with its unit."""
    def document_json(self) -> str:
        """The scenario as it was written, overrides included, as JSON that `load` reads."""

@final
class Table:
    """A result table; any Arrow library reads it through ``__arrow_c_stream__`` without a copy."""

    @staticmethod
    def empty(name: str) -> Table:
        """The table as a run leaves it that does not record it: its columns, no rows.

        Raises:
            KeyError: there is no such table.
        """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Run:
    """The results of one run."""

    @property
    def digest(self) -> str:
        """Fingerprint of the event stream, 16 hexadecimal digits."""
    @property
    def packets_handled(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def invalid(self) -> list[str]:
        """Why the run is no valid experiment, one sentence each; empty if it is one."""
    def table(self, name: str) -> Table:
        """One of ``packets, signals, flows, states, flow_states, bins, transfers, summary,
        histograms``."""
    def summary(self) -> list[tuple[str, str, str, float, str]]:
        """The summary as rows of (scope, name, metric, value, unit)."""
    def manifest_json(self) -> str:
        """Resolved scenario, seed, engine, versions, wall time, digest, warnings."""
    def write(self, folder: str, cancel: Cancel | None = None) -> list[str]:
        """Write all tables that have rows as Parquet, then ``manifest.json``, into `folder`.

        Each file is written under a temporary name and renamed when whole; the manifest comes last,
        so a folder with a manifest is complete. Returns the file names.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
            Cancelled: `cancel` was cancelled meanwhile; nothing of this run is left.
        """

def shortened(text: str) -> str:
    """The text for a terminal: very long words are cut, control characters are escaped."""

def run(
    scenario: Scenario,
    cancel: Cancel | None = None,
    controls: list[tuple[str, Any, str]] = ...,
) -> Run:
    """Simulate a scenario; releases the GIL, but for congestion controls written in Python.

    Args:
        scenario: what to simulate.
        cancel: a switch that stops the run.
        controls: name of flows, class of their congestion control, what the manifest calls it.

    Raises:
        ControlError: a congestion control written in Python failed.
        LawError: a law that is not built in failed.
        ScenarioError: the simulator cannot build it (unknown congestion control, ...).
        Cancelled: `cancel` was used.
    """

def linux_wish(scenario: Scenario) -> tuple[str, str, int]:
    """Where a scenario asks the kernel to run, whether the bottleneck is ours, the kernel's HZ."""

def linux_tcp(version: str) -> str:
    """The TCP profile that stands for a kernel of `version`; ``linux`` where that is no number."""

def linux_plan(
    scenario: Scenario,
    hz: int | None = None,
    delays_in_router: bool = False,
    version: str | None = None,
    programs: str | None = None,
) -> str:
    """What the engine ``linux`` will do for a scenario, as JSON.

    `hz` are the timer interrupts of the kernel, by default as the scenario asks for them, and
    `version` is that of the kernel, such as ``7.2.13``, if it is known; with `delays_in_router` a
    router of ours delays packets itself, and no delay element is needed. `programs` are those of
    the user, as `sojourn.programs.wish` writes them.

    Raises:
        ScenarioError: the kernel, or this engine, cannot do what the scenario asks for.
    """

def linux_host(folder: str, place: str) -> None:
    """Carry out ``plan.json`` in `folder`, ``/run`` in a guest, whose first process this is.

    Results and ``status.json`` are in the folder afterwards, and the guest ends. `place` is
    ``guest`` in virtual time, ``uml`` in a guest in real time, or ``host``: there the folder is
    mounted at ``/run`` for this process and its children alone.

    Raises:
        ValueError: there is no such place.
    """

def linux_collect(
    scenario: Scenario, plan: str, folder: str, facts: str, virtual_time: bool, wall_s: float
) -> Run:
    """Read what a run has left in `folder`.

    Raises:
        ValueError: a file is missing or not whole.
    """

def ns3_plan(scenario: Scenario) -> tuple[str, str]:
    """What results of the engine ``ns3`` are counted by, as JSON, and the text of its runner.

    Raises:
        ScenarioError: ns-3, or this engine, cannot do what the scenario asks for.
    """

def ns3_collect(scenario: Scenario, plan: str, folder: str, version: str, wall_s: float) -> Run:
    """Read what a run of ns-3 `version` has left in `folder`.

    Raises:
        ValueError: a file is missing or not whole.
    """

def router_plan(words: str, laws: list[CustomLaw] = ...) -> str:
    """What options of the router mean; both as JSON. Raises ScenarioError with the option."""

def router_run(plan: str, told: str, control: str, out: str) -> None:
    """Route until the other end of the pipe `control` is closed; JSON lines go to the pipe `told`.

    Results go to the folder `out` unless it is empty.
    """

@final
class Diff:
    """The replays of two AQMs on the same arrivals, and their first difference."""

    @property
    def arrivals(self) -> int:
        """How many packets arrived."""
    @property
    def different(self) -> int:
        """How many of them only one dropped or marked, or at another stage or for another cause."""
    @property
    def first(self) -> dict[str, Any] | None:
        """The first signal that only one gave: side (0 or 1), packet (place in the order of
        arrival), t_ns, flow, seq, bytes, sojourn_ns, fate, stage, cause, evidence (state of the
        law just before) and states (of both disciplines before the event), as rows of (name,
        value, unit)."""
    @property
    def sides(self) -> tuple[Run, Run]:
        """The results of both replays; packets in the order of arrival, signals with evidence."""

def diff(first: Scenario, second: Scenario, link: str, cancel: Cancel | None = None) -> Diff:
    """Run `first`, and replay what arrived at `link` under the AQMs that both have there.

    Raises:
        ScenarioError: there is no such link, or an AQM cannot be built.
        Cancelled: `cancel` was used.
    """

def capture(
    scenario: Scenario, folder: str, pcapng: bool = True, cancel: Cancel | None = None
) -> tuple[list[str], str]:
    """Simulate a scenario, and write into a folder what could be captured at both ends of its
    flows and on both sides of each queue, as pcapng or else as pcap.

    Returns:
        The files, and the digest of the run.

    Raises:
        ScenarioError: an AQM cannot be built.
        Cancelled: `cancel` was used.
        OSError: a file cannot be written.
    """

def aqms() -> list[dict[str, Any]]:
    """Every AQM: kind ("law", "discipline" or "preset"), name, doc, dialects [{name, doc}],
    params [{name, doc, kind, absent, rule, words, defaults: {dialect: text},
    sources: {dialect: text}, of: "law"|"discipline", without_effect: [dialect]}],
    behaviours [{name, rules: {dialect: text}, sources: {dialect: text}}], vars [{name, unit, doc}]
    and step_tables {parameter: {word: [(probability below which the row holds, factor)]}}, the
    factors on the steps of the controller; the last row of a table has None: no bound."""

def describe_aqm(text: str, laws: list[CustomLaw] = ...) -> dict[str, Any]:
    """One AQM by its text form, ``fq(pie@linux)`` included, in the form of `aqms`, with the
    `dialect` that was named, or None. Raises ScenarioError."""

def tc_import(
    text: str, name: str, rate: str | None, rtt: str | None, device: str | None
) -> tuple[str, list[str], list[str]]:
    """The scenario of a set-up of tc: TOML, what was read, what the text could not say.

    Args:
        text: commands, output of ``tc qdisc show`` as text or JSON, or ``/etc/config/sqm``.
        name: of the scenario.
        rate: of the line, such as ``50mbit``, where no shaper says it.
        rtt: base round-trip time, such as ``40ms``.
        device: which one, where the text has several with a queue.

    Raises:
        ScenarioError: the text is none of these, contradicts itself, or lacks something.
    """

def tc_aqm(text: str) -> tuple[str, list[str]]:
    """An AQM for a discipline in the words of tc, and what has no counterpart. Raises
    ScenarioError."""

def tc_looks_like(text: str) -> bool:
    """Whether a text is in the words of tc rather than the text form of an AQM."""

def tc_check(
    text: str, line_bps: int | None, rtt_ns: int, load: int
) -> tuple[list[tuple[str, str, int, str, str, str, str, tuple[str, str, str] | None]], list[str]]:
    """What is wrong or doubtful in a set-up, and what of the text was not understood.

    Args:
        text: as for `tc_import`.
        line_bps: rate of the line behind the shaper in bit/s, if known.
        rtt_ns: base round-trip time in nanoseconds.
        load: bulk transfers at a time.

    Returns:
        Findings (code, severity, line, title, reason, evidence, remedy, and if they can be
        simulated the scenarios before and after with the words that say what they model), and
        phrases.

    Raises:
        ScenarioError: the text is no set-up of tc.
    """

def tc_export(
    links: list[tuple[str, bool, int, int | None, int, str]],
    kernel: tuple[int, int] | None,
    uci: bool,
) -> tuple[list[str], list[str]]:
    """Commands, or lines of ``/etc/config/sqm``, that set links up, and warnings.

    Args:
        links: device, whether the link carries its arrivals, bit/s, depth of the token
            bucket in bytes or None, framing in bytes, AQM.
        kernel: release of Linux that has to have the disciplines.
        uci: whether to write UCI.

    Raises:
        ScenarioError: tc has no word for a parameter, or the kernel no such discipline.
    """

def ccs() -> list[dict[str, Any]]:
    """Every congestion control, in the same form; kind is "cc"."""

def tcps() -> list[dict[str, Any]]:
    """Every TCP profile: dicts of kind ("tcp"), name, doc, rules (dicts of name, value, doc)."""

def examine_law(
    text: str, laws: list[CustomLaw] = ..., operations: int = 1_000_000
) -> list[tuple[str, bool | None, str]]:
    """Every promise of the contract of a law: the promise, whether it held (None where it does
    not apply), how it was tested or what broke it. Raises ScenarioError."""

def law_repeats(text: str, laws: list[CustomLaw], operations: int) -> bool:
    """Whether an AQM decides the same twice, with one seed and `operations` random operations.
    Raises ScenarioError."""

def library_dependencies(content: bytes) -> tuple[list[str], str] | None:
    """The libraries that a library in the form ELF names, and the folders, separated by colons, in
    which it has them looked for. None: it is no such file, or is damaged."""

def run_tcp_script(text: str, files: dict[str, str]) -> tuple[str, int, str, str]:
    """Run a TCP script in packetdrill's form against the endpoint. `files`: texts of the commands
    that it names, by name. Returns "passed", "not applicable", "failed" or "unreadable", the line
    that decided (0 if passed), and two texts: the reason, or what the script has and what happens
    here."""

def check_aqm(text: str, laws: list[CustomLaw] = ...) -> str:
    """Check an AQM in its text form and return it in canonical form. Raises ScenarioError."""

def schema_json() -> str:
    """The JSON Schema of a scenario."""

__version__: str
