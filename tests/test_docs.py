"""Every code block of the pages runs, or is checked and says why it does not run.

`make docs-test` sets SOJOURN_DOCS and runs the slow ones too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import doc_blocks
from doc_blocks import SLOW, Block, Page, blocks, check, pages

ALL = "SOJOURN_DOCS" in os.environ


def _name(path: Path) -> str:
    return path.relative_to(doc_blocks.ROOT).as_posix()


def _case(path: Path) -> object:
    """A page; where its commands run, its test takes seconds."""
    runs = any(
        b.language == "console" and b.how == "" and "$ sojourn" in b.text for b in blocks(path)
    )
    return pytest.param(path, id=_name(path), marks=[pytest.mark.slow] if runs else [])


@pytest.mark.parametrize("path", [_case(path) for path in pages()])
def test_the_blocks_of_a_page_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command
) -> None:
    monkeypatch.chdir(tmp_path)  # where `command` has put small.toml
    page = Page()
    for block in blocks(path):
        if block.how == SLOW and not ALL:
            check(block)
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
        (_block("console", "", "$ rm file\n"), "no command of ours"),
        (_block("console", "", "sojourn run traffic-mix\n"), "no line begins"),
        (_block("console", "not run:", "$ make demo\n"), "REASON"),
        (_block("rust", "", "fn main() {}\n"), "no command of ours"),
    ],
)
def test_a_wrong_block_is_found_with_its_place(block: Block, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check(block)


def test_a_wrong_scenario_in_a_block_is_found() -> None:
    text = '[links.bottleneck]\nqueue = { kind = "codel", targt = "5ms" }\n'
    with pytest.raises(ValueError, match="targt"):
        check(_block("toml", "", text))
