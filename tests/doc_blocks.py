"""The code blocks of the pages, and how each kind of block is checked or run.

A block opens with its language, optionally followed by

- ``slow``: it takes more than about a second; `make docs-test` runs it, `make test` checks it,
- ``not run: REASON``: it cannot run here, and is only checked as far as possible.

A block ```text printed contains output of the commands before it; it is compared if they run, and
SOJOURN_UPDATE=1 rewrites it.

A block that is not run is checked for its syntax, a command for its options. Blocks of a page run
in order, in one folder and with one Python namespace. A complete scenario is written to a file of
its name for the commands that follow."""

from __future__ import annotations

import ast
import contextlib
import json
import linecache
import os
import re
import shlex
import sys
import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import excerpts
import sojourn
from sojourn import _core
from sojourn.cli import main
from sojourn.cli import sojourn as command
from sojourn.describing.library import shipped
from sojourn.search import attack_file, tune_file

ROOT = Path(__file__).parents[1]
SLOW, NOT_RUN, PRINTED = "slow", "not run: ", "printed"
_FENCE = re.compile(r"^```(\S+)[ ]?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_TARGETS = re.compile(r"^([a-z][a-z0-9-]*):", re.MULTILINE)

_FOREIGN = "is not a command of sojourn: say `not run: REASON` behind `console`"


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    page: str
    line: int
    language: str
    how: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        """Whether the block can run on this machine."""
        return not self.how.startswith(NOT_RUN)


def pages() -> list[Path]:
    """Every page with blocks."""
    own = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [path for path in [*own, *sorted((ROOT / "docs").rglob("*.md"))] if blocks(path)]


def blocks(path: Path) -> list[Block]:
    """The blocks of a page, without those of text and of the site's navigation."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    found = (
        Block(name, text[: m.start()].count("\n") + 1, m[1], m[2], m[3])
        for m in _FENCE.finditer(text)
    )
    shown = [b for b in found if b.language != "text" or b.how == PRINTED]
    return [block for block in shown if "{" not in block.language]


class Page:
    """Runs the blocks of one page, in the current folder."""

    def __init__(self) -> None:
        # A module with a file, from which Sojourn reads the source of a class.
        self.module = types.ModuleType("docs_page")
        self.file = Path("docs_page.py").resolve()
        self.module.__file__ = str(self.file)
        self.file.write_text("")
        sys.modules["docs_page"] = self.module
        # Output of the commands so far; None if the last were not run.
        self.printed: str | None = None

    def run(self, block: Block) -> None:
        """Run a block, or check it if it is marked as not run."""
        check(block)
        if block.language == "console":
            self.printed = None
        if not block.runs:
            return
        if block.language == "text":
            self._compare(block)
        if block.language == "toml":
            _write(block)
        if block.language == "python":
            self._execute(block.text)
        if block.language == "console":
            self.printed = "".join([_call(line, block) for line in _lines(block)])

    def skip(self, block: Block) -> None:
        """Check a slow block; the output after it is not compared."""
        check(block)
        self.printed = None

    def _compare(self, block: Block) -> None:
        if self.printed is None:
            return
        found = excerpts.rewritten(block.text, self.printed)
        if "SOJOURN_UPDATE" in os.environ:
            path = ROOT / block.page
            lines = path.read_text("utf-8").splitlines(keepends=True)
            lines[block.line : block.line + block.text.count("\n")] = [found]
            path.write_text("".join(lines), "utf-8")
            return
        assert found == block.text, (
            f"{block}: the commands before it print this (SOJOURN_UPDATE=1 writes it):\n{found}"
        )

    def _execute(self, text: str) -> None:
        before = self.file.read_text()
        self.file.write_text(before + text)
        linecache.checkcache(str(self.file))
        lines = "\n" * before.count("\n")
        exec(compile(lines + text, str(self.file), "exec"), vars(self.module))


def check(block: Block) -> None:
    """Check a block without running it."""
    ways = (PRINTED,) if block.language == "text" else ("", SLOW)
    known = block.how in ways or block.how.removeprefix(NOT_RUN) not in ("", block.how)
    assert known, f"{block}: `{block.how}`: write nothing, `slow`, or `not run: REASON`"
    checks = {
        "text": _check_nothing,
        "toml": _check_toml,
        "python": _check_python,
        "console": _check_console,
    }
    assert block.language in checks or not block.runs, f"{block}: {block.language} {_FOREIGN}"
    checks.get(block.language, _check_nothing)(block)


def _check_nothing(_block: Block) -> None:
    """Printed output is compared if its commands run."""


def _check_python(block: Block) -> None:
    ast.parse(block.text, str(block))


def _check_console(block: Block) -> None:
    for line in _lines(block):
        words = _words(line)
        if words[0] == "sojourn":
            _parse(words[1:], block)
        elif words[0] == "make":
            known = _TARGETS.findall((ROOT / "Makefile").read_text())
            unknown = [word for word in words[1:] if "=" not in word and word not in known]
            assert not unknown, f"{block}: the Makefile has no target {', '.join(unknown)}"
        else:
            assert not block.runs, f"{block}: `{words[0]}` {_FOREIGN}"


def _lines(block: Block) -> Iterator[str]:
    """The commands of a console block; lines without a prompt are their output."""
    text = block.text.replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.startswith("$ ")]
    assert lines, f"{block}: no line begins with `$ `"
    return (line[2:] for line in lines)


def _words(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    return words[: words.index(">")] if ">" in words else words


def _parse(words: list[str], block: Block) -> None:
    """Check that commands, options and their values exist."""
    what: click.Command = command
    with contextlib.ExitStack() as stack:
        context = None
        try:
            while isinstance(what, click.Group):
                context = what.make_context(what.name, list(words), parent=context)
                stack.enter_context(context.scope())
                rest = [*context._protected_args, *context.args]
                _, below, words = what.resolve_command(context, rest)
                assert below is not None
                what = below
            what.make_context(what.name, list(words), parent=context)
        except click.exceptions.Exit:
            pass  # --help
        except click.ClickException as error:
            raise AssertionError(f"{block}: {error.format_message()}") from error


def _call(line: str, block: Block) -> str:
    """Run a command; return its output."""
    words = _words(line)
    if words[0] == "make":
        return ""  # only its target is checked; `make test` and its own page cover the rest
    target = shlex.split(line, comments=True)
    out = Path(target[target.index(">") + 1]) if ">" in target else Path("stdout.txt")
    with out.open("w", encoding="utf-8") as stdout, contextlib.redirect_stdout(stdout):
        code = main(words[1:])
    assert code == 0, f"{block}: `{line}` ends with {code}"
    return out.read_text("utf-8")


def _check_toml(block: Block) -> None:
    document = tomllib.loads(block.text)
    if "axes" in document or "until" in document:
        _check_study(document)
    elif "goal" in document:
        tune_file.parse_tune(document)
    elif "worst" in document:
        attack_file.parse_attack(document)
    else:
        _core.Scenario.load(json.dumps(_completed(document)), format="json", origin=str(block))


def _check_study(document: Mapping[str, Any]) -> None:
    shipped_study = ROOT / "python" / "sojourn" / "study" / "shipped" / "aqm-load-rtt.toml"
    base = tomllib.loads(shipped_study.read_text())
    if "until" in document:
        del base["seeds"]
    sojourn.study.parse({**base, **document})


def _completed(part: Mapping[str, Any]) -> dict[str, Any]:
    """Complete a part of a scenario, as pages show it, with a shipped one."""
    base = tomllib.loads(shipped()["traffic-mix"].read_text())
    flows = part.get("flows", [])
    own_links = any("rate" in link for link in part.get("links", {}).values())
    if not own_links and "topology" not in part:
        links = {**base["links"]}
        for name, link in part.get("links", {}).items():
            rest = {**base["links"]["bottleneck"]}
            if "limit" in link.get("queue", {}):
                del rest["buffer"]  # which sets the limit too
            links[name] = {**rest, **link}
        part = {**part, "links": links}
    if any("path" in flow or "route" in flow for flow in flows):
        part = {**part, "flows": [{"name": f"flow{i}", **flow} for i, flow in enumerate(flows)]}
    elif not own_links or not flows:
        first = [{**base["flows"][0], **flow} for flow in flows] or base["flows"]
        part = {**part, "flows": first}
    return {"name": base["name"], "duration": base["duration"], **part}


def _write(block: Block) -> None:
    """Write a complete scenario to a file of its name."""
    name = tomllib.loads(block.text).get("name")
    if name is not None:
        Path(f"{name}.toml").write_text(block.text)
