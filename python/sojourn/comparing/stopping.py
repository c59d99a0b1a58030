"""When a comparison has enough seeds: the requested rule, and the contenders that have stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sojourn.comparing.looks import Looks


@dataclass(frozen=True)
class StoppedContender:
    """A contender of a race that got no further seeds.

    Attributes:
        aqm: the contender.
        seeds: the number of its seeds.
        why: the reason, as a clause.
    """

    aqm: str
    seeds: int
    why: str


@dataclass(frozen=True)
class StoppingRule:
    """When a comparison has enough seeds.

    Attributes:
        text: the rule as written: ``decided``, or a share such as ``5%``.
        max_seeds: the most seeds of a contender.
        is_race: whether contenders stop one by one.
        stopped: those that have stopped before the others, in order.
        open: number of headline differences of contenders still in the race that were not known
            well enough at the end.
    """

    text: str
    max_seeds: int
    is_race: bool = False
    stopped: tuple[StoppedContender, ...] = ()
    open: int = 0

    @property
    def looks(self) -> Looks:
        """The numbers of seeds after which the rule is tested."""
        from sojourn.study.until import planned_looks

        return Looks(planned_looks(self.max_seeds))

    def facts(self) -> dict[str, Any]:
        """The state of the rule for JSON, as `from_facts` reads it."""
        return asdict(self) | {"looks": list(self.looks.counts)}


def from_facts(facts: Mapping[str, Any] | None) -> StoppingRule | None:
    """The rule that `StoppingRule.facts` wrote."""
    if facts is None:
        return None
    stopped = tuple(StoppedContender(**one) for one in facts["stopped"])
    return StoppingRule(facts["text"], facts["max_seeds"], facts["is_race"], stopped, facts["open"])
