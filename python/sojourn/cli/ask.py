"""The commands that show information: list, explain, validate, doctor, completion."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from sojourn import _core
from sojourn.cli import console, once, options
from sojourn.describing.formatting import counted
from sojourn.describing.library import describe, load, parse_set, shipped
from sojourn.describing.metrics import TABLE
from sojourn.describing.queues import MOST_SHOWN, queue_line
from sojourn.reading import shown

_DECLARED = {"aqms": _core.aqms, "ccs": _core.ccs, "tcps": _core.tcps}
_WHAT = (*_DECLARED, "metrics", "scenarios", "plots")


@once.command(
    "list",
    epilog="""\b
Examples:
  sojourn list aqms
  sojourn list scenarios --json
""",
)
@click.argument("what", type=click.Choice(_WHAT))
@options.json_option
def show_list(what: str, as_json: bool) -> int:
    """List what there is: AQMs, congestion controls, TCPs, metrics, shipped scenarios, figures."""
    if what in _DECLARED:
        entries = _DECLARED[what]()
        lines = {entry["name"]: entry["doc"] for entry in entries}
    elif what == "scenarios":
        lines = {name: describe(path) for name, path in shipped().items()}
        entries = [{"name": n, "doc": lines[n], "file": str(p)} for n, p in shipped().items()]
    elif what == "metrics":
        lines = {row.name: f"{row.label} ({row.scope})" for row in TABLE.values()}
        entries = [asdict(row) for row in TABLE.values()]
    else:
        from sojourn.plots import KINDS

        lines = KINDS
        entries = [{"name": name, "doc": doc} for name, doc in KINDS.items()]
    if as_json:
        console.show_json(entries)
    else:
        width = max(map(len, lines))
        for name, doc in lines.items():
            print(f"{name:<{width}} {doc}")
    return 0


@once.command(
    epilog="""\b
Examples:
  sojourn explain pie
  sojourn explain pie.target
  sojourn explain cubic
  sojourn explain delay_p95
  sojourn explain links.rate
"""
)
@click.argument("topic")
@options.json_option
def explain(topic: str, as_json: bool) -> int:
    """Explain an AQM, a congestion control, a TCP, a parameter, a metric or a scenario's key."""
    from sojourn.describing import explain as explaining

    if as_json:
        console.show_json(explaining.declared(topic))
    else:
        print(explaining.explain(topic))
    return 0


@once.command(
    epilog="""\b
Examples:
  sojourn validate demo.toml
  sojourn validate demo.toml --set links.bottleneck.rate=20mbit --json
"""
)
@options.scenario_argument
@options.set_option
@options.json_option
def validate(file: str, sets: tuple[str, ...], as_json: bool) -> int:
    """Check a scenario without running it, and show what its AQMs make of their parameters.

    --json shows the scenario with every default filled in, and these values as `effective`.
    """
    scenario = load(file, [parse_set(text) for text in sets])
    console.warn(scenario.warnings)
    effective = json.loads(scenario.effective_json())
    resolved = json.loads(scenario.resolved_json())
    if as_json:
        console.show_json(resolved | {"effective": effective})
    else:
        links = resolved["links"]
        shown_links = links[:MOST_SHOWN]
        queues = ", ".join(queue_line(it, scenario.queue(it["name"])) for it in shown_links)
        if len(links) > MOST_SHOWN:
            queues += f" and {len(links) - MOST_SHOWN:,} more"
        print(f"{shown(file)}: valid; {scenario.name}, {scenario.duration_s:g} s, {queues}")
        if scenario.has_topology:
            _print_generated(resolved)
        _print_effective(effective)
    return 0


def _print_generated(resolved: dict[str, Any]) -> None:
    """The contents of a topology: the number of links, and the path of every group of flows."""
    links, flows = resolved["links"], resolved["flows"]
    print(f"topology: {counted(len(links), 'link')}, {counted(len(flows), 'group')} of flows")
    for group in flows[:MOST_SHOWN]:
        back = f"; back {' '.join(group['reverse'])}" if group.get("reverse") else ""
        print(f"  {group['name']} ({group['count']}): {' '.join(group['path'])}{back}")
    if len(flows) > MOST_SHOWN:
        print(f"  and {len(flows) - MOST_SHOWN:,} more; --json shows all")


def _print_effective(effective: list[dict[str, Any]]) -> None:
    """Print the values in use, one per line, in aligned columns."""
    rows = [("link", "value", "in use", "in place of")] if effective else []
    for value in effective:
        name = f"{value['part']} {value['name']}".strip()
        rows.append((value["link"], name, value["value"], value["in_place_of"] or ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


@once.command(
    epilog="""\b
Example:
  sojourn doctor
"""
)
@options.json_option
def doctor(as_json: bool) -> int:
    """Say what this machine offers, what is missing, and how to install it."""
    from sojourn.running.doctor import examine

    checks = examine()
    if as_json:
        console.show_json([vars(check) for check in checks])
    else:
        for check in checks:
            print(f"{check.state:<8} {check.name:<14} {check.found}")
            if check.remedy:
                print(f"{'':<8} {'':<14} remedy: {check.remedy}")
    return 1 if any(check.state == "missing" for check in checks) else 0


@once.command(
    epilog="""\b
Examples:
  sojourn completion bash >> ~/.bashrc
  sojourn completion zsh >> ~/.zshrc
  sojourn completion fish > ~/.config/fish/completions/sojourn.fish
"""
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Write the completion script of a shell to stdout."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows bash, zsh and fish"
    root = context.find_root().command
    print(kind(root, {}, "sojourn", "_SOJOURN_COMPLETE").source())
    return 0
