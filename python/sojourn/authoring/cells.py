"""Results of a check: one rule of the contract, one AQM in one scenario."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """One rule of the contract.

    Attributes:
        promise: the rule, in a few words.
        held: whether it held; None if it does not apply.
        detail: how it was tested, or what broke it.
    """

    promise: str
    held: bool | None
    detail: str


@dataclass(frozen=True)
class WorldResult:
    """One AQM in one standard scenario.

    Attributes:
        delay_p50_s: median time in the queue.
        delay_p95_s: its 95 % quantile.
        utilisation: share of the link's capacity that was used.
        jain: Jain's index of the flows' goodputs; NaN if not computed.
        swing: standard deviation divided by mean of the sampled backlog, the measure of
            stability.
        others: further values by name, in base units.
    """

    delay_p50_s: float
    delay_p95_s: float
    utilisation: float
    jain: float
    swing: float
    others: dict[str, float] = field(default_factory=dict)
