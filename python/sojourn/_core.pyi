"""The compiled core of Sojourn: scenarios, the packet simulator, result tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, final

class ScenarioError(ValueError):
    """A scenario, a parameter or a trace is invalid.

    Attributes:
        place: its place, such as ``links.bottleneck.queue.target`` or ``file.toml:12``; may be
            empty.
        message: what is wrong and how to fix it.
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

class _Writable(Protocol):
    def write(self, content: bytes, /) -> int: ...

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
        """A law written as a Python class.

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
            ScenarioError: a declaration is invalid, or the name is taken.
        """
    @staticmethod
    def library(path: str, opened: str, name: str, source: str) -> CustomLaw:
        """A law in a shared library, which stays loaded until the process ends.

        Args:
            path: the file.
            opened: the file that is loaded: the same one or a copy.
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
    """The packet being handled, as a law in Python sees it; valid until the hook returns."""

    @property
    def bytes(self) -> int:
        """Size."""
    @property
    def enqueued_ns(self) -> int:
        """When the packet was accepted into the queue; the current time while it arrives."""
    @property
    def sojourn_ns(self) -> int:
        """Its sojourn time so far."""
    @property
    def can_mark(self) -> bool:
        """Whether the packet is ECN-capable: ECT(0), ECT(1) or already CE."""
    @property
    def ecn(self) -> str:
        """``not-ect``, ``ect0``, ``ect1`` or ``ce`` (RFC 3168 §5)."""

@final
class Backlog:
    """The backlog without the packet being handled; valid until the hook returns."""

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
    """The random stream of a law's queue, derived from the seed of the run."""

    def uniform(self) -> float:
        """A uniform number in [0, 1)."""
    def below(self, bound: int) -> int:
        """A uniform integer from 0 to bound - 1."""
    def exponential(self, mean: float) -> float:
        """An exponentially distributed number."""

@final
class Env:
    """The queue and link that a law is created for."""

    @property
    def limit_packets(self) -> int | None:
        """The discipline's limit, if it is in packets."""
    @property
    def limit_bytes(self) -> int | None:
        """The discipline's limit, if it is in bytes."""
    @property
    def mtu_bytes(self) -> int:
        """Largest packet, as the link accounts it."""
    @property
    def rate_bps(self) -> int | None:
        """Initial rate of the link, if known."""

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
        """The latest RTT sample, if this acknowledgement gave one."""
    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time; zero before the first sample."""
    @property
    def in_flight(self) -> int:
        """Estimated packets in flight."""
    @property
    def lost(self) -> int:
        """Newly marked as lost by this acknowledgement."""
    @property
    def marks(self) -> int:
        """Reported as marked by this acknowledgement (RFC 9768)."""
    @property
    def limited(self) -> bool:
        """Whether the window limits the flow; otherwise it should not grow."""
    @property
    def round_start(self) -> bool:
        """Whether a new round trip starts with this acknowledgement."""
    @property
    def delivery_rate(self) -> float | None:
        """Delivery rate in packets per second, if this acknowledgement gave a sample."""

@final
class Cancel:
    """Cancels runs in other threads, and counts their progress.

    Runs raise `MemoryError` as soon as the core holds more than `memory_bytes`.
    """

    def __init__(self, memory_bytes: int | None = None) -> None: ...
    def cancel(self) -> None:
        """Make every run that was given this object stop soon and raise `Cancelled`."""
    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
    def advance(self, seconds: float) -> None:
        """Add seconds that another engine has simulated."""
    def simulated_s(self) -> float:
        """Simulated seconds so far, summed over all runs that were given this object."""

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
        """The memory that a capture of all packets needs."""
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
        """The same scenario, with these laws available to `with_queue`.

        Raises:
            ScenarioError: two laws have one name.
        """
    @property
    def law_sources(self) -> list[str]:
        """The code of the custom laws in its queues, as manifests name it."""
    def with_apps(self, apps: list[tuple[str, type, str]]) -> Scenario:
        """The same scenario, with these applications for the flows of these names.

        Args:
            apps: name of the flows, class, and what the manifest calls it.
        """
    def with_endpoints(
        self, endpoints: list[tuple[str, str, tuple[str, str, str, str | None] | None]]
    ) -> Scenario:
        """The same scenario with transport libraries.

        Args:
            endpoints: the scenario's name of the transport, the library with its settings, such as
                ``quinn:cc=bbr``, and for a library in a file: the file to load, its name in
                messages, its name and digest in manifests, and if its endpoints run as processes,
                the program to start: the file itself, or one that loads it.

        Raises:
            ScenarioError: the library or a setting is unknown.
        """
    @property
    def endpoint_sources(self) -> list[str]:
        """Those libraries in full, as manifests name them: ``quic=quinn-proto 0.11.19 ...``."""
    def check_endpoints(self) -> None:
        """Check that every transport has a library that carries what its flows send, and that
        every library is used. Raises ScenarioError."""
    @property
    def endpoint_warnings(self) -> list[str]:
        """One sentence for every library whose runs with one seed may differ."""
    @property
    def repeats(self) -> bool:
        """Whether runs with one seed are the same, as far as its libraries know."""
    @property
    def app_sources(self) -> list[str]:
        """The code of its Python applications, as manifests name it."""
    @property
    def has_topology(self) -> bool:
        """Whether a topology has generated links of it."""
    def with_seed(self, seed: int) -> Scenario:
        """The same scenario under another seed."""
    def effective_json(self) -> str:
        """The values of every queue's parameters in use at the link's rate: a JSON array."""
    def resolved_json(self) -> str:
        """The resolved scenario as JSON: every default filled in, every number with its unit."""
    def document_json(self) -> str:
        """The scenario as written, overrides included, as JSON that `load` reads."""

@final
class ScenarioBase:
    """A scenario's text, parsed once, from which scenarios with different overrides are made.

    Arguments and errors are those of `Scenario.load`.
    """

    def __new__(
        cls, text: str, *, format: str = "toml", origin: str = "", folder: str | Path = "."
    ) -> ScenarioBase: ...
    def scenarios(self, each: list[list[tuple[str, str]]]) -> list[tuple[Scenario, str, str]]:
        """The scenarios with these overrides.

        Args:
            each: dotted keys and TOML values of each, in order.

        Returns:
            Each scenario, its `resolved_json`, and its links.

        Raises:
            ScenarioError: one of them is not legal; the error names place and remedy, but not the
                scenario.
            OSError: a trace file cannot be read.
        """

@final
class Table:
    """A result table; any Arrow library reads it through ``__arrow_c_stream__`` without a copy."""

    @staticmethod
    def empty(name: str) -> Table:
        """The table of a run that does not record it: its columns, without rows.

        Raises:
            KeyError: the table is unknown.
        """

    @staticmethod
    def stored(name: str, content: bytes) -> Table:
        """The table from the content of a Parquet file.

        Raises:
            KeyError: the table is unknown.
            ValueError: this is not a Parquet file, or its columns are not those of the table.
        """

    def fields(self) -> list[tuple[str, str, bool]]:
        """Name and kind of every column, and whether values may be missing.

        Kinds are ``text``, ``boolean``, ``integer``, ``number`` and ``pairs``, as `columns` has.
        """

    def columns(self, first: int = 0, count: int | None = None) -> dict[str, list[Any]]:
        """The values of every column, from row `first` on, `count` of them at most.

        Values of a map are lists of pairs; a missing value is None.
        """

    def write(
        self, file: _Writable, labels: Sequence[tuple[str, str | int | None]],
        cancel: Cancel | None = None,
    ) -> int:  # fmt: skip
        """Write the rows as Parquet, each with its labels; returns how many.

        Args:
            file: an object with ``write``, whose errors are raised.
            labels: columns with one value each, after the others.
            cancel: checked once per 65,536 rows.

        Raises:
            Cancelled: it was cancelled.
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
        """Why the run is not a valid experiment, one sentence each; empty if it is."""
    def table(self, name: str) -> Table:
        """One of ``packets, signals, flows, states, flow_states, bins, transfers, summary,
        histograms``."""
    def summary(self) -> list[tuple[str, str, str, float, str]]:
        """The summary as rows of (scope, name, metric, value, unit)."""
    def manifest_json(self) -> str:
        """Resolved scenario, seed, engine, versions, wall time, digest, warnings."""
    def write(self, folder: str, cancel: Cancel | None = None) -> list[str]:
        """Write all tables that have rows as Parquet, then ``manifest.json``, into `folder`.

        Each file is written under a temporary name and renamed when complete; the manifest is last,
        so a folder with a manifest is complete. Returns the file names.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
            Cancelled: `cancel` was cancelled meanwhile; the run's files have been removed.
        """

def shortened(text: str) -> str:
    """The text for a terminal: very long words are cut, control characters are escaped."""

def is_in_own_code() -> bool:
    """Whether this thread is in a method of a custom law, congestion control or application."""

def run(
    scenario: Scenario,
    cancel: Cancel | None = None,
    controls: list[tuple[str, Any, str]] = ...,
) -> Run:
    """Simulate a scenario; releases the GIL except in Python congestion controls.

    Args:
        scenario: what to simulate.
        cancel: stops the run.
        controls: name of flows, class of their congestion control, what the manifest calls it.

    Raises:
        ControlError: a congestion control written in Python failed.
        LawError: a law that is not built in failed.
        ScenarioError: the simulator cannot build it (unknown congestion control, ...).
        Cancelled: `cancel` was used.
    """

def linux_wish(scenario: Scenario) -> tuple[str, str, int]:
    """Where the kernel is to run, whether the bottleneck is ours, and the kernel's HZ."""

def linux_plan_capturing(scenario: Scenario, plan: str) -> str:
    """A plan of the engine ``linux`` with captures of both ends of the flows and of both sides of
    each queue.

    Raises:
        ScenarioError: the programs cannot replace their group.
    """

def linux_tcp(version: str) -> str:
    """The TCP profile of a kernel of `version`; ``linux`` if that is not a number."""

def linux_plan(
    scenario: Scenario,
    hz: int | None = None,
    delays_in_router: bool = False,
    version: str | None = None,
    programs: str | None = None,
) -> str:
    """The plan of the engine ``linux`` for a scenario, as JSON.

    `hz` is the kernel's timer frequency, by default the scenario's; `version` is the kernel's, such
    as ``7.2.13``, if known. With `delays_in_router` our router delays packets itself, and no delay
    element is needed. `programs` are the user's programs, as `sojourn.programs.wish` writes them.

    Raises:
        ScenarioError: the kernel, or this engine, cannot do what the scenario asks for.
    """

def linux_host(folder: str, place: str) -> None:
    """Carry out ``plan.json`` in `folder`; in a guest, this is its first process.

    Results and ``status.json`` are written to the folder, then the guest ends. `place` is ``guest``
    in virtual time, ``uml`` in a guest in real time, or ``host``, where the folder is mounted at
    ``/run`` only for this process and its children.

    Raises:
        ValueError: the place is unknown.
    """

def linux_collect(
    scenario: Scenario, plan: str, folder: str, facts: str, virtual_time: bool, wall_s: float
) -> Run:
    """Read the results of a run in `folder`.

    Raises:
        ValueError: a file is missing or incomplete.
    """

def ns3_plan(scenario: Scenario, captures: bool = False) -> tuple[str, str]:
    """The plan by which results of the engine ``ns3`` are counted, as JSON, and the runner's text.

    With `captures`, the runner captures packets with their headers.

    Raises:
        ScenarioError: ns-3, or this engine, cannot do what the scenario asks for.
    """

def ns3_collect(scenario: Scenario, plan: str, folder: str, version: str, wall_s: float) -> Run:
    """Read the results of a run of ns-3 `version` in `folder`.

    Raises:
        ValueError: a file is missing or incomplete.
    """

def router_plan(words: str, laws: list[CustomLaw] = ..., scenario: Scenario | None = None) -> str:
    """Resolve the router's options, with the links of a scenario if there is one; both as JSON.

    Raises:
        ScenarioError: with the option, or the place in the scenario.
    """

def router_run(plan: str, status: str, control: str, out: str) -> None:
    """Route until the other end of the pipe `control` is closed; JSON lines go to the other pipe.

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
        """Packets that only one AQM dropped or marked, or both at different stages or for different
        causes."""
    @property
    def first(self) -> dict[str, Any] | None:
        """The first signal that only one AQM gave: side (0 or 1), packet (index in the order of
        arrival), t_ns, flow, seq, bytes, sojourn_ns, fate, stage, cause, evidence (state of the law
        just before) and states (of both disciplines before the event), as rows of (name, value,
        unit)."""
    @property
    def sides(self) -> tuple[Run, Run]:
        """The results of both replays; packets in the order of arrival, signals with evidence."""

def diff(first: Scenario, second: Scenario, link: str, cancel: Cancel | None = None) -> Diff:
    """Run `first`, then replay its arrivals at `link` under each scenario's AQM of that link.

    Raises:
        ScenarioError: the link is unknown, an AQM cannot be built, or a transport library fails.
        Cancelled: `cancel` was used.
    """

def capture(
    scenario: Scenario, folder: str, file_format: str = "pcapng", cancel: Cancel | None = None
) -> tuple[list[str], str]:
    """Simulate a scenario, and write captures of both ends of its flows and of both sides of each
    queue into a folder, as pcapng or pcap, or a log of the sender of each TCP flow, as qlog.

    Returns:
        The files, and the digest of the run.

    Raises:
        ScenarioError: an AQM cannot be built.
        Cancelled: `cancel` was used.
        OSError: a file cannot be written.
    """

def write_captures(
    scenario: Scenario, plan: str, results: str, folder: str, file_format: str, about: str
) -> list[str]:
    """Write captures of a run of the engines ``linux`` and ``ns3`` that was planned with captures.

    `results` is the folder of its results. `about` says where the packets come from; each file's
    section has it as its comment.

    Returns:
        The files.

    Raises:
        ValueError: a file of the results is missing or incomplete.
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
    """The AQM of a text form such as ``fq(pie@linux)``, as `aqms` describes it, with the named
    `dialect` or None; a kernel's name gives ``linux``. Raises ScenarioError."""

def aqm_of_kernel(text: str, version: str, laws: list[CustomLaw] = ...) -> str:
    """An AQM named after the kernel of `version` (``codel@linux-6.1`` for ``codel@linux``) if that
    kernel's decisions differ from the newest's; other AQMs unchanged. Raises ScenarioError."""

@final
class Decompressor:
    """A reader of content compressed with zstd or lz4, several frames in a row included.

    Args:
        blocks: the compressed bytes.
        is_zstd: whether they are zstd's; otherwise lz4's.
    """

    def __new__(cls, blocks: Iterator[bytes], is_zstd: bool) -> Decompressor: ...
    def read(self) -> bytes:
        """The next part, at most 1 MiB; empty at the end.

        Raises:
            ValueError: ``is cut off`` or ``is damaged (why)``.
        """

@final
class CaptureReader:
    """A reader of a capture of packets, pcap or pcapng, as its bytes arrive.

    Args:
        all: whether all packets are recorded, or only those of protocols other than TCP.
        range_ns: the part that is read, in nanoseconds since the first packet; None is all.
    """

    def __new__(cls, all: bool, range_ns: tuple[int, int] | None) -> CaptureReader: ...
    def feed(self, bytes: bytes) -> tuple[list[tuple[int, int, int, str]], bool]:
        """Read the next bytes of the file.

        Returns:
            Lines ``time,bytes`` of recordings, each with direction (0 from clients, 1 to them),
            DSCP and ECN field; and whether the rest of the file is needed.
        """

    def finish(self) -> tuple[list[tuple[int, int, int, str]], str]:
        """End the file.

        Returns:
            The remaining lines, and a report as JSON.

        Raises:
            ScenarioError: no packet could be read.
        """

def tc_import(
    text: str, name: str, rate: str | None, rtt: str | None, device: str | None
) -> tuple[str, list[str], list[str]]:
    """The scenario of a set-up of tc: TOML, what was read, and what had to be assumed.

    Args:
        text: commands, output of ``tc qdisc show`` as text or JSON, or ``/etc/config/sqm``.
        name: name of the scenario.
        rate: rate of the line, such as ``50mbit``, if the set-up has no shaper.
        rtt: base round-trip time, such as ``40ms``.
        device: the device, if the text has several with a queue.

    Raises:
        ScenarioError: the text is in none of these forms, contradicts itself, or lacks something.
    """

def tc_aqm(text: str) -> tuple[str, list[str], int | None]:
    """The AQM for a discipline in tc's syntax, its options without a counterpart, and cake's
    overhead relative to the IP packet. Raises ScenarioError."""

def tc_looks_like(text: str) -> bool:
    """Whether a text is in tc's syntax rather than the text form of an AQM."""

def tc_check(
    text: str, line_bps: int | None, framing: tuple[int, int, str] | None, rtt_ns: int, load: int
) -> tuple[list[tuple[str, str, int, str, str, str, str, tuple[str, str, str] | None]], list[str]]:
    """What is wrong or doubtful in a set-up, and the parts that were not understood.

    Args:
        text: as for `tc_import`.
        line_bps: rate of the line behind the shaper in bit/s, if known.
        framing: what that line adds to a packet, if known: bytes added, least size, cells.
        rtt_ns: base round-trip time in nanoseconds.
        load: concurrent bulk transfers.

    Returns:
        Findings (code, severity, line, title, reason, evidence, remedy, and, if they can be
        simulated, the scenarios before and after with a description of what they model), and
        phrases.

    Raises:
        ScenarioError: the text is not a set-up of tc.
    """

def tc_export(
    links: list[
        tuple[
            str,
            bool,
            int,
            tuple[int, bool] | None,
            tuple[int, int, str],
            str,
            str | None,
            tuple[int, int] | None,
        ]
    ],
    kernel: tuple[int, int] | None,
    uci: bool,
) -> tuple[list[str], list[str]]:
    """Commands, or lines of ``/etc/config/sqm``, that configure links, and warnings.

    Args:
        links: device, whether the link is the device's ingress, bit/s, depth of the token bucket in
            bytes or None, framing in bytes, AQM, scheduler in JSON, rate and burst of the policer.
        kernel: Linux release that must have the disciplines.
        uci: whether to write UCI.

    Raises:
        ScenarioError: tc has no option for a parameter, or the kernel lacks a discipline.
    """

def ccs() -> list[dict[str, Any]]:
    """Every congestion control, in the same form; kind is "cc"."""

def tcps() -> list[dict[str, Any]]:
    """Every TCP profile: dicts of kind ("tcp"), name, doc, rules (dicts of name, value, doc)."""

def examine_law(
    text: str, laws: list[CustomLaw] = ..., operations: int = 1_000_000
) -> list[tuple[str, bool | None, str]]:
    """Every rule of the contract of a law: the rule, whether it held (None if it does not apply),
    how it was tested or what broke it. Raises ScenarioError."""

def law_repeats(text: str, laws: list[CustomLaw], operations: int) -> bool:
    """Whether an AQM repeats its decisions, with one seed and `operations` random operations.
    Raises ScenarioError."""

def library_dependencies(content: bytes) -> tuple[list[str], str] | None:
    """The libraries that an ELF library needs, and its search path, separated by colons. None if
    the file is not ELF, or is damaged."""

def endpoints() -> list[str]:
    """The transport libraries that are compiled in."""

def examine_endpoint(
    text: str, file: tuple[str, str, str, str | None] | None
) -> tuple[str, tuple[bool, bool], str | None, list[tuple[str, bool | None, str]]]:
    """Check a transport library on an idle bottleneck.

    Args:
        text: the library with its settings, such as ``quinn:cc=bbr``.
        file: as for `Scenario.with_endpoints`.

    Returns:
        The library in full, whether it has ECN and carries video, why its runs may differ (None if
        they cannot), and every rule: whether it held or None if it does not apply, and how it was
        tested or broken.

    Raises:
        ScenarioError: the library or a setting is unknown.
    """

def endpoint_process() -> str:
    """The program in C that runs a transport library in a process."""

def try_endpoint(opened: str, name: str, source: str) -> None:
    """Load a transport library from a file and forget it.

    Raises:
        ScenarioError: it is not such a library.
    """

def run_tcp_script(text: str, files: dict[str, str]) -> tuple[str, int, str, str]:
    """Run a TCP script in packetdrill's form against the endpoint. `files`: texts of the commands
    that it uses, by name. Returns "passed", "not applicable", "failed" or "unreadable", the
    deciding line (0 if passed), and two texts: the reason, or the
    expected and the actual behaviour."""

def check_aqm(text: str, laws: list[CustomLaw] = ...) -> str:
    """Check an AQM in its text form and return it in canonical form. Raises ScenarioError."""

def schema_json() -> str:
    """The JSON Schema of a scenario."""

__version__: str
