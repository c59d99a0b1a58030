"""SVG for use inside a page: unique ids, and colours that follow the light and dark themes."""

from __future__ import annotations

import re
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


def inline_svg(svg: str, name: str) -> Markup:
    """An SVG drawing as an element of an HTML page.

    Args:
        svg: the result of `style.svg`.
        name: unique within the page; ids and references get it as a prefix.
    """
    text = _METADATA.sub("", _HEAD.sub("", svg))
    head, rest = text.split(">", 1)
    head = _NAMESPACES.sub("", _SIZE.sub('<svg role="img"', head))
    text = _LINKS.sub('href="#', f"{head}>{rest}")
    for before in ('id="', 'href="#', "url(#"):
        text = text.replace(before, f"{before}{name}-")
    text = _COLOUR.sub(lambda found: f"var({_VARIABLES[found.group()]})", text)
    return drawing_in_html(text)
