"""ns-3 as an engine: a compiled runner, which reads the plan that the core writes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sojourn import _core
from sojourn.control import CustomControl
from sojourn.engines import child
from sojourn.engines.ns3 import DECLARED, runner
from sojourn.engines.protocol import Availability, Engine, OptionValues
from sojourn.errors import InputError, RunFailed

TEXT = "run.txt"
_CAPTURED = (
    "Sojourn, engine ns3: real packets of ns-3, cut after 80 bytes; its TCP sends no MSS option, "
    "which Wireshark reports"
)


class Ns3:
    """The simulator ns-3: its links and TCP, our AQMs or its own queue discs."""

    name = DECLARED.name
    about = DECLARED.about
    options = DECLARED.options
    is_testbed = False

    @contextmanager
    def prepare(
        self,
        scenario: _core.Scenario,
        _options: OptionValues,
        controls: Sequence[CustomControl] = (),
    ) -> Iterator[_Ns3Job]:
        """Translate the scenario, find the runner, create a scratch folder.

        Raises:
            ScenarioError: ns-3, or this engine, cannot do what the scenario asks for.
            InputError: the runner is not built.
        """
        with self._prepared(scenario, controls) as job:
            yield job

    def capture(
        self,
        scenario: _core.Scenario,
        _options: OptionValues,
        folder: str,
        file_format: str,
        cancel: _core.Cancel,
    ) -> tuple[list[str], str]:
        """Run a scenario and write the packets of ns-3; see `CapturingEngine`."""
        with self._prepared(scenario, captures=True) as job:
            job.run(cancel)
            digest = job.collect().digest
            return job.write_captures(folder, file_format), digest

    @contextmanager
    def _prepared(
        self,
        scenario: _core.Scenario,
        controls: Sequence[CustomControl] = (),
        *,
        captures: bool = False,
    ) -> Iterator[_Ns3Job]:
        if controls:
            raise InputError("cc: engine ns3 runs ns-3's own congestion controls")
        if scenario.app_sources:
            raise InputError("app: engine ns3 has bulk data, files and datagrams; use engine sim")
        plan, text = _core.ns3_plan(scenario, captures)
        found = runner.require()
        with child.scratch() as folder:
            yield _Ns3Job(scenario, found, plan, text, folder)

    def describe(self, _options: OptionValues) -> str:
        """The engine with ns-3's version."""
        return f"{self.name}, ns-3 {runner.require().ns3}"

    def digest(self, _options: OptionValues) -> str:
        """The digest of the runner's sources, ns-3's version included."""
        return runner.require().sources

    def identity(self, _scenario: _core.Scenario, options: OptionValues) -> str:
        """The same as `digest`, because every run can be repeated."""
        return self.digest(options)

    def doctor(self) -> list[Availability]:
        """Whether its runner is built."""
        if not sys.platform.startswith("linux"):
            return [Availability(self.name, False, "the engine ns3 needs Linux")]
        found = runner.find()
        if found is not None:
            return [Availability(self.name, True, f"ns-3 {found.ns3}, runner built")]
        try:
            place = runner.prefix()
            note = "ns-3 is here, its runner is not built" if place else "ns-3 is not here"
        except InputError as error:
            note = str(error)
        return [Availability(self.name, False, note, "sojourn ns3 build")]


class _Ns3Job:
    def __init__(
        self, scenario: _core.Scenario, found: runner.Runner, plan: str, text: str,
        folder: child.Folder,
    ) -> None:  # fmt: skip
        self._scenario, self._runner, self._plan, self._text = scenario, found, plan, text
        self._folder = folder
        self._took_s = 0.0

    def run(self, cancel: _core.Cancel) -> None:
        shared = self._folder.shared
        (shared / TEXT).write_text(self._text)
        began = time.monotonic()
        command = [str(self._runner.path), str(shared / TEXT), str(shared)]
        child.carry_out(command, self._folder, self._plan, cancel, "run of ns-3")
        self._took_s = time.monotonic() - began

    def collect(self) -> _core.Run:
        shared = str(self._folder.shared)
        return _core.ns3_collect(self._scenario, self._plan, shared, self._runner.ns3, self._took_s)

    def write_captures(self, folder: str, file_format: str) -> list[str]:
        shared = str(self._folder.shared)
        try:
            return _core.write_captures(
                self._scenario, self._plan, shared, folder, file_format, _CAPTURED
            )
        except ValueError as error:
            raise RunFailed(str(error)) from error


ENGINE: Engine = Ns3()
