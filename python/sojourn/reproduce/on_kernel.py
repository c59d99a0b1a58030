"""Experiments of papers, translated to today's kernel.

A paper's scenarios are written for the simulator, which has the stacks and modules of the paper's
year. The kernel runs its own disciplines and TCP: queues are translated here, parameter by
parameter, and settings that the engine lacks, such as a device below a queue or parameters of a
congestion control, are left out. An AQM that the kernel lacks runs in our module. The paper's
`Testbed`, which its pages show, states the effects.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sojourn.errors import InputError
from sojourn.reproduce.claims import explained
from sojourn.reproduce.paper import Item, Paper, no_cases
from sojourn.reproduce.testbed import Testbed
from sojourn.scenario import Engines, FlowGroup, Link, LinuxEngine, Scenario

# The parameters of the kernel's CoDel; a CoDel with others, or CoDel-ACT, runs in our module.
_OF_CODEL = ("target", "interval", "limit", "ecn")
# The name with the kernel's dialect, and the parameters that the kernel takes, by kind of AQM.
_OF_KERNEL = {
    "codel": ("codel@linux", _OF_CODEL),
    "pie": ("pie@linux", ("target", "tupdate", "alpha", "beta", "limit", "ecn")),
    "ared": ("ared@linux", ("min_th", "max_th", "limit", "ecn")),
    # The kernel has no MADPIE; the module's is MADPIE over the PIE of `sch_pie`.
    "madpie": (
        "madpie@linux",
        ("target", "tupdate", "alpha", "beta", "deterministic_target", "limit", "ecn"),
    ),
}
_ELSEWHERE = "was not measured on a Linux testbed"


def on_kernel(paper: Paper) -> Paper:
    """The paper with the kernel's scenarios; items without a testbed are not covered.

    Raises:
        InputError: no item has a testbed.
    """
    testbed = paper.testbed
    if testbed is None:
        raise InputError(f"reproduce {paper.key}: it {_ELSEWHERE}; use --engine sim")
    return replace(
        paper,
        about=f"{paper.about} {testbed.note}",
        items=tuple(_item(item, testbed) for item in paper.items),
        claims=explained([replace(claim, differs="") for claim in paper.claims], testbed.differs),
        paragraphs=testbed.paragraphs,
    )


def _item(item: Item, testbed: Testbed) -> Item:
    if item.id not in testbed.items:
        why = item.missing or testbed.missing.get(item.id, _ELSEWHERE)
        return replace(item, missing=why, cases=no_cases, variants=())
    note = testbed.notes.get(item.id, item.note)
    variants = tuple(each for each in item.variants if each.key not in testbed.same)
    return replace(item, note=note, variants=variants, engine_scenario=_scenario)


def _scenario(scenario: Scenario) -> Scenario:
    links = {name: _link(link) for name, link in (scenario.links or {}).items()}
    flows = [_flows(group) for group in scenario.flows]
    made = replace(scenario, links=links, flows=flows)
    if any(needs_module(str(link.queue)) for link in links.values()):
        return replace(made, engine=Engines(linux=LinuxEngine(bottleneck="sojourn-module")))
    return made


def _flows(group: FlowGroup) -> FlowGroup:
    """The group with the kernel's control of that name, which has its own parameters."""
    if group.cc is None:
        return group
    return replace(group, cc=str(group.cc).partition(":")[0].partition("@")[0])


def needs_module(queue: str) -> bool:
    """Whether the kernel has no discipline for a queue, so that our module provides it."""
    head, _, rest = queue.partition(":")
    kind, _, dialect = head.partition("@")
    given = [pair.partition("=")[0] for pair in rest.split(",") if pair]
    other = dialect == "act" or any(key not in _OF_CODEL for key in given)
    return kind == "madpie" or (kind == "codel" and other)


def _link(link: Link) -> Link:
    return replace(link, queue=kernel_queue(str(link.queue)), device=None)


def kernel_queue(text: str) -> str:
    """A queue in the kernel's dialect: parameters of other variants are left out.

    Raises:
        InputError: the kernel cannot use the weight of the queue's average.
    """
    head, _, rest = text.partition(":")
    kind = head.partition("@")[0]
    if kind not in _OF_KERNEL or (kind == "codel" and needs_module(text)):
        return text
    name, known = _OF_KERNEL[kind]
    given = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
    kept = [f"{key}={value}" for key, value in given.items() if key in known]
    if kind == "ared" and given.get("w_q", "auto") != "auto":
        kept.append(f"burst={_burst(float(given['w_q']), given['min_th'])}")
    return ":".join([name, ",".join(kept)]) if kept else name


# tc-red(8): the mean packet size, by which thresholds are divided.
_MEAN_PACKET_BYTES = 1000


def _burst(weight: float, min_th: str) -> int:
    """The burst from which tc computes this weight of RED's average; tc has no parameter for it.

    Source: iproute2 tc_red.c, tc_red_eval_ewma: the first exponent for which a burst leaves the
    average below `min_th`. The exponent grows with the burst, so the smallest burst is used.
    """
    wanted = -math.log2(weight)
    thinnest = float(min_th.removesuffix("B")) / _MEAN_PACKET_BYTES
    for burst in range(1, 100_000):
        found = _weight_log(burst, thinnest)
        if found == wanted:
            return burst
        if found > wanted:
            break
    raise InputError(
        f"ared: min_th={min_th}: tc finds no burst for w_q={weight:g}; use a power of two, or "
        "w_q=auto for the weight that tc takes by itself"
    )


def _weight_log(burst: int, min_packets: float) -> int:
    """The exponent that tc computes, 0 for none."""
    allowed = burst + 1 - min_packets
    if allowed < 1:
        return 0
    fits = (log for log in range(1, 32) if allowed <= (1 - (1 - 2.0**-log) ** burst) * 2**log)
    return next(fits, 32)
