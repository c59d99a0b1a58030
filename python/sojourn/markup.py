"""Text and data inside HTML pages: the one place that escapes what a script element holds."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

# Only these let a parser leave a script element or change its state (HTML Standard §13.2.5.4 and
# §13.2.5.15), and JSON needs none of them outside strings.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
# The same for program text, where the characters are operators too; HTML ignores their case.
_LEAVES_SCRIPT = re.compile(r"<(?=/script|script|!--)", re.IGNORECASE)


def json_in_html(value: Any) -> Markup:
    """Data as JSON that may stand in a ``<script>`` element, whatever its strings contain.

    Args:
        value: what `json.dumps` takes; NaN and infinities are refused.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    from markupsafe import Markup

    return Markup(json.dumps(value, allow_nan=False).translate(_ESCAPES))


def script_in_html(program: str) -> Markup:
    r"""A JavaScript program of ours or of a library that may stand in a ``<script>`` element.

    ``</script``, ``<script`` and ``<!--`` can only stand in strings and regular expressions, where
    ``\x3c`` means the same.
    """
    from markupsafe import Markup

    return Markup(_LEAVES_SCRIPT.sub(r"\\x3c", program))
