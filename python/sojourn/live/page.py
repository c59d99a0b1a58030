"""The page's files, and the address that opens it with a scenario.

The part of the address behind ``#`` is the state of the page as ``web/src/url-state.ts`` reads it:
version, then compressed JSON in base64 for addresses.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

from sojourn import _core
from sojourn.errors import InputError
from sojourn.loading.bring import names_code

FOLDER = Path(__file__).parent / "page"
# The whole page in one file, which opens from disk.
ONE_FILE = "sojourn-live.html"

_STATE_VERSION = 1
_STATE_NAME = "sojourn-state"
_RAW_DEFLATE = -15
# The longest address that web/src/url-state.ts accepts.
_LONGEST = 60_000


def folder() -> Path:
    """The folder with the page's files.

    Raises:
        InputError: this installation was built without them.
    """
    if not (FOLDER / "sojourn.wasm").is_file():
        raise InputError(
            "the page is not part of this installation; in the source tree "
            "`make web-toolchain web` builds it, and `make demo` or `pip install .` adds it"
        )
    return FOLDER


def one_file(state: str = "") -> str:
    """The page in one file, which opens from disk without a server.

    Args:
        state: initial state, as for `fragment`, if its address has none; the page's default state
            by default.

    Raises:
        InputError: this installation was built without it.
    """
    text = (folder() / ONE_FILE).read_text(encoding="utf-8")
    if not state:
        return text
    # Read by web/src/main.ts. The characters of a state need no escaping.
    return text.replace("<head>", f'<head>\n    <meta name="{_STATE_NAME}" content="{state}" />', 1)


def fragment(text: str, aqms: Sequence[str], seed: int) -> str:
    """The part of an address that opens a scenario with two AQMs under a seed.

    Args:
        text: the scenario as TOML.
        aqms: the AQMs of both sides in their text form.
        seed: the seed.

    Raises:
        InputError: the scenario is too long for an address, or an AQM is a custom law.
        ScenarioError: an AQM is not legal.
    """
    for aqm in aqms:
        if names_code(aqm):
            raise InputError(f"{aqm}: the page has the AQMs of `sojourn list aqms`; name one")
        _core.check_aqm(aqm)
    state = {"text": text, "aqms": list(aqms), "seed": str(seed), "speed": "5", "changes": []}
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW_DEFLATE)
    packed = deflate.compress(json.dumps(state).encode()) + deflate.flush()
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(code) > _LONGEST:
        raise InputError("the scenario is too long for an address; drop its file on the page")
    return f"{_STATE_VERSION}.{code}"
