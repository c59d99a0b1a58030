"""What an AQM, a congestion control or a parameter is, with defaults and sources."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable
from typing import Any

from sojourn import _core
from sojourn.errors import InputError

WIDTH = 100

Entry = dict[str, Any]
_ROLES = {
    "law": "AQM, law",
    "discipline": "AQM, discipline of its own kind",
    "preset": "AQM, discipline with law",
    "cc": "congestion control",
}


def find(topic: str) -> list[tuple[Entry, Entry | None]]:
    """What a topic is about: entries, each with the parameter that was asked for, if one was.

    Args:
        topic: ``pie``, ``pie.target``, ``target`` or ``cubic``.

    Raises:
        InputError: nothing has that name; the nearest one is shown.
    """
    entries = [*_core.aqms(), *_core.ccs()]
    name, _, param = topic.partition(".")
    named = [entry for entry in entries if entry["name"] == name]
    if named and not param:
        return [(entry, None) for entry in named]
    within, wanted = (named, param) if named else (entries, topic)
    found = [(e, p) for e in within for p in e["params"] if p["name"] == wanted]
    if found:
        return [(entry, p) for entry, p in found]
    raise InputError(_miss(topic, entries))


def explain(topic: str) -> str:
    """A topic as text of at most `WIDTH` columns.

    Raises:
        InputError: see `find`.
    """
    return "\n\n".join(_entry(e) if p is None else _param(e, p) for e, p in find(topic))


def brief(entry: Entry) -> str:
    """An entry in one line."""
    return f"{entry['name']}: {entry['doc']}"


def _miss(topic: str, entries: Iterable[Entry]) -> str:
    known = [e["name"] for e in entries]
    known += [f"{e['name']}.{p['name']}" for e in entries for p in e["params"]]
    known += sorted({p["name"] for e in entries for p in e["params"]})
    near = difflib.get_close_matches(topic, known, n=1, cutoff=0.5)
    meant = f"; did you mean `{near[0]}`?" if near else ";"
    return (
        f"{topic}: there is no AQM, congestion control or parameter of that name{meant} "
        "`sojourn list aqms` and `sojourn list ccs` show what there is"
    )


def _entry(entry: Entry) -> str:
    lines = [f"{entry['name']}  ({_ROLES[entry['kind']]})", *_wrapped(entry["doc"], 2)]
    if entry["dialects"]:
        lines += ["", "dialects, the default first:"]
        lines += _columns([(f"@{d['name']}", d["doc"]) for d in entry["dialects"]])
    if entry["params"]:
        lines += ["", "parameters, with the default of the first dialect:"]
        default = entry["dialects"][0]["name"]
        lines += _columns(
            [(f"{p['name']} = {p['defaults'][default]}", p["doc"]) for p in entry["params"]]
        )
        lines += ["", f"more: sojourn explain {entry['name']}.{entry['params'][0]['name']}"]
    if entry["vars"]:
        table = "flow_states" if entry["kind"] == "cc" else "states"
        lines += ["", f"state variables in table `{table}`:"]
        lines += _columns([(f"{v['name']} [{v['unit']}]", v["doc"]) for v in entry["vars"]])
    return "\n".join(lines)


def _param(entry: Entry, param: Entry) -> str:
    name = entry["name"]
    values = " | ".join(param["words"]) or param["kind"]
    absent = f", or `{param['absent']}`" if param["absent"] else ""
    rule = "" if param["rule"] == "any value" else f"; {param['rule']}"
    first = param["defaults"][entry["dialects"][0]["name"]]
    return "\n".join(
        [
            f"{name}.{param['name']}  ({values}{absent}{rule})",
            *_wrapped(param["doc"], 2),
            "",
            "default by dialect, with source:",
            *_columns(
                [
                    (f"@{dialect}  {param['defaults'][dialect]}", param["sources"][dialect])
                    for dialect in param["defaults"]
                ]
            ),
            "",
            f"set it: {name}:{param['name']}={first}",
        ]
    )


def _wrapped(text: str, indent: int) -> list[str]:
    blank = " " * indent
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=blank, subsequent_indent=blank
    )


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    """Two columns, the second wrapped."""
    width = min(34, max(len(left) for left, _ in rows)) + 4
    lines = []
    for left, right in rows:
        text = _wrapped(right, width)
        head = f"  {left}".ljust(width)
        fits = len(head) == width
        lines += [head + text[0][width:], *text[1:]] if text and fits else [head.rstrip(), *text]
    return lines
