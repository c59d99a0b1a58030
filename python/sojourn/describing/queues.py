"""The AQM of a link, as a resolved scenario describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn import _core
from sojourn.errors import InputError


def compared_link(links: Sequence[str]) -> str | None:
    """The link whose AQM is studied: the only one, or ``bottleneck``; None if neither exists."""
    if len(links) == 1:
        return links[0]
    return "bottleneck" if "bottleneck" in links else None


def queue_of(resolved: dict[str, Any], link: str) -> dict[str, Any]:
    """The queue of a link: kind, dialect, settings.

    Args:
        resolved: the resolved scenario.
        link: name of the link.
    """
    queue: dict[str, Any] = link_of(resolved, link)["queue"]
    return queue


def link_of(resolved: dict[str, Any], link: str) -> dict[str, Any]:
    """A link of a resolved scenario by its name."""
    (found,) = [each for each in resolved["links"] if each["name"] == link]
    return dict(found)


def left_out(resolved: dict[str, Any], link: str | None = None) -> list[str]:
    """Queues that the queue delay of a link does not include, one sentence each.

    Args:
        resolved: the resolved scenario.
        link: name of the link; all links by default.
    """
    return [
        f"Queue delay of {each['name']} leaves out the device below, which holds up to "
        f"{each['device']['limit']}; one-way delay and path RTT include it."
        for each in resolved.get("links", [])
        if each.get("device") and link in (None, each["name"])
    ]


def choose_link(scenario: _core.Scenario, link: str | None) -> str:
    """The link that gets the AQM: the one given, the only one, or ``bottleneck``.

    Raises:
        InputError: the link does not exist, or there are several and none was given.
    """
    links = scenario.links
    known = ", ".join(links)
    if link is not None and link not in links:
        raise InputError(f"--link {link}: {scenario.name} has no such link; it has {known}")
    if link is not None:
        return link
    if found := compared_link(links):
        return found
    raise InputError(f"{scenario.name} has the links {known}; say with --link which gets the AQM")
