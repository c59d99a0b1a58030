"""Runs every code block of the pages, or checks it if it states why it does not run.

`make docs-test` sets SOJOURN_DOCS and runs the slow ones too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import doc_blocks
import excerpts
from doc_blocks import SLOW, Block, Page, blocks, check, pages

ALL = "SOJOURN_DOCS" in os.environ


def _name(path: Path) -> str:
    return path.relative_to(doc_blocks.ROOT).as_posix()


def _case(path: Path) -> object:
    """A page; if its commands run, its test takes seconds."""
    runs = any(
        b.language == "console" and b.how == "" and "$ sojourn" in b.text for b in blocks(path)
    )
    return pytest.param(path, id=_name(path), marks=[pytest.mark.slow] if runs else [])


@pytest.mark.parametrize("path", [_case(path) for path in pages()])
def test_the_blocks_of_a_page_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder in which `command` has put small.toml
    page = Page()
    for block in blocks(path):
        if block.how == SLOW and not ALL:
            page.skip(block)
        else:
            page.run(block)


def _block(language: str, how: str, text: str) -> Block:
    return Block("page.md", 1, language, how, text)


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (_block("console", "", "$ sojourn run traffic-mix --sed 3\n"), "No such option"),
        (_block("console", "slow", "$ sojourn rnu traffic-mix\n"), "No such command"),
        (_block("console", "", "$ make all\n"), "no target all"),
        (_block("console", "", "$ rm file\n"), "not a command of sojourn"),
        (_block("console", "", "sojourn run traffic-mix\n"), "no line begins"),
        (_block("console", "not run:", "$ make demo\n"), "REASON"),
        (_block("rust", "", "fn main() {}\n"), "not a command of sojourn"),
    ],
)
def test_a_wrong_block_is_found_with_its_place(block: Block, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check(block)


def test_a_line_of_a_page_that_is_no_longer_printed_is_found(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("SOJOURN_UPDATE", raising=False)
    monkeypatch.chdir(tmp_path)
    page = Page()
    page.run(_block("console", "", "$ sojourn explain codel.target\n"))
    line = "  @rfc8289  5ms  RFC 8289 §4.3"
    page.run(_block("text", "printed", f"{line}\n"))
    with pytest.raises(AssertionError, match="SOJOURN_UPDATE"):
        page.run(_block("text", "printed", f"{line.replace('5ms', '6ms')}\n"))


def test_an_excerpt_is_rewritten_by_the_words_before_its_numbers() -> None:
    printed = " metric      one    two\n delay [ms]  1.5    2.5\n rate        3      4\n"
    excerpt = " metric      one    two\n delay [ms]  1.0    2.0\n gone        7\n"
    assert excerpts.rewritten(excerpt, printed) == (
        " metric      one  two\n delay [ms]  1.5  2.5\n gone        7\n"
    )


def test_a_wrong_scenario_in_a_block_is_found() -> None:
    text = '[links.bottleneck]\nqueue = { kind = "codel", targt = "5ms" }\n'
    with pytest.raises(ValueError, match="targt"):
        check(_block("toml", "", text))
