"""SVG for use inside a page: unique ids, and colours that follow the light and dark themes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sojourn.markup import drawing_in_html
from sojourn.plots import palette

if TYPE_CHECKING:
    from markupsafe import Markup

_VARIABLES = {
    palette.INK: "--ink",
    palette.MUTED: "--muted",
    palette.GRID: "--grid",
    palette.PAPER: "--paper",
    palette.LOSS: "--loss",
    palette.MARK: "--mark",
} | {colour: f"--series-{i}" for i, colour in enumerate(palette.PALETTE)}

_COLOUR = re.compile("|".join(_VARIABLES))
_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_NAMESPACES = re.compile(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"')
_SIZE = re.compile(r'<svg width="[^"]*" height="[^"]*"')
_LINKS = re.compile(r'xlink:href="#')


def inline_svg(
    svg: str, name: str, label: str = "", links: Mapping[str, str] | None = None
) -> Markup:
    """An SVG drawing as an element of an HTML page.

    Args:
        svg: the result of `style.svg`.
        name: unique within the page; ids and references get it as a prefix.
        label: what screen readers say of the drawing.
        links: files next to the page to which parts of the drawing link, with names for readers.
    """
    links = links or {}
    text = _METADATA.sub("", _HEAD.sub("", svg))
    head, rest = text.split(">", 1)
    role = f'<svg role="{"group" if links else "img"}"'
    role += f' aria-label="{html.escape(label)}"' if label else ""
    head = _NAMESPACES.sub("", _SIZE.sub(lambda _: role, head))
    text = _LINKS.sub('href="#', f"{head}>{rest}")
    for before in ('id="', 'href="#', "url(#"):
        text = text.replace(before, f"{before}{name}-")
    text = _COLOUR.sub(lambda found: f"var({_VARIABLES[found.group()]})", text)
    for link, words in links.items():
        text = text.replace(
            f'<a xlink:href="{link}"', f'<a aria-label="{html.escape(words)}" href="{link}"'
        )
    return drawing_in_html(text, links)
