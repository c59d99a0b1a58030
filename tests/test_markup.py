"""Script elements of a page contain only data and programs, whatever their text."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from sojourn.markup import drawing_in_html, json_in_html, script_in_html

HOSTILE = (
    "</script>",
    "</SCRIPT >",
    "</ScRiPt\n>",
    "<!--<script>",
    "]]>",
    "&lt;",
    "\u2028",
    "'\"\\",
)


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def elements(page: str) -> list[str]:
    parser = Elements()
    parser.feed(page)
    return parser.found


@pytest.mark.parametrize("text", HOSTILE)
def test_no_string_in_data_ends_the_script_and_all_come_back(text: str) -> None:
    data = {text: [text, 1.5, None]}
    held = json_in_html(data)
    assert json.loads(held) == data
    assert elements(f"<script>const x = {held};</script><b>") == ["script", "b"]
    assert not {"<", ">", "&"} & set(held)


def test_a_program_keeps_its_operators_and_ends_no_element() -> None:
    held = script_in_html('if (a < b && c > d) s = "</SCRIPT><!--";')
    assert held == 'if (a < b && c > d) s = "\\x3c/SCRIPT>\\x3c!--";'
    assert elements(f"<script>{held}</script><b>") == ["script", "b"]


def test_numbers_that_json_has_not_are_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_in_html([float("nan")])


def test_a_drawing_may_link_only_to_the_files_that_are_named():
    linked = '<svg><a aria-label="a point" href="point-1.svg"><path/></a></svg>'
    assert drawing_in_html(linked, ["point-1.svg"]) == linked
    for other in (["point-2.svg"], []):
        with pytest.raises(ValueError, match="which no page may hold"):
            drawing_in_html(linked, other)
    active = linked.replace("<a ", '<a onclick="a()" ')
    with pytest.raises(ValueError, match="onclick"):
        drawing_in_html(active, ["point-1.svg"])
