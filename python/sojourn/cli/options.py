"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from sojourn import _core, files
from sojourn.cli import console
from sojourn.describing.library import LARGEST_SEED, shipped
from sojourn.engines import registry
from sojourn.errors import not_empty
from sojourn.running.store import Store

SEED = click.IntRange(0, LARGEST_SEED)

F = TypeVar("F", bound=Callable[..., Any])

REPLACED = "Files of an earlier result there are replaced, other files stay."
"""The effect of ``--out`` on a folder that holds a result."""


class FilePath(click.Path):
    """A path, which must not be empty: `Path("")` would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path as `click.Path` reads it."""
        return super().convert(_not_empty(value, param), param, ctx)


class _Name(click.types.StringParamType):
    """A file, a store or a shipped name, unchanged; it must not be empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text."""
        return super().convert(_not_empty(value, param), param, ctx)


NAME = _Name()


def _not_empty(value: Any, param: click.Parameter | None) -> Any:
    if value != "":
        return value
    assert param is not None
    given = (
        param.opts[0]
        if isinstance(param, click.Option)
        else param.metavar or param.human_readable_name
    )
    not_empty(value, given, is_required=param.required)
    return value


def complete_scenario(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    """Shipped scenarios, and files."""
    names = [CompletionItem(name) for name in shipped() if name.startswith(start)]
    return [*names, CompletionItem(start, type="file")]


def complete_aqm(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    """Names of AQMs, also after a comma."""
    before, comma, last = start.rpartition(",")
    names = [aqm["name"] for aqm in _core.aqms() if aqm["name"].startswith(last)]
    return [CompletionItem(f"{before}{comma}{name}") for name in names]


def scenario_argument(function: F) -> F:
    """FILE: a scenario file or a shipped name."""
    return click.argument("file", type=NAME, shell_complete=complete_scenario)(function)


def seed_option(help_text: str) -> Callable[[F], F]:
    """--seed."""
    return click.option("--seed", type=SEED, metavar="N", help=help_text)


def distinct_keys(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """The values of a KEY=VALUE option, each key once."""
    given: dict[str, str] = {}
    for text in values:
        key, equals, value = text.partition("=")
        # `flows[0].rtt` and `flows.0.rtt` are the same key, and blanks do not count.
        place = key.replace("[", ".").replace("]", "").replace(" ", "")
        if equals and place in given:
            raise click.UsageError(
                f"{parameter.opts[0]} {key.strip()}: is given more than once ({given[place]}, "
                f"{value}); give it once."
            )
        given[place] = value
    return values


def set_option(function: F) -> F:
    """--set, any number of times."""
    return click.option(
        "--set",
        "sets",
        multiple=True,
        callback=distinct_keys,
        metavar="KEY=VALUE",
        help="Override the file: a dotted key and a value, such as "
        "links.bottleneck.queue.target=5ms. May be repeated.",
    )(function)


def out_option(help_text: str) -> Callable[[F], F]:
    """--out."""
    path = FilePath(path_type=Path)
    return click.option("--out", type=path, metavar="DIR", help=help_text)


def writing_to(folder: Path | None) -> None:
    """Create the folder of --out and lock it until the command has ended.

    Raises:
        InputError: it cannot be created or written, or another process writes to it.
    """
    click.get_current_context().with_resource(files.writing_to(folder))


def record_option(function: F) -> F:
    """--record, any number of times."""
    return click.option(
        "--record",
        multiple=True,
        type=click.Choice(("packets", "signals", "flows", "states")),
        help="Record this table too: every packet, every drop and mark with the AQM's state just "
        "before it, samples of flows, samples of queues. May be repeated.",
    )(function)


def json_option(function: F) -> F:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")(function)


def memory_option(function: F) -> F:
    """--memory."""
    return click.option(
        "--memory", metavar="SIZE",
        help="Memory that the runs may take, such as 32GB; by default what the machine has free.",
    )(function)  # fmt: skip


def store_option(function: F) -> F:
    """--fresh."""
    return click.option(
        "--fresh", is_flag=True,
        help="Do every run again. Otherwise one that was made before, with the same content, is "
        "taken from the store of runs.",
    )(function)  # fmt: skip


def aqm_option(function: F) -> F:
    """--aqm, a list, any number of times."""
    return click.option(
        "--aqm",
        "aqms",
        multiple=True,
        metavar="AQM[,AQM...]",
        shell_complete=complete_aqm,
        help="AQMs as kind[@dialect][:param=value,...], such as taildrop,pie:target=5ms,fq(codel), "
        "or custom laws, mine.py:MyLaw,fq(libmine.so); "
        "the first is the baseline. May be repeated. Needed unless engines are compared.",
    )(function)


def endpoint_option(function: F) -> F:
    """--endpoint, any number of times."""
    return click.option(
        "--endpoint", "endpoints", multiple=True, metavar="TRANSPORT=LIBRARY",
        help="Library for flows with this transport, such as quic=quinn or quic=quinn:cc=bbr. May "
        "be repeated.",
    )(function)  # fmt: skip


def link_option(function: F) -> F:
    """--link."""
    return click.option(
        "--link", metavar="NAME",
        help="Link that gets the AQM; by default the only one, or the one named bottleneck.",
    )(function)  # fmt: skip


def engine_option(note: str) -> Callable[[F], F]:
    """--engine.

    Args:
        note: the text after the list of engines in the help text.
    """
    engines = "; ".join(f"{engine.name}: {engine.about}" for engine in registry.declared())
    return click.option(
        "--engine", default=registry.NAMES[0], show_default=True,
        type=click.Choice(registry.NAMES), help=f"{engines}{note}",
    )  # fmt: skip


def engine_options(function: F) -> F:
    """The options of the engines; the function takes them as ``**options``."""
    path = FilePath(path_type=Path)
    for engine, option in reversed(registry.options()):
        function = click.option(
            f"--{option.name}", type=path if option.kind is Path else option.kind, multiple=True,
            callback=_once, metavar=option.metavar, help=f"Engine {engine}: {option.help}",
        )(function)  # fmt: skip
    return function


def _once(_context: click.Context, parameter: click.Parameter, values: tuple[Any, ...]) -> Any:
    """The value of an option that must not be repeated; click itself takes the last value."""
    if len(values) > 1:
        given = ", ".join(map(str, values))
        raise click.UsageError(
            f"--{parameter.name}: is given {len(values)} times ({given}); name one."
        )
    return values[0] if values else None


def store(fresh: bool) -> Store | None:
    """The store of runs, unless ``--fresh`` is given; problems with it are warnings."""
    return None if fresh else Store(report=lambda text: console.warn([text]))


def announce(out: Path | None) -> None:
    """Warn that an earlier result will be replaced."""
    if out is not None and files.holds_result(out):
        console.say(f"{out} holds an earlier result; its files will be replaced, its runs removed")
