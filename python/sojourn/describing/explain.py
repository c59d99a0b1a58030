"""Explanations of AQMs, congestion controls, TCPs, their parameters, and keys of a scenario."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sojourn import _core
from sojourn.describing import schema_keys
from sojourn.describing.formatting import show_value
from sojourn.describing.metric_table import MetricRow
from sojourn.describing.metrics import TABLE
from sojourn.describing.nearest import meant
from sojourn.errors import InputError, ScenarioError
from sojourn.loading.bring import bring, names_code

WIDTH = 80

Entry = dict[str, Any]
_ROLES = {
    "law": "AQM, law",
    "discipline": "AQM with its own discipline",
    "preset": "AQM, discipline with law",
    "cc": "congestion control",
}


def find(topic: str) -> list[tuple[Entry, Entry | None]]:
    """The entries of a topic, each with the parameter that was asked for, if any.

    Args:
        topic: ``pie``, ``pie.target``, ``target``, ``pie@linux``, ``fq(pie)`` or ``cubic``. If a
            dialect is named, the entry's key ``dialect`` holds it.

    Raises:
        InputError: nothing has that name; the nearest one is shown.
    """
    entries = _entries()
    name, param = _name_and_param(topic)
    named = [entry for entry in entries if entry["name"] == name] or _described(name)
    if named and not param:
        return [(entry, None) for entry in named]
    within, wanted = (named, param) if named else (entries, topic)
    found = [(e, p) for e in within for p in e["params"] if p["name"] == wanted]
    if found:
        return [(entry, p) for entry, p in found]
    raise InputError(_miss(topic, entries))


def explain(topic: str) -> str:
    """A topic as text of at most `WIDTH` columns: what `find` finds, a TCP, a metric, a key.

    Raises:
        InputError: see `find`.
    """
    key, metric = schema_keys.find(topic), _metric_of(topic)
    parts = [*([_key(key)] if key else []), *([_metric(metric)] if metric else [])]
    if not parts:
        found, tcp = _meant(topic)
        parts = [_entry(e) if p is None else _param(e, p) for e, p in found]
        parts += [_tcp(tcp)] if tcp else []
    return "\n\n".join(parts)


def declared(topic: str) -> list[Entry]:
    """The declarations behind `explain`, as `sojourn explain --json` shows them.

    Raises:
        InputError: see `find`.
    """
    key, metric = schema_keys.find(topic), _metric_of(topic)
    if key or metric:
        keys = [{"path": key.path, "required": key.required, "schema": key.schema}] if key else []
        return keys + ([asdict(metric)] if metric else [])
    found, tcp = _meant(topic)
    return [*(param or entry for entry, param in found), *([tcp] if tcp else [])]


def _metric_of(topic: str) -> MetricRow | None:
    """The metric of that name or key, such as ``queue/bottleneck/delay_p95``."""
    scope, _, name = topic.rpartition("/")
    row = TABLE.get(name)
    return row if row and scope.partition("/")[0] in ("", row.scope) else None


def _meant(topic: str) -> tuple[list[tuple[Entry, Entry | None]], Entry | None]:
    """The result of `find`, and the TCP profile of that name; `madpie` is an AQM and a TCP."""
    tcp = _tcps().get(topic)
    return ([] if tcp and not _is_entry(topic) else find(topic)), tcp


def _is_entry(topic: str) -> bool:
    """Whether an AQM or a congestion control has that name."""
    return any(entry["name"] == topic for entry in _entries())


@functools.cache
def _entries() -> list[Entry]:
    return [*_core.aqms(), *_core.ccs()]


def brief(entry: Entry) -> str:
    """An entry in one line."""
    return f"{entry['name']}: {entry['doc']}"


def _name_and_param(topic: str) -> tuple[str, str]:
    """Split ``pie.target`` at its dot, but not at dots in numbers, file endings or kernel names."""
    code = r"(.*\.(?:py|so|dylib)(?::\w+)?\)?)" if names_code(topic) else r"(.*?)"
    found = re.fullmatch(code + r"(?:\.([A-Za-z_]\w*))?", topic)
    return (found[1], found[2] or "") if found else (topic, "")


def _described(name: str) -> list[Entry]:
    """The AQM in ``pie@linux`` or ``fq(pie)``; none if the name has neither form.

    The registry's refusal of ``cake_mq`` explains it.
    """
    if not set("@(:") & set(name) and name != "cake_mq" and not names_code(name):
        return []
    try:
        brought = bring([name])
        return [_core.describe_aqm(text, brought.laws) for text in brought.aqms]
    except ScenarioError as error:
        raise InputError(str(error)) from None


def _miss(topic: str, entries: Iterable[Entry]) -> str:
    known = [e["name"] for e in entries]
    known += [f"{e['name']}.{p['name']}" for e in entries for p in e["params"]]
    known += sorted({p["name"] for e in entries for p in e["params"]})
    known += [*_tcps(), *TABLE, *schema_keys.keys()]
    of_kinds = [f"`{key.path}`" for key in schema_keys.of_kinds(topic)]
    near = f"; did you mean {' or '.join(of_kinds)}?" if of_kinds else ""
    near = near or meant(topic, known, cutoff=0.5) or ";"
    return (
        f"{topic}: no AQM, congestion control, TCP, parameter, metric or key of a scenario has "
        f"this name{near} `sojourn list aqms`, `ccs`, `tcps` and `metrics` list what is known, and "
        "`sojourn explain links` and `sojourn explain flows` begin with a scenario's keys"
    )


# Differences in decisions between kernels (crates/aqm/src/registry/kernels.rs).
_CODEL = "kernel"
_DIFFERING = {"codel": _CODEL, "fq_codel": _CODEL, "cake": "inverse_roots"}


def _entry(entry: Entry) -> str:
    dialects = [each["name"] for each in entry["dialects"]]
    dialect = entry.get("dialect") or dialects[0]
    lines = [f"{entry['name']}  ({_ROLES[entry['kind']]})", *_wrapped(entry["doc"], 2)]
    lines += ["", "dialects, the default first:"]
    lines += _columns([(f"@{d['name']}", d["doc"]) for d in entry["dialects"]])
    if entry.get("kernels"):
        lines += ["", *_wrapped(_kernels(entry), 0)]
    if entry["params"]:
        lines += ["", f"parameters, with the default of @{dialect}:"]
        lines += _columns(
            [
                (f"{p['name']} = {p['defaults'][dialect]}", p["doc"])
                for p in entry["params"]
                if not _is_idle(p, dialect)
            ]
        )
        lines += ["", f"more: sojourn explain {entry['name']}.{entry['params'][0]['name']}"]
    lines += _by_dialect(entry, [dialect] if entry.get("dialect") else dialects)
    if entry["vars"]:
        table = "flow_states" if entry["kind"] == "cc" else "states"
        lines += ["", f"state variables in table `{table}`:"]
        lines += _columns([(f"{v['name']} [{v['unit']}]", v["doc"]) for v in entry["vars"]])
    return "\n".join(lines)


def _kernels(entry: Entry) -> str:
    """The kernels that the dialect of an AQM may name."""
    named = [f"{word} ({release})" for word, release in entry["kernels"]]
    differing = _DIFFERING.get(entry["name"])
    differ = f"they differ in `{differing}`" if differing else "they decide alike"
    rest = "" if len(named) == 1 else f"; {differ}"
    return f"kernels as dialects: {', '.join(named)}, and linux for the newest{rest}"


def _by_dialect(entry: Entry, dialects: list[str]) -> list[str]:
    """Every default in every dialect, and other differences, with numbered sources."""
    if not entry["params"] and not entry["behaviours"]:
        return []
    sources: dict[str, int] = {}

    def cited(source: str) -> str:
        return f"[{sources.setdefault(source, len(sources) + 1)}]"

    lines = ["", "who says what (-: without effect in that dialect):"]
    lines += _defaults(entry["params"], dialects, cited)
    for behaviour in entry["behaviours"]:
        lines += ["", f"  {behaviour['name']}:"]
        lines += _columns(
            [
                (_named(names, dialects), f"{rule} {cited(source)}")
                for (rule, source), names in _alike(behaviour, dialects).items()
            ],
            indent=4,
        )
    lines += ["", "sources:"]
    lines += _columns([(f"[{number}]", source) for source, number in sources.items()])
    return lines


def _named(names: list[str], dialects: list[str]) -> str:
    """Some of the dialects, in short."""
    if len(dialects) > 1 and names == dialects:
        return "all"
    return ", ".join(f"@{name}" for name in names)


def _alike(behaviour: Entry, dialects: list[str]) -> dict[tuple[str, str], list[str]]:
    """The dialects that follow each rule."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in dialects:
        groups.setdefault((behaviour["rules"][name], behaviour["sources"][name]), []).append(name)
    return groups


def _defaults(params: list[Entry], dialects: list[str], cited: Any) -> list[str]:
    """The table of defaults, in parts that fit; the first dialect is in every part."""
    rows = {
        p["name"]: [
            "-" if _is_idle(p, d) else f"{p['defaults'][d]} {cited(p['sources'][d])}"
            for d in dialects
        ]
        for p in params
    }
    if not rows:
        return []
    label = max(map(len, rows))
    widths = [
        max(len(dialect) + 1, *(len(cells[i]) for cells in rows.values()))
        for i, dialect in enumerate(dialects)
    ]
    lines: list[str] = []
    for part in _parts(widths, WIDTH - label - 2):
        head = ["".ljust(label), *(f"@{dialects[i]}".ljust(widths[i]) for i in part)]
        lines += ["", ("  " + "  ".join(head)).rstrip()]
        for name, cells in rows.items():
            shown = [name.ljust(label), *(cells[i].ljust(widths[i]) for i in part)]
            lines.append(("  " + "  ".join(shown)).rstrip())
    return lines


def _is_idle(param: Entry, dialect: str) -> bool:
    """Whether the parameter has no effect in that dialect, which refuses it."""
    return dialect in param.get("without_effect", ())


def _parts(widths: list[int], available: int) -> list[list[int]]:
    """Which columns are shown side by side; the first is in every part."""
    parts: list[list[int]] = [[0]]
    used = widths[0] + 2
    for i in range(1, len(widths)):
        if len(parts[-1]) > 1 and used + widths[i] + 2 > available:
            parts.append([0])
            used = widths[0] + 2
        parts[-1].append(i)
        used += widths[i] + 2
    return parts


def _param(entry: Entry, param: Entry) -> str:
    name = entry["name"]
    values = " | ".join(param["words"]) or param["kind"]
    absent = f", or `{param['absent']}`" if param["absent"] else ""
    rule = "" if param["rule"] == "any value" else f"; {param['rule']}"
    first = param["defaults"][entry.get("dialect") or entry["dialects"][0]["name"]]
    dialects = [entry["dialect"]] if entry.get("dialect") else list(param["defaults"])
    longest = max(map(len, dialects))
    return "\n".join(
        [
            f"{name}.{param['name']}  ({values}{absent}{rule})",
            *_wrapped(param["doc"], 2),
            "",
            "default by dialect, with source:",
            *_columns(
                [
                    (f"@{d.ljust(longest)}  -", "has no effect there")
                    if _is_idle(param, d)
                    else (f"@{d.ljust(longest)}  {param['defaults'][d]}", param["sources"][d])
                    for d in dialects
                ]
            ),
            "",
            f"set it: {name}:{param['name']}={first}",
        ]
    )


@functools.cache
def _tcps() -> dict[str, Entry]:
    return {entry["name"]: entry for entry in _core.tcps()}


def _tcp(entry: Entry) -> str:
    rules = [(rule["name"], rule["value"]) for rule in entry["rules"]]
    lines = [f"{entry['name']}  (TCP)", *_wrapped(entry["doc"], 2), "", "rules:"]
    return "\n".join([*lines, *_columns(rules), "", f'set it: tcp = "{entry["name"]}"'])


def _metric(row: MetricRow) -> str:
    doc = re.sub(r"[;,]? \(?\[[^]]+\]\([^)]+\)\)?", "", row.doc)  # links of the page
    facts = [
        ("unit in tables", row.unit),
        ("better", row.better or f"neither: {row.why}"),
        ("over seeds", row.centre),
        ("equivalent", f"within {_margin(row)}"),
        ("verdict", "corrected with the headline family" if row.headline else "exploratory"),
    ]
    facts += [("written by", f"only sojourn {row.only}")] if row.only else []
    facts += [("not written", row.never)] if row.never else []
    lines = [f"{row.name}  (metric, {row.scope}, {row.kind})", *_wrapped(doc, 2), ""]
    return "\n".join([*lines, *_columns(facts)])


def _margin(row: MetricRow) -> str:
    """The margin of equivalence."""
    least = show_value(row.name, row.least, row.unit)
    if row.kind == "share":
        least = f"{100 * row.least:g} percentage point"
    if not row.relative:
        return least
    share = f"{row.relative:.0%} of the baseline"
    return f"{share} or {least}, the larger" if row.least else share


def _key(key: schema_keys.SchemaKey) -> str:
    lines = [*_wrapped(f"{key.path}  ({key.value})", 0), *_wrapped(key.doc, 2)]
    inner = schema_keys.below(key)
    if inner:
        last = [(k.path.rpartition(".")[2], k) for k in inner]
        lines += ["", "words:", *_columns([(name, f"({k.value}) {k.doc}") for name, k in last])]
        lines += ["", f"more: sojourn explain {inner[0].path}"]
    return "\n".join(lines)


def _wrapped(text: str, indent: int) -> list[str]:
    blank = " " * indent
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=blank,
        subsequent_indent=blank,
        break_on_hyphens=False,
    )


def _columns(rows: list[tuple[str, str]], indent: int = 2) -> list[str]:
    """Two columns, the second wrapped."""
    longest = min(34, max(len(left) for left, _ in rows))
    width = indent + longest + 2
    lines = []
    for left, right in rows:
        text = _wrapped(right, width)
        if text and len(left) <= longest:
            head = f"{' ' * indent}{left}".ljust(width)
            lines += [head + text[0][width:], *text[1:]]
        else:
            lines += [*_wrapped(left, indent), *text]
    return lines
