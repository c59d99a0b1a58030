"""The links of a scenario as commands of tc, or as OpenWrt's SQM."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sojourn import _core
from sojourn.describing.quantity import required
from sojourn.errors import InputError

# Congestion controls of the mainline kernel that the simulator has too.
_CONTROLS = ("reno", "cubic", "bbr", "dctcp")
_DOWN = ("down", "download", "ingress")

Framing = tuple[int, int, str]
Policer = tuple[int, int] | None
Link = tuple[str, bool, int, tuple[int, bool] | None, Framing, str, str | None, Policer]


def exported(
    scenario: _core.Scenario,
    device: str,
    *,
    link: str | None = None,
    kernel: str | None = None,
    uci: bool = False,
) -> tuple[list[str], list[str]]:
    """Commands that set up the links of a scenario, and warnings.

    Args:
        scenario: the scenario to export; a link ``down`` becomes the ifb of the device's ingress.
        device: the device that gets the disciplines.
        link: the only link to export, as the device's egress; by default ``up`` and ``down``, or
            the only link.
        kernel: Linux release, such as ``6.1``, that must have the disciplines.
        uci: whether to write lines of ``/etc/config/sqm``.

    Raises:
        InputError: a link cannot be expressed in commands, or the names do not identify it.
        ScenarioError: tc has no option for a parameter, or the kernel lacks a discipline.
    """
    found = {entry["name"]: entry for entry in json.loads(scenario.resolved_json())["links"]}
    chosen = _chosen(list(found), link)
    links = [_link(scenario, found[name], device, arrives) for name, arrives in chosen]
    commands, warnings = _core.tc_export(links, _release(kernel), uci)
    warnings.extend(_path_of(found[name]) for name, _ in chosen if _has_wire(found[name]))
    return commands, warnings


def senders(scenario: _core.Scenario) -> list[str]:
    """Comments with the settings of hosts that send like the scenario's TCP flows."""
    groups: dict[str, list[str]] = {}
    for flow in json.loads(scenario.resolved_json())["flows"]:
        tcp = flow["app"].get("tcp")
        if tcp is None or tcp["tcp"] != "linux" or tcp["accecn"]:
            continue
        control = tcp["cc"] or "cubic"
        if control not in _CONTROLS:
            continue
        # Linux ip-sysctl: tcp_ecn 1 requests ECN, 2 (the default) accepts it.
        ecn = 1 if tcp["ecn"] else 2
        words = f"net.ipv4.tcp_congestion_control={control} net.ipv4.tcp_ecn={ecn}"
        groups.setdefault(words, []).append(flow["name"])
    return [
        f"# on hosts that send {', '.join(dict.fromkeys(names))}: sysctl -w {words}"
        for words, names in groups.items()
    ]


def _chosen(names: list[str], link: str | None) -> list[tuple[str, bool]]:
    if link is not None:
        if link not in names:
            raise InputError(f"--link {link}: the scenario has {', '.join(names)}")
        return [(link, False)]
    if len(names) == 1:
        return [(names[0], names[0] in _DOWN)]
    both = [(name, name in _DOWN) for name in names if name in ("up", *_DOWN)]
    if len(both) != len(names) or len({arrives for _, arrives in both}) != len(both):
        raise InputError(
            f"the scenario has the links {', '.join(names)}, and only `up` and `down` say which "
            f"way they face; choose one with --link {names[0]}"
        )
    return sorted(both, key=lambda pair: pair[1])


def _has_wire(entry: Mapping[str, Any]) -> bool:
    keys = ("jitter", "loss", "duplicate", "reorder", "corrupt")
    return entry["delay"] != "0s" or any(entry.get(key) for key in keys)


def _path_of(entry: Mapping[str, Any]) -> str:
    """What the path does to packets, as options of a netem on another device."""
    first, left = _delay(entry["delay"], entry["jitter"])
    words = [first]
    if loss := entry["loss"]:
        model = _loss(loss)
        words.append(model)
        left.extend([] if model else ["loss"])
    for key in ("duplicate", "corrupt", "reorder"):
        if happens := entry.get(key):
            shares = [happens["rate"], happens.get("correlation", 0)]
            words.append(f"{key} " + " ".join(_percent(share) for share in shares if share))
            words.append(f"gap {happens['gap']}" if happens.get("gap", 1) > 1 else "")
    text = f"what the path of {entry['name']} does to packets is not exported"
    options = " ".join(word for word in words if word)
    if options:
        text += f"; for a device of the path: netem {options}"
    if left:
        text += f" (netem has no such {' and '.join(left)})"
    return text


def _delay(delay: Any, jitter: Mapping[str, Any] | None) -> tuple[str, list[str]]:
    """The words of netem for delay and jitter, and the keys that have none."""
    if isinstance(delay, Mapping) and len(delay["steps"]) == 1:
        delay = delay["steps"][0][1]
    if not isinstance(delay, str):
        return "", ["delay", *(["jitter"] if jitter else [])]
    plain = f"delay {delay}" if delay != "0s" else ""
    if not jitter:
        return plain, []
    least = required("delay", delay).size
    # netem delivers packets by their times, so it reorders them.
    match jitter:
        case {"kind": "uniform", "reorder": True, "max": most}:
            half = required("max", most).size / 2
            return f"delay {_us(least + half)} {_us(half)}", []
        case {"kind": "netem", "reorder": True, "distribution": name, **more}:
            mean, deviation = (required(key, more[key]).size for key in ("mean", "deviation"))
            shape = "" if name == "uniform" else f" distribution {name}"
            return f"delay {_us(least + mean)} {_us(deviation)}{shape}", []
    return plain, ["jitter"]


def _us(seconds: float) -> str:
    return f"{round(seconds * 1e6)}us"


def _loss(loss: Mapping[str, Any]) -> str:
    """The words of netem for a loss model, empty if it has none."""
    match loss["kind"]:
        case "bernoulli":
            shares = [loss["rate"], loss.get("correlation", 0)]
            return "loss " + " ".join(_percent(share) for share in shares if share)
        case "gilbert-elliott":
            shares = [loss[key] for key in ("enter", "leave", "bad", "good")]
            return "loss gemodel " + " ".join(map(_percent, shares))
        case "four-state":
            shares = [loss[key] for key in ("p13", "p31", "p32", "p23", "p14")]
            return "loss state " + " ".join(map(_percent, shares))
    return ""


def _percent(share: float) -> str:
    return f"{100 * share:.9g}%"


def _link(scenario: _core.Scenario, entry: Mapping[str, Any], device: str, arrives: bool) -> Link:
    name, rate = entry["name"], entry["rate"]
    bucket = None
    if isinstance(rate, Mapping):
        if rate.get("kind") != "bucket":
            raise InputError(
                f"links.{name}.rate: tc has no command for a rate of kind {rate.get('kind')}; "
                f"give a constant one, such as --set links.{name}.rate=10mbit"
            )
        if own := [key for key in ("overhead", "mpu", "cells") if key in rate]:
            raise InputError(
                f"links.{name}.rate.{own[0]}: what the bucket alone counts is not exported; give "
                "the link `framing`, `mpu` and `cells`"
            )
        bucket = _number(rate["burst"], "B"), bool(rate.get("overdraft"))
        rate = rate["rate"]
    if entry["device"]:
        raise InputError(
            f"links.{name}.device: a ring below the queue is the driver's, not tc's; leave it out"
        )
    aqm = scenario.queue(name)
    framing = _number(entry["framing"], "B"), _number(entry.get("mpu", "0B"), "B")
    cells = entry.get("cells", "none")
    scheduler = json.dumps(entry["scheduler"]) if "scheduler" in entry else None
    policer = None
    if (limits := entry.get("policer")) is not None:
        policer = _bps(limits["rate"]), _number(limits["burst"], "B")
    return device, arrives, _bps(rate), bucket, (*framing, cells), aqm, scheduler, policer


def _number(text: str, unit: str) -> int:
    from sojourn.describing.quantity import required

    return round(required(unit, text).size)


def _bps(text: str) -> int:
    return _number(text, "rate")


def _release(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})(\.\d+)?", text)
    if not found:
        raise InputError(f"--kernel {text}: is not a release; write one such as 6.1")
    return int(found[1]), int(found[2])
