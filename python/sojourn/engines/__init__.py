"""What can run a scenario: the packet simulator, the real Linux kernel; ns-3 arrives later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.control import Brought
from sojourn.errors import InputError

SIM, LINUX = "sim", "linux"
RUNNABLE = (SIM, LINUX)


@dataclass(frozen=True)
class Choice:
    """An engine to run with.

    Attributes:
        name: ``sim`` or ``linux``.
        kernel: a guest kernel of the user's own, for ``linux``.
    """

    name: str = SIM
    kernel: Path | None = None


SIMULATOR = Choice()


@dataclass(frozen=True)
class Engine:
    """An engine and whether this machine offers it.

    Attributes:
        name: ``sim``, ``linux`` or ``ns3``.
        available: whether `sojourn run` can use it.
        note: what it is, or what is missing.
        remedy: the one command that helps; empty where none does, or none is needed.
    """

    name: str
    available: bool
    note: str
    remedy: str = ""


def engines() -> list[Engine]:
    """Every engine, the default first."""
    from sojourn.engines import linux

    return [
        Engine(SIM, True, f"packet simulator, built in, version {_core.__version__}"),
        *(Engine(f"{LINUX}, {way.name}", way.works, way.note, way.remedy) for way in linux.ways()),
        Engine("ns3", False, "ns-3: arrives in a later release"),
    ]


def choose(names: Sequence[str], kernel: Path | None = None) -> list[Choice]:
    """Engines by name.

    Raises:
        InputError: there is no such engine, one comes twice, or `kernel` goes with none.
    """
    for i, name in enumerate(names):
        if name not in RUNNABLE:
            raise InputError(f"engine {name}: there is none; known: {', '.join(RUNNABLE)}")
        if name in names[:i]:
            raise InputError(f"engine {name}: is listed twice; name each engine once")
    if kernel is not None and LINUX not in names:
        raise InputError("--kernel: only engine linux has a kernel; add --engine linux")
    return [Choice(name, kernel if name == LINUX else None) for name in names]


def describe(choice: Choice) -> str:
    """The engine in words: its name, and for ``linux`` which kernel.

    Raises:
        InputError: there is no guest kernel.
    """
    if choice.name == SIM:
        return SIM
    from sojourn.engines import linux

    return f"{choice.name}, {linux.describe(choice.kernel)}"


def digest(choice: Choice) -> str:
    """What of an engine its results depend on beside this package; empty for the simulator.

    Raises:
        InputError: there is no guest kernel.
    """
    if choice.name == SIM:
        return ""
    from sojourn.engines import linux

    return linux.digest(choice.kernel)


def run(
    choice: Choice,
    scenario: _core.Scenario,
    cancel: _core.Cancel,
    controls: Sequence[Brought] = (),
) -> _core.Run:
    """Run a scenario; `controls` are congestion controls written in Python, for the simulator.

    Raises:
        ScenarioError: the engine cannot do what the scenario asks for.
        InputError: the engine lacks something on this machine.
        Cancelled: `cancel` was used.
        RunFailed: the run did not come to its end.
    """
    if choice.name == LINUX:
        from sojourn.engines import linux

        if controls:
            raise InputError("cc: engine linux runs the kernel's own congestion controls")

        return linux.run(scenario, cancel, choice.kernel)
    return _core.run(scenario, cancel, list(controls))
