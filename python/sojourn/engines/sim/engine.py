"""The packet simulator as an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sojourn import _core
from sojourn.control import CustomControl
from sojourn.engines.protocol import Availability, Engine, OptionValues
from sojourn.engines.sim import DECLARED


class Simulator:
    """The packet simulator, which is in the compiled core."""

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
    ) -> Iterator[_SimulatorJob]:
        """A loaded scenario has been checked already."""
        yield _SimulatorJob(scenario, controls)

    def capture(
        self,
        scenario: _core.Scenario,
        _options: OptionValues,
        folder: str,
        file_format: str,
        cancel: _core.Cancel,
    ) -> tuple[list[str], str]:
        """Simulate a scenario and write its packets; see `CapturingEngine`."""
        return _core.capture(scenario, folder, file_format, cancel)

    def describe(self, _options: OptionValues) -> str:
        """The engine's name; pages and manifests show it with the version of the core."""
        return self.name

    def digest(self, _options: OptionValues) -> str:
        """Empty, because the simulator is part of this package."""
        return ""

    def identity(self, _scenario: _core.Scenario, options: OptionValues) -> str:
        """The same as `digest`, because every run can be repeated."""
        return self.digest(options)

    def doctor(self) -> list[Availability]:
        """This engine always works."""
        note = f"packet simulator, built in, version {_core.__version__}"
        return [Availability(self.name, True, note)]


class _SimulatorJob:
    def __init__(self, scenario: _core.Scenario, controls: Sequence[CustomControl]) -> None:
        self._scenario = scenario
        self._controls = list(controls)
        self._run: _core.Run | None = None

    def run(self, cancel: _core.Cancel) -> None:
        self._run = _core.run(self._scenario, cancel, self._controls)

    def collect(self) -> _core.Run:
        assert self._run is not None, "a job is collected after it has run"
        return self._run


ENGINE: Engine = Simulator()
