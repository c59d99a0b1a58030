"""The interface of an engine: `prepare` a scenario, `run` it, `collect` its results, `doctor`.

An engine is a folder in `sojourn.engines`: a package whose ``DECLARED`` is a `Declaration`, with a
module ``engine`` whose ``ENGINE`` is an `Engine`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sojourn import _core
from sojourn.control import CustomControl

OptionValues = Mapping[str, Any]
"""Values of an engine's options by name, without those that were not given."""


@dataclass(frozen=True)
class EngineOption:
    """An option that one engine has in addition to those of every run.

    Attributes:
        name: ``--name`` on the command line, the argument ``name`` in Python.
        noun: the setting with its article: ``a kernel``.
        metavar: the placeholder for its value in help texts.
        help: its meaning in one sentence.
        kind: the type of its value.
    """

    name: str
    noun: str
    metavar: str
    help: str
    kind: type = Path


@dataclass(frozen=True)
class Declaration:
    """The properties of an engine that the command line shows without loading the engine's code.

    Attributes:
        name: its name on the command line, in Python and in manifests.
        about: what it is, in a few words.
        options: its options in addition to those of every run.
    """

    name: str
    about: str
    options: Sequence[EngineOption] = ()


@dataclass(frozen=True)
class Availability:
    """Whether an engine, or one of the places where it can run, works on this machine.

    Attributes:
        name: the engine, and the place if it has several: ``linux, host, real time``.
        works: whether `sojourn run` can use it.
        note: a description, or the missing part.
        remedy: the command that fixes it; empty if none can, or none is needed.
    """

    name: str
    works: bool
    note: str
    remedy: str = ""


class Job(Protocol):
    """One scenario that an engine has accepted."""

    def run(self, cancel: _core.Cancel) -> None:
        """Run it to completion; `cancel` stops it and counts the simulated seconds.

        Raises:
            Cancelled: `cancel` was used.
            ControlError: a congestion control written in Python failed.
            RunFailed: the run failed.
        """

    def collect(self) -> _core.Run:
        """The tables of the run, after `run`."""


class Engine(Protocol):
    """An engine."""

    @property
    def name(self) -> str:
        """The engine's name on the command line, in Python and in manifests."""

    @property
    def about(self) -> str:
        """A short description, such as ``the real kernel``."""

    @property
    def is_testbed(self) -> bool:
        """Whether the engine is a real system, which runs only testbed experiments of papers."""

    @property
    def options(self) -> Sequence[EngineOption]:
        """The engine's options in addition to those of every run."""

    def prepare(
        self,
        scenario: _core.Scenario,
        options: OptionValues,
        controls: Sequence[CustomControl] = (),
    ) -> AbstractContextManager[Job]:
        """Check that the engine can run a scenario; the context owns what the run needs.

        Args:
            scenario: the scenario to run.
            options: its own options.
            controls: congestion controls written in Python.

        Raises:
            ScenarioError: the engine cannot do what the scenario asks for.
            InputError: the engine lacks something on this machine.
        """

    def describe(self, options: OptionValues) -> str:
        """The engine with everything that its results depend on, for people.

        Raises:
            InputError: the engine lacks something on this machine.
        """

    def digest(self, options: OptionValues) -> str:
        """A digest of what its results depend on in addition to this package; empty if nothing.

        Raises:
            InputError: the engine lacks something on this machine.
        """

    def identity(self, scenario: _core.Scenario, options: OptionValues) -> str | None:
        """A text that identifies all dependencies of a run besides the scenario and this package.

        None if a second run may differ from the first, as in real time; such runs are not stored.

        Raises:
            InputError: the engine lacks something on this machine.
        """

    def doctor(self) -> list[Availability]:
        """Whether the engine works on this machine, for each of its places, the best first."""


@runtime_checkable
class CapturingEngine(Protocol):
    """An engine that can write captures of its packets."""

    def capture(
        self,
        scenario: _core.Scenario,
        options: OptionValues,
        folder: str,
        file_format: str,
        cancel: _core.Cancel,
    ) -> tuple[list[str], str]:
        """Run a scenario and write captures of both ends of its flows and both sides of its queues.

        Args:
            scenario: the scenario to run.
            options: its own options.
            folder: the folder for the files.
            file_format: ``pcapng``, ``pcap`` or, if the engine logs its senders, ``qlog``.
            cancel: stops the run.

        Returns:
            The files, and the digest of the run.

        Raises:
            InputError: the engine has no files of that format.
            ScenarioError: the engine cannot do what the scenario asks for.
            Cancelled: `cancel` was used.
            RunFailed: the run failed.
            OSError: a file cannot be written.
        """
