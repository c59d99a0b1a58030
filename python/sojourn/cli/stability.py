"""The command ``stability``: control theory of an AQM, in tables, figures and gains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn import files
from sojourn.cli import console, once, options
from sojourn.describing.formatting import counted
from sojourn.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.stability.arrays import Floats

_PLOTS = ("bode", "margin", "map", "step")
_VARIANTS = ("exact", "continuous", "derived", "printed")
_CCS = ("reno", "cubic", "dctcp", "scalable")
# Number of values in a range: few in tables and legends, many on maps.
_FEW, _CURVE, _MANY = 7, 120, 80
_MOST_LINES = 4
# Steps by name: factors on flows and rate.
_STEPS = {"half as many flows again": (1.5, 1.0), "half the rate": (1.0, 0.5)}
_STEP_S = 21.0


@dataclass(frozen=True)
class _Question:
    """The arguments of the command line."""

    aqm: str
    rtt: str
    rate: str
    flows: str
    more: dict[str, Any]

    def axes(self, rtts: int, rates: int, flows: int) -> tuple[Floats, Floats, Floats]:
        """The values of all three axes; the arguments are the numbers of values of ranges."""
        from sojourn.stability.study import axes

        return (
            axes.times_s("--rtt", self.rtt, rtts),
            axes.rates_bps("--rate", self.rate, rates),
            axes.counts("--flows", self.flows, flows),
        )


@dataclass(frozen=True)
class _Points:
    """Operating points with names, arrays of one shape ``(n_points,)``."""

    labels: list[str]
    rtt_s: Floats
    rate_bps: Floats
    flows: Floats


@once.command(
    epilog="""\b
Examples:
  sojourn stability pie --rtt 100ms --rate 10mbit --flows 5..100
  sojourn stability pie@linux --rtt 20ms..300ms --rate 10mbit --flows 2..100 --plot map --observe
  sojourn stability pi2 --rtt 100ms --rate 10mbit --flows 5..50 --design
"""
)
@click.argument("aqm")
@click.option("--rtt", required=True, metavar="TIMES", help="Round-trip time without queue: a "
              "time, a list, or a range such as 20ms..300ms.")  # fmt: skip
@click.option(
    "--rate", required=True, metavar="RATES", help="Rate of the link: 10mbit; lists and ranges too."
)
@click.option(
    "--flows", required=True, metavar="NUMBERS", help="Number of flows; lists and ranges too."
)
@click.option("--cc", type=click.Choice(_CCS), default="reno", show_default=True,
              help="Congestion control of the flows.")  # fmt: skip
@click.option("--scalable-flows", type=click.IntRange(0), default=0, metavar="N",
              help="Scalable flows in addition, for dualpi2.")  # fmt: skip
@click.option("--variant", type=click.Choice(_VARIANTS), default="exact", show_default=True,
              help="What the loop leaves out: see docs/how-to/stability.md.")  # fmt: skip
@click.option("--delay/--no-delay", default=True, help="Whether the pure delay counts.")
@click.option("--step-scaling/--no-step-scaling", default=True,
              help="Whether PIE scales its steps by the drop probability.")  # fmt: skip
@click.option("--plot", type=click.Choice(_PLOTS), help="Draw a figure, as PNG and SVG.")
@click.option("--observe", is_flag=True, help="With --plot map: simulate some points of it.")
@click.option("--points", type=click.IntRange(1, 20), default=4, show_default=True, metavar="N",
              help="With --observe: how many RTTs and numbers of flows to run.")  # fmt: skip
@click.option("--seed", type=options.SEED, default=1, show_default=True, metavar="N",
              help="With --observe: seed of the runs.")  # fmt: skip
@click.option("--design", "wants_design", is_flag=True,
              help="Choose alpha, beta and tupdate for the longest RTT.")  # fmt: skip
@click.option("--margin", type=float, default=45.0, show_default=True, metavar="DEGREES",
              help="With --design: phase margin wanted.")  # fmt: skip
@click.option("--least-drop", type=float, metavar="P", help="With --design: lowest drop "
              "probability; by default that of the fewest flows at the highest rate.")  # fmt: skip
@options.out_option("Folder for figures: with --plot the current one by default; with --design "
                    "none.")  # fmt: skip
@options.json_option
def stability(
    aqm: str, rtt: str, rate: str, flows: str, cc: str, scalable_flows: int, variant: str,
    delay: bool, step_scaling: bool, plot: str | None, observe: bool, points: int, seed: int,
    wants_design: bool, margin: float, least_drop: float | None, out: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Say whether an AQM is stable on a link, with what margin, and choose its gains.

    AQM is one with a fluid model: pi, pie, pi2, madpie, red or dualpi2, in its text form.
    """
    more = {
        "cc": cc, "scalable_flows": float(scalable_flows), "variant": variant,
        "with_delay": delay, "step_scaling": step_scaling,
    }  # fmt: skip
    question = _Question(aqm, rtt, rate, flows, more)
    folder = out or Path()
    if plot or out:
        options.writing_to(folder)
    if observe and plot != "map":
        raise InputError("--observe: simulates points of a map; add --plot map")
    if wants_design and plot:
        raise InputError("--plot: a design has its own figure, with --out; leave --plot out")
    if wants_design:
        _design(question, margin, least_drop, out, as_json)
        return 0
    if plot == "map":
        _map(question, folder, points if observe else 0, seed)
    elif plot:
        draw: dict[str, Callable[[_Question], Figure]] = {
            "bode": _bode, "margin": _margin, "step": _step,
        }  # fmt: skip
        _save(draw[plot](question), folder, f"stability-{plot}")
    _table(question, as_json)
    return 0


def _table(question: _Question, as_json: bool) -> None:
    from sojourn.stability import analyse
    from sojourn.stability.study.to_json import to_json

    rtt, rate, flows = question.axes(4, 3, _FEW)
    grid = rtt[None, :, None], rate[:, None, None], flows[None, None, :]
    found = analyse(question.aqm, *grid, **question.more)
    if as_json:
        console.show_json(to_json(found))
        return
    from sojourn.cli.stability_tables import print_margins

    print_margins(found, console.stdout_console())


def _save(drawing: Figure, folder: Path, name: str) -> None:
    from sojourn.plots import style

    files.write(folder / f"{name}.svg", style.svg(drawing))
    files.write(folder / f"{name}.png", style.png(drawing))
    console.say(f"figure: {folder / name}.png")


def _points(question: _Question, later: tuple[float, float] = (1.0, 1.0)) -> _Points:
    """At most four operating points that still exist with flows and rate multiplied."""
    import numpy as np

    from sojourn.stability import analyse

    rtt, rate, flows = question.axes(2, 2, _CURVE)
    grid = rtt[:, None, None], rate[:, None], flows
    here = analyse(question.aqm, *grid, **question.more)
    there = analyse(
        question.aqm, grid[0], grid[1] * later[1], grid[2] * later[0], **question.more
    )  # fmt: skip
    every = np.argwhere(np.isfinite(here.delay_s + there.delay_s))
    if not len(every):
        raise InputError((here.problems + there.problems)[0])
    places = np.unique(np.linspace(0, len(every) - 1, _MOST_LINES).round().astype(int))
    i, j, k = every[places].T
    labels = []
    for r, c, n in zip(rtt[i], rate[j], flows[k], strict=True):
        parts = [counted(float(n), "flow")] if len(flows) > 1 or len(every) == 1 else []
        parts += [f"{r * 1e3:g} ms"] if len(rtt) > 1 else []
        parts += [f"{c * 1e-6:g} Mbit/s"] if len(rate) > 1 else []
        labels.append(", ".join(parts))
    return _Points(labels, rtt[i], rate[j], flows[k])


def _bode(question: _Question) -> Figure:
    from sojourn.plots.loop_margin import LoopCurve, bode
    from sojourn.stability import bode as bode_data
    from sojourn.stability import loop, margins

    points = _points(question)
    open_loop = loop(
        question.aqm, points.rtt_s, points.rate_bps, points.flows, **question.more
    )  # fmt: skip
    data, found = bode_data(open_loop), margins(open_loop)
    curves = [
        LoopCurve(
            label, data.frequency_rad_per_s, data.gain_db[i], data.phase_deg[i],
            float(found.crossover_rad_per_s[i]), float(found.phase_margin_deg[i]),
        )
        for i, label in enumerate(points.labels)
    ]  # fmt: skip
    title = f"Loop of {question.aqm}, {_conditions(question)}"
    return bode({f"phase margins, {question.more['variant']}": curves}, title)


def _margin(question: _Question) -> Figure:
    from sojourn.plots.loop_margin import lines
    from sojourn.stability import analyse

    rtt, rate, flows = question.axes(_MOST_LINES, 2, _CURVE)
    if len(flows) < 2:
        raise InputError(f"--flows {question.flows}: margins are drawn over flows; give a range")
    panels: dict[str, dict[str, Any]] = {}
    for bits in rate:
        found = analyse(question.aqm, rtt[:, None], bits, flows, **question.more)
        panels[f"{bits * 1e-6:g} Mbit/s"] = {
            f"{r * 1e3:.3g} ms": (flows, margin)
            for r, margin in zip(rtt, found.phase_margin_deg, strict=True)
        }
    title = f"Phase margin of {question.aqm} by RTT ({question.more['cc']})"
    return lines(panels, title, "flows", "phase margin [°]", log="x")


def _step(question: _Question) -> Figure:
    import math

    from sojourn.plots.step_response import step_response
    from sojourn.stability.loops.response import Response, Step, respond

    more = {key: value for key, value in question.more.items() if key != "with_delay"}
    panels: dict[str, tuple[list[str], Response]] = {}
    for name, (load, speed) in _STEPS.items():
        points = _points(question, (load, speed))
        after = Step(1.0, flows=load * points.flows, rate_bps=speed * points.rate_bps)
        response = respond(
            question.aqm, points.rtt_s, points.rate_bps, points.flows, [after],
            duration_s=_STEP_S, **more,
        )  # fmt: skip
        panels[name] = points.labels, response
        measured = zip(points.labels, response.settling_s(), response.overshoot(), strict=True)
        for label, settling_s, overshoot in measured:
            took = "does not settle" if math.isnan(settling_s) else f"settles in {settling_s:.1f} s"
            console.say(f"{name}, {label}: {took} (within 10 %), overshoot {overshoot:.0%}")
    return step_response(panels, f"Fluid model of {question.aqm}, {_conditions(question)}")


def _map(question: _Question, folder: Path, points: int, seed: int) -> None:
    from sojourn.stability.study.map import make_map

    rtt, rate, flows = question.axes(_MANY, 2, _MANY)
    made = make_map(question.aqm, rtt, rate, flows, **question.more)
    if points:
        made = made.observe(per_axis=points, seed=seed, progress=console.meter())
    made.save(folder)
    console.say(f"map: {folder / 'map.html'}")


def _conditions(question: _Question) -> str:
    flows = "1 flow" if question.flows == "1" else f"{question.flows} flows"
    return f"RTT {question.rtt}, {question.rate}, {flows} ({question.more['cc']})"


def _design(
    question: _Question, margin: float, least: float | None, out: Path | None, as_json: bool
) -> None:
    from sojourn.stability import analyse
    from sojourn.stability.study.design import design
    from sojourn.stability.study.to_json import to_json

    rtt, rate, flows = question.axes(2, 2, 2)
    if least is None:
        where = float(rtt.max()), float(rate.max()), float(flows.min())
        least = float(analyse(question.aqm, *where, cc=question.more["cc"]).signal_prob)
    made = design(
        question.aqm, float(rtt.max()), least, margin,
        cc=question.more["cc"], variant=question.more["variant"],
    )  # fmt: skip
    if out is not None:
        from sojourn.plots.trade_off import trade_off

        _save(trade_off(made), out, "stability-design")
    if as_json:
        console.show_json(to_json(made))
        return
    from sojourn.cli.stability_tables import print_design

    print_design(made, float(rtt.max()), console.stdout_console())


__all__ = ["stability"]
