"""Experiments of papers on Linux testbeds, translated to the real kernel of today.

A paper's scenarios are written for the simulator, which has the stacks and modules of the paper's
year. On the kernel its own disciplines and TCP run: queues are translated here, parameter by
parameter, and what the kernel has no setting for is left out. What that changes is in the paper's
`Testbed`, which its pages show.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sojourn.errors import InputError
from sojourn.reproduce.paper import Case, Item, Paper, Profile, explained, no_cases
from sojourn.reproduce.testbed import Testbed
from sojourn.scenario import Link, Scenario

# By kind of AQM: its name with the kernel's dialect, and the parameters that the kernel takes.
_OF_KERNEL = {
    "pie": ("pie@linux", ("target", "tupdate", "alpha", "beta", "limit", "ecn")),
    "ared": ("ared@linux", ("min_th", "max_th", "limit", "ecn")),
}
_ELSEWHERE = "was not measured on a Linux testbed"


def on_kernel(paper: Paper) -> Paper:
    """The paper with the kernel's scenarios; what did not run on a testbed is not covered.

    Raises:
        InputError: nothing of it did.
    """
    testbed = paper.testbed
    if testbed is None:
        raise InputError(f"reproduce {paper.key}: it {_ELSEWHERE}; use --engine sim")
    return replace(
        paper,
        about=f"{paper.about} {testbed.note}",
        items=tuple(_item(item, testbed) for item in paper.items),
        claims=explained([replace(claim, differs="") for claim in paper.claims], testbed.differs),
    )


def _item(item: Item, testbed: Testbed) -> Item:
    if item.id not in testbed.items:
        why = item.missing or testbed.missing.get(item.id, _ELSEWHERE)
        return replace(item, missing=why, cases=no_cases)
    note = testbed.notes.get(item.id, item.note)
    return replace(item, note=note, cases=partial(_cases, item))


def _cases(item: Item, profile: Profile) -> dict[str, Case]:
    return {
        key: replace(case, scenario=_scenario(case.scenario))
        for key, case in item.cases(profile).items()
    }


def _scenario(scenario: Scenario) -> Scenario:
    links = {name: _link(link) for name, link in scenario.links.items()}
    return replace(scenario, links=links)


def _link(link: Link) -> Link:
    return replace(link, queue=kernel_queue(str(link.queue)))


def kernel_queue(text: str) -> str:
    """A queue in the kernel's dialect: parameters of other variants are left out."""
    head, _, rest = text.partition(":")
    kind = head.partition("@")[0]
    if kind not in _OF_KERNEL:
        return text
    name, known = _OF_KERNEL[kind]
    kept = [pair for pair in rest.split(",") if pair.partition("=")[0] in known]
    return ":".join([name, ",".join(kept)]) if kept else name
