"""The AQM of a link, as a resolved scenario describes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sojourn import _core
from sojourn.errors import InputError

# Links or flows of a scenario that a message or a table on the terminal names.
MOST_SHOWN = 20
_CAUSES = "Engine linux counts drops at a limit as those of the AQM: it cannot distinguish them."
_LONG_NUMBER = re.compile(r"\b[1-9]\d*\.\d{4,}")


def compared_link(links: Sequence[str]) -> str | None:
    """The link whose AQM is studied: the only one, or ``bottleneck``; None if neither exists."""
    if len(links) == 1:
        return links[0]
    return "bottleneck" if "bottleneck" in links else None


def framing_bytes(scenario: _core.Scenario, link: str) -> int:
    """The bytes of framing that a link adds to a packet."""
    import json

    from sojourn.describing.quantity import required

    links = json.loads(scenario.resolved_json())["links"]
    return round(next(required("B", it["framing"]).size for it in links if it["name"] == link))


def leaves(scenario: _core.Scenario) -> list[str]:
    """The leaf classes of all links, ``LINK.CLASS``, in the order of the scenario."""
    import json

    return [
        f"{link['name']}.{it['name']}"
        for link in json.loads(scenario.resolved_json())["links"]
        for it in link.get("scheduler", {}).get("classes", [])
        if "aqm" in it
    ]


def scope_of(scenario: _core.Scenario, scope: str, name: str) -> str:
    """The scope in table ``summary`` of a metric: a metric of queues may be of a leaf class.

    Args:
        scenario: the scenario.
        scope: the scope of the metric.
        name: the link, leaf class or traffic class.
    """
    return "leaf" if scope == "queue" and name not in scenario.links else scope


def queue_of(resolved: dict[str, Any], link: str) -> dict[str, Any]:
    """The queue of a link: kind, dialect, settings.

    Args:
        resolved: the resolved scenario.
        link: name of the link.
    """
    queue: dict[str, Any] = link_of(resolved, link)["queue"]
    return queue


def queue_line(link: Mapping[str, Any], aqm: str) -> str:
    """A link with its AQM, or with its classes and their AQMs.

    Args:
        link: the link, resolved.
        aqm: the AQM of its queue.
    """
    if "scheduler" not in link:
        return f"{link['name']}: {aqm}"
    scheduler = link["scheduler"]
    leaves = [f"{it['name']} {it['aqm']}" for it in scheduler["classes"] if "aqm" in it]
    return f"{link['name']}: {scheduler['kind']} ({', '.join(leaves)})"


def link_of(resolved: dict[str, Any], link: str) -> dict[str, Any]:
    """A link of a resolved scenario by its name."""
    (found,) = [each for each in resolved["links"] if each["name"] == link]
    return dict(found)


def left_out(
    resolved: dict[str, Any], link: str | None = None, engines: Iterable[str] = ()
) -> list[str]:
    """What the numbers of a link do not include or distinguish, one sentence each.

    Args:
        resolved: the resolved scenario.
        link: name of the link; all links by default.
        engines: names of the engines that ran.
    """
    is_of_kernel = resolved.get("engine", {}).get("linux", {}).get("bottleneck") == "kernel"
    causes = [_CAUSES] if is_of_kernel and "linux" in engines else []
    return causes + [
        f"Queue delay of {each['name']} leaves out the device below, which holds up to "
        f"{each['device']['limit']}; one-way delay and path RTT include it."
        for each in resolved.get("links", [])
        if each.get("device") and link in (None, each["name"])
    ]


def contradictions(effective: Iterable[dict[str, Any]], link: str | None = None) -> list[str]:
    """Values that the queue of a link uses in place of the scenario's, one text each.

    An interval that grows with the target of its tin is left out.

    Args:
        effective: the key ``effective`` of a manifest.
        link: name of the link; all links by default.
    """
    found = [it for it in effective if it["contradicts"] and link in (None, it["link"])]
    parts = {(it["link"], it["part"]) for it in found if it["name"] == "target"}
    return [
        " ".join(filter(None, (it["part"], it["name"], _distinct(it["value"], it["in_place_of"]))))
        + f" in place of {it['in_place_of']}"
        for it in found
        if it["name"] != "interval" or (it["link"], it["part"]) not in parts
    ]


def effective_lines(effective: Iterable[dict[str, Any]]) -> list[str]:
    """One sentence for each link whose queue follows Linux, or uses values other than written."""
    of_links: dict[str, list[dict[str, Any]]] = {}
    for value in effective:
        of_links.setdefault(value["link"], []).append(value)
    texts = {link: contradictions(values) for link, values in of_links.items()}
    linux = {link: linux_of(values, link) for link, values in of_links.items()}
    return [
        *(f"Queue of {link} decides as Linux {of}." for link, of in linux.items() if of),
        *(f"Queue of {link} uses {', '.join(found)}." for link, found in texts.items() if found),
    ]


def linux_of(effective: Iterable[dict[str, Any]], link: str | None) -> str:
    """The release of Linux that the queue of a link follows; empty if none."""
    named = (it["value"] for it in effective if it["name"] == "linux" and it["link"] == link)
    return next(named, "")


def _distinct(value: str, other: str) -> str:
    """The value in brief, or in full where both would read alike: ``19.999744ms``, not ``20ms``."""
    return brief(value) if brief(value) != brief(other) else value


def brief(text: str) -> str:
    """A number with its unit, cut to three digits after the point: ``21.863ms``."""
    return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.3f}".rstrip("0").rstrip("."), text)


def choose_link(scenario: _core.Scenario, link: str | None) -> str:
    """The link that gets the AQM: the one given, the only one, or ``bottleneck``.

    Raises:
        InputError: the link does not exist, or there are several and none was given.
    """
    links = scenario.links
    known = ", ".join(links[:MOST_SHOWN])
    if len(links) > MOST_SHOWN:
        known += f" and {len(links) - MOST_SHOWN:,} more"
    if link is not None and link not in links:
        raise InputError(f"--link {link}: {scenario.name} has no such link; it has {known}")
    if link is not None:
        return link
    if found := compared_link(links):
        return found
    raise InputError(
        f"{scenario.name} has the links {known}; name the one that gets the AQM by --link"
    )


def refuse_replaced(scenario: _core.Scenario, link: str) -> None:
    """Refuse overridden parameters of a queue that another AQM replaces; they would be lost.

    Raises:
        InputError: a parameter of the link's queue is overridden.
    """
    queue = f"links.{link}.queue"
    for key, value in scenario.sets:
        if key.startswith(f"{queue}.") or (key == queue and any(it in value for it in ":{")):
            raise InputError(
                f"--set {key}={value}: has no effect, since --aqm replaces the whole queue of "
                f"{link}; write parameters in --aqm, such as codel:target=5ms"
            )
