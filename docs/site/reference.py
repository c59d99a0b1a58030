"""Pages of the reference that are made from the command and from the package."""

from __future__ import annotations

import click

import sojourn
from sojourn.cli import sojourn as command

_MODULES = {
    "sojourn.law": "AQM laws in Python",
    "sojourn.control": "Congestion controls in Python",
    "sojourn.app": "Applications in Python",
    "sojourn.study": "Studies",
    "sojourn.search": "Searches",
    "sojourn.stability": "Stability",
    "sojourn.scenario": "Scenarios as dataclasses",
}


def pages() -> dict[str, str]:
    """Names and texts of the pages."""
    modules = {f"reference/{name}.md": _module(name, title) for name, title in _MODULES.items()}
    return {"reference/commands.md": _commands(), "reference/python.md": _package(), **modules}


def _commands() -> str:
    sections = "".join(_command("sojourn", command))
    return f"# Commands\n\nWhat `--help` says of each.\n\n{sections}"


def _command(name: str, what: click.Command) -> list[str]:
    """The section of a command and of those below it."""
    context = click.Context(what, info_name=name, terminal_width=90, max_content_width=90)
    sections = [f"## {name}\n\n```text\n{what.get_help(context)}\n```\n\n"]
    if isinstance(what, click.Group):
        for inner in what.list_commands(context):
            below = what.get_command(context, inner)
            assert below is not None, inner
            sections += _command(f"{name} {inner}", below)
    return sections


def _package() -> str:
    """The names of the package itself."""
    names = [name for name in sojourn.__all__ if not name.startswith("_")]
    lower = sorted(name for name in names if name[0].islower())
    others = sorted(name for name in names if name[0].isupper())
    blocks = [f"```{{eval-rst}}\n{_directive(name)}\n```\n" for name in [*lower, *others]]
    below = "\n".join(_MODULES)
    toctree = f"```{{toctree}}\n:hidden:\n\n{below}\n```\n"
    links = "".join(f"- [{title}]({name}.md): `{name}`\n" for name, title in _MODULES.items())
    return f"# The Python package\n\n{toctree}\n{''.join(blocks)}\n## Modules\n\n{links}"


def _directive(name: str) -> str:
    value = getattr(sojourn, name)
    if not isinstance(value, type):
        return f".. autofunction:: sojourn.{name}"
    members = "" if issubclass(value, Exception) else "\n   :members:"
    return f".. autoclass:: sojourn.{name}{members}"


def _module(name: str, title: str) -> str:
    # The dataclasses have fields such as `bytes`, which a type of another page must not point to.
    scenario = "   :undoc-members:\n   :no-index:\n" if name == "sojourn.scenario" else ""
    # It is shown where laws are.
    shared = "   :exclude-members: Random\n" if name == "sojourn.app" else ""
    options = f"   :members:\n{scenario}{shared}"
    return f"# {title}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}```\n"
