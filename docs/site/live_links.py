"""Links that open the live page, which the site has under live/ where `make web` has built it."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping

from sojourn import _core
from sojourn.describing import aqm_list, library
from sojourn.live import page


def exists() -> bool:
    """Whether the page is built."""
    return (page.FOLDER / "sojourn.wasm").is_file()


def own_scenario(fence: str) -> dict[str, str]:
    """The file that a reader writes from a block that is a whole scenario: its name, its text.

    Args:
        fence: the block with its fences.
    """
    head, _, text = fence.removesuffix("```").partition("\n")
    name = tomllib.loads(text).get("name") if head == "```toml" else None
    return {} if name is None else {f"{name}.toml": text}


def after(fence: str, depth: int, own: Mapping[str, str]) -> str:
    """Links for the calls of `sojourn live` in a console block, as HTML behind it.

    Args:
        fence: the block with its fences.
        depth: how many folders its page is below the site's root.
        own: texts of the scenarios that the page has written so far, by the name of their file.
    """
    if not fence.startswith("```console") or not exists():
        return ""
    calls = [line[2:] for line in fence.splitlines() if line.startswith("$ sojourn live ")]
    addresses = [(call, _address(call, depth, own)) for call in calls]
    links = (f'<a href="{place}">Open <code>{call}</code> here</a>' for call, place in addresses)
    return "".join(f'\n\n<p class="live">{link}</p>' for link in links)


def _address(call: str, depth: int, own: Mapping[str, str]) -> str:
    words = shlex.split(call, comments=True)[2:]
    text = own.get(words[0])
    scenario = library.load(words[0]) if text is None else _core.Scenario.load(text)
    at = words.index("--aqm") + 1 if "--aqm" in words else None
    aqms = aqm_list.split(words[at] if at else "taildrop,codel")
    fragment = page.fragment(text or scenario.source, aqms, scenario.seed)
    return f"{'../' * depth}live/index.html#{fragment}"
