"""The AQM of a link, as a resolved scenario describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def compared_link(links: Sequence[str]) -> str | None:
    """The link whose AQM a run is about: the only one, or ``bottleneck``; None if neither is."""
    if len(links) == 1:
        return links[0]
    return "bottleneck" if "bottleneck" in links else None


def queue_of(resolved: dict[str, Any], link: str) -> dict[str, Any]:
    """The queue of a link: kind, dialect, settings.

    Args:
        resolved: the resolved scenario.
        link: name of the link.
    """
    (found,) = [each for each in resolved["links"] if each["name"] == link]
    queue: dict[str, Any] = found["queue"]
    return queue
