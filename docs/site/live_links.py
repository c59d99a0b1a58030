"""Links that open the live page, which the site has under live/ where `make web` has built it."""

from __future__ import annotations

import shlex

from sojourn.describing import aqm_list, library
from sojourn.live import page


def exists() -> bool:
    """Whether the page is built."""
    return (page.FOLDER / "sojourn.wasm").is_file()


def after(fence: str, depth: int) -> str:
    """Links for the calls of `sojourn live` in a console block, as HTML behind it.

    Args:
        fence: the block with its fences.
        depth: how many folders its page is below the site's root.
    """
    if not fence.startswith("```console") or not exists():
        return ""
    calls = [line[2:] for line in fence.splitlines() if line.startswith("$ sojourn live ")]
    links = (
        f'<a href="{_address(call, depth)}">Open <code>{call}</code> here</a>' for call in calls
    )
    return "".join(f'\n\n<p class="live">{link}</p>' for link in links)


def _address(call: str, depth: int) -> str:
    words = shlex.split(call, comments=True)[2:]
    scenario = library.load(words[0])
    at = words.index("--aqm") + 1 if "--aqm" in words else None
    aqms = aqm_list.split(words[at] if at else "taildrop,codel")
    return f"{'../' * depth}live/index.html#{page.fragment(scenario.source, aqms, scenario.seed)}"
