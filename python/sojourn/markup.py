"""Content of an HTML page other than plain text: data, programs, styles, drawings, its policy.

Templates escape plain text themselves; this is the only place that makes anything else safe, so no
template marks text as raw.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

# Only these make a parser leave a script element or change its state (HTML Standard §13.2.5.4 and
# §13.2.5.15), and JSON needs none of them outside strings.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
# The same for program text, in which the characters are also operators; HTML ignores case.
_LEAVES_SCRIPT = re.compile(r"<(?=/script|script|!--)", re.IGNORECASE)
# Comments in a drawing repeat its texts, which are drawn as paths.
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_ACTIVE = re.compile(
    r"<(?:script|foreignObject|iframe)\b|\son\w+\s*=|href\s*=\s*\"(?!#|data:image/png;)",
    re.IGNORECASE,
)


def json_in_html(value: Any) -> Markup:
    """Data as JSON that is safe in a ``<script>`` element, whatever its strings contain.

    Args:
        value: an argument of `json.dumps`; NaN and infinities are refused.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    from markupsafe import Markup

    return Markup(json.dumps(value, allow_nan=False).translate(_ESCAPES))


def script_in_html(program: str) -> Markup:
    r"""A trusted JavaScript program, made safe for a ``<script>`` element.

    ``</script``, ``<script`` and ``<!--`` can only occur in strings and regular expressions, where
    ``\x3c`` means the same.
    """
    from markupsafe import Markup

    return Markup(_LEAVES_SCRIPT.sub(r"\\x3c", program))


def style_in_html(css: str) -> Markup:
    """Our styles, made safe for a ``<style>`` element."""
    from markupsafe import Markup

    return Markup(css.replace("<", "\\3c "))


def drawing_in_html(svg: str, links: Iterable[str] = ()) -> Markup:
    """A drawing as an element of a page, with its texts escaped or, by matplotlib, as paths.

    Args:
        svg: the drawing.
        links: files next to the page to which it may link.

    Raises:
        ValueError: it has a script, an event handler, or an element that loads something.
    """
    from markupsafe import Markup

    text = _COMMENT.sub("", svg)
    allowed = {f'href="{link}"' for link in links}
    for tag in _TAG.findall(text):
        if (found := _ACTIVE.search(tag)) and not _is_link(tag, allowed):
            raise ValueError(f"a drawing has {found.group()!r}, which no page may hold")
    return Markup(text)


def _is_link(tag: str, allowed: Iterable[str]) -> bool:
    """Whether a tag would be inactive without one of the allowed links."""
    return any(link in tag and not _ACTIVE.search(tag.replace(link, "", 1)) for link in allowed)


def policy(programs: Iterable[str] = (), *more: str) -> str:
    """The content of a page's ``Content-Security-Policy``: no network, only scripts that we wrote.

    Styles are inline in every page, and drawings have style attributes.

    Args:
        programs: the content of the page's script elements, from `script_in_html`.
        more: further directives, and sources for ``script-src`` in quotation marks.
    """
    sources = [_hash(program) for program in programs]
    sources += [each for each in more if each.startswith("'")]
    rules = [
        "default-src 'none'",
        *([f"script-src {' '.join(sources)}"] if sources else []),
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        *(each for each in more if not each.startswith("'")),
    ]
    return "; ".join(rules)


def _hash(program: str) -> str:
    digest = hashlib.sha256(program.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
