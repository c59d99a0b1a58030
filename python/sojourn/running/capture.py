"""Captures of a run, for Wireshark, tshark and tcptrace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from sojourn import files
from sojourn.describing.library import ScenarioLike, Sets, load, reseeded
from sojourn.engines import registry
from sojourn.engines.protocol import CapturingEngine
from sojourn.engines.registry import EngineLike
from sojourn.errors import InputError, named
from sojourn.running.interruptible import interruptible
from sojourn.running.memory import check_bytes
from sojourn.running.runs import with_aqm

if TYPE_CHECKING:
    from sojourn.loading.bring import AqmsLike

FileFormat = Literal["pcapng", "pcap", "qlog"]
FORMATS: tuple[str, ...] = get_args(FileFormat)


@dataclass(frozen=True)
class Capture:
    """The captures of one run."""

    files: list[Path]
    """One file for each end of the flows (``sender``, ``receiver``), and for each side of every
    queue (``LINK-in``, ``LINK-out``); of qlog, one for each flow of TCP or of a
    transport library."""
    digest: str
    """Digest of the run, the same as from `sojourn.run`."""


def capture(
    scenario: ScenarioLike,
    folder: str | Path,
    *,
    aqms: AqmsLike | None = None,
    link: str | None = None,
    seed: int | None = None,
    sets: Sets | None = None,
    file_format: FileFormat = "pcapng",
    memory: str | None = None,
    engine: EngineLike = registry.NAMES[0],
    **engine_options: Any,
) -> Capture:
    """Run a scenario, and write captures of each place, as tcpdump would.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        folder: the folder for the files; those of an earlier capture are replaced.
        aqms: the AQM that replaces the scenario's own, as in `sojourn.run`.
        link: the link that gets it.
        seed: seed of every random stream; the scenario's own by default.
        sets: dotted keys with values that override the scenario file.
        file_format: ``pcapng``, in which a dropped or marked packet has the reason in a comment
            where it arrives at the queue, or ``pcap`` for older tools, both with times in
            nanoseconds; or ``qlog``: a log of the sender of each TCP flow, and the statistics of
            each transport library, for qvis, by engine
            ``sim`` only.
        memory: a size such as ``8GB`` that the run may take, instead of the free memory.
        engine: the engine that runs it. The packets of ``linux`` and ``ns3`` are real.
        **engine_options: options of the engine, as in `sojourn.run`.

    Raises:
        InputError: the scenario, AQM, engine or format does not exist, the engine writes no such
            files, the packets need too much memory, or there is no TCP flow to log.
        ScenarioError: the scenario is not legal, or not supported by the engine.
        Interrupted: Ctrl-C.
        OSError: a file cannot be written.
        RunFailed: the run failed.
        TypeError: no engine has an option of that name.
    """
    if file_format not in FORMATS:
        raise InputError(f"file_format {file_format}: is not one of {', '.join(FORMATS)}")
    selected = registry.select_one(engine, engine_options)
    capturing = selected.engine
    if not isinstance(capturing, CapturingEngine):
        raise InputError(f"engine {selected.name}: writes no captures")
    if file_format == "qlog" and selected.name != registry.NAMES[0]:
        raise InputError(f"qlog: only engine {registry.NAMES[0]} logs senders, not {selected.name}")
    loaded = with_aqm(load(scenario, sets), aqms, link, has_sets=bool(sets))
    loaded = reseeded(loaded, seed)
    check_bytes(lambda: "the packets of a capture take", loaded.capture_bytes(), memory)
    target = named(folder, "folder")
    with files.writing_to(target):
        written, digest = interruptible(
            lambda switch: capturing.capture(
                loaded, selected.options, str(target), file_format, switch
            ),
            memory,
        )
    if not written:
        raise InputError(
            f"{loaded.name}: has no flow of TCP or of a transport library that sends, of which "
            "qlog could tell"
        )
    return Capture([Path(path) for path in written], digest)
