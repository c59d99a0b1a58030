"""The public interface as lines of text: what a release with the same major version keeps.

``SOJOURN_UPDATE=1 pytest tests/test_interface.py`` writes testdata/interface.txt.
"""

import importlib
import inspect
import json
import re
from pathlib import Path

import click

import sojourn
from sojourn import _core
from sojourn.cli.commands import COMMANDS
from sojourn.running.result import TABLES

ROOT = Path(__file__).parent.parent
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def lines():
    """Every line of the interface, part by part."""
    yield from ("# Command", *command_lines())
    yield from ("# Python", *python_lines())
    yield from ("# Scenario keys", *scenario_lines())
    yield from ("# Tables", *table_lines())
    yield from ("# C", *header_lines())


def command_lines():
    for name, entry in COMMANDS.items():
        command = getattr(importlib.import_module(f"sojourn.cli.{entry.module}"), entry.function)
        yield from lines_of_command(name, command)


def lines_of_command(name, command):
    for param in sorted(command.params, key=lambda param: str(param.name)):
        words = ", ".join([*param.opts, *param.secondary_opts])
        needed = " (required)" if param.required else ""
        choices = f" {'|'.join(map(str, param.type.choices))}" if has_choices(param) else ""
        yield f"sojourn {name} {words}{choices}{needed}"
    if isinstance(command, click.Group):
        for inner in sorted(command.commands):
            yield from lines_of_command(f"{name} {inner}", command.commands[inner])


def has_choices(param):
    return isinstance(param.type, click.Choice)


def python_lines():
    for name in sorted(sojourn.__all__):
        found = getattr(sojourn, name)
        if inspect.isclass(found):
            yield f"class {name}{signature(found)}"
            for member, value in sorted(vars(found).items()):
                if not member.startswith("_"):
                    yield f"  {name}.{member}{signature(value)}"
        elif callable(found):
            yield f"{name}{signature(found)}"
        else:
            yield f"{name}: {'module' if inspect.ismodule(found) else type(found).__name__}"


def signature(found):
    """The parameters of a callable; empty for anything else."""
    found = getattr(found, "__func__", found)
    try:
        return ADDRESS.sub("", str(inspect.signature(found))) if callable(found) else ""
    except ValueError:
        return ""


def scenario_lines():
    schema = json.loads((ROOT / "schema/scenario.schema.json").read_text(encoding="utf-8"))
    for place, of in [("", schema), *sorted(schema.get("$defs", {}).items())]:
        for key in keys_of(of):
            yield f"{place}.{key}".lstrip(".")


def keys_of(schema):
    """Keys of a table and of its forms, in the order of the alphabet."""
    found = set(schema.get("properties", {}))
    for form in (*schema.get("oneOf", []), *schema.get("anyOf", [])):
        found |= set(keys_of(form))
    return sorted(found)


def table_lines():
    for name in TABLES:
        for column in _core.Table.empty(name).columns():
            yield f"{name}.{column}"


def header_lines():
    text = (ROOT / "crates/capi/include/sojourn_aqm.h").read_text(encoding="utf-8")
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return [" ".join(line.split()) for line in plain.splitlines() if line.strip()]
