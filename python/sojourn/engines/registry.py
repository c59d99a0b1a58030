"""The engines by name. A new engine is a folder next to this file and its name in `NAMES`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from sojourn import _core
from sojourn.control import CustomControl
from sojourn.describing.arguments import in_order
from sojourn.engines.protocol import Declaration, Engine, EngineOption, OptionValues
from sojourn.errors import InputError

# The default comes first.
NAMES = ("sim", "linux", "ns3")


_RENAMED = {"on": "engine", "engines": "engine", "cc": "ccs", "app": "apps", "aqm": "aqms"}
"""Words often mistaken for an argument of `run` and similar calls, each with that argument."""


@dataclass(frozen=True)
class EngineSelection:
    """An engine to run with.

    Attributes:
        engine: the engine.
        options: values of its options.
        variant: names it where one engine occurs several times, such as by its kernel.
    """

    engine: Engine
    options: OptionValues = field(default_factory=dict)
    variant: str = ""

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def label(self) -> str:
        """The engine's name with its variant: ``linux 6.1``."""
        return f"{self.name} {self.variant}".rstrip()

    def run(
        self,
        scenario: _core.Scenario,
        cancel: _core.Cancel,
        controls: Sequence[CustomControl] = (),
    ) -> _core.Run:
        """Run a scenario; raises what `Engine.prepare` and `Job.run` do."""
        with self.engine.prepare(scenario, self.options, controls) as job:
            job.run(cancel)
            return job.collect()

    def identity(self, scenario: _core.Scenario) -> str | None:
        """The dependencies of a run, None if it cannot be repeated; see `Engine.identity`."""
        return self.engine.identity(scenario, self.options)

    def describe(self) -> str:
        """The engine with its version; see `Engine.describe`."""
        return self.engine.describe(self.options)

    def digest(self) -> str:
        """A digest of everything that the engine's results depend on; see `Engine.digest`."""
        return self.engine.digest(self.options)


EngineLike = str | EngineSelection | Sequence[str | EngineSelection]
"""One engine or several: ``"sim"``, ``"sim,linux"``, ``["sim", "linux"]``, or selections."""


def find(name: str) -> Engine:
    """An engine by name; its module is loaded when it is first needed.

    Raises:
        InputError: the engine does not exist.
    """
    if name not in NAMES:
        raise InputError(f"engine {name}: is unknown; known: {', '.join(NAMES)}")
    engine: Engine = import_module(f"sojourn.engines.{name}.engine").ENGINE
    return engine


def engines() -> list[Engine]:
    """Every engine, the default first."""
    return [find(name) for name in NAMES]


def declared() -> list[Declaration]:
    """The declarations of all engines, the default first, without loading an engine."""
    found: list[Declaration] = [import_module(f"sojourn.engines.{name}").DECLARED for name in NAMES]
    return found


def options() -> list[tuple[str, EngineOption]]:
    """Every option of an engine, with the name of that engine."""
    return [(engine.name, option) for engine in declared() for option in engine.options]


def select(engine: EngineLike, values: OptionValues | None = None) -> list[EngineSelection]:
    """Engines with their options.

    Args:
        engine: one or several.
        values: options by name; each goes to the engines that have it; None means not given.

    Raises:
        InputError: an engine does not exist or occurs twice, or an option fits none of them.
        TypeError: no engine has an option of that name.
    """
    if isinstance(engine, str):
        engine = engine.split(",")
    listed: list[str | EngineSelection]
    if isinstance(engine, EngineSelection):
        listed = [engine]
    else:
        listed = in_order("engine", engine, 'give a text such as "sim,linux"')
    found = [
        each if isinstance(each, EngineSelection) else EngineSelection(find(each))
        for each in listed
    ]
    names = [each for each in listed if isinstance(each, str)]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise InputError(f"engine {twice[0]}: is listed twice; name each engine once")
    given = {name: value for name, value in (values or {}).items() if value is not None}
    _check([each.engine for each in found], [*(values or {})], [*given])
    return [replace(each, options={**each.options, **_fitting(each, given)}) for each in found]


def select_variants(
    engine: EngineLike, values: OptionValues | None = None
) -> list[EngineSelection]:
    """Engines as contenders: an option such as ``6.1,7.2`` gives one for each of its values.

    Raises:
        InputError: as `select`, or a value is empty or occurs twice.
        TypeError: no engine has an option of that name.
    """
    found = select(engine, values)
    for option in dict.fromkeys(option for each in found for option in each.engine.options):
        found = [variant for each in found for variant in _split(each, option)]
    return found


def _split(selected: EngineSelection, option: EngineOption) -> list[EngineSelection]:
    """One selection for each value of an option, whose values are separated by commas."""
    given = selected.options.get(option.name)
    if option.name not in selected.options or not isinstance(given, str | Path):
        return [selected]
    texts = str(given).split(",")
    if len(texts) == 1 or Path(given).exists():
        return [replace(selected, options={**selected.options, option.name: option.kind(given)})]
    if "" in texts or len(set(texts)) < len(texts):
        raise InputError(f"--{option.name} {given}: name each once, separated by commas")
    return [
        replace(
            selected, variant=text, options={**selected.options, option.name: option.kind(text)}
        )
        for text in texts
    ]


def select_one(engine: EngineLike, values: OptionValues | None = None) -> EngineSelection:
    """The single engine; arguments and errors are those of `select`.

    Raises:
        InputError: several are named.
    """
    found = select(engine, values)
    if len(found) != 1:
        names = ", ".join(each.name for each in found)
        raise InputError(f"engine {names}: one engine is needed here; `compare` takes several")
    return found[0]


def _fitting(selected: EngineSelection, given: OptionValues) -> OptionValues:
    return {o.name: given[o.name] for o in selected.engine.options if o.name in given}


def _check(selected: Sequence[Engine], names: Sequence[str], given: Sequence[str]) -> None:
    """Refuse options that no engine has, and those of engines that are not selected."""
    owners = {option.name: (engine, option) for engine, option in options()} if names else {}
    for name in names:
        if name not in owners:
            hint = f"; it is `{_RENAMED[name]}`" if name in _RENAMED else ""
            raise TypeError(f"unknown argument or engine option `{name}`{hint}")
    fitting = {option.name for engine in selected for option in engine.options}
    for name in given:
        engine, option = owners[name]
        if name not in fitting:
            raise InputError(
                f"--{name}: only engine {engine} has {option.noun}; add --engine {engine}"
            )


DEFAULT = EngineSelection(find(NAMES[0]))
