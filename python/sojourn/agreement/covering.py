"""Covering designs: few cells that cover every pair of levels of two factors.

Built greedily, one cell at a time, as AETG does (Cohen et al. 1997, §4), but
without its random draws, so that the same factors give the same cells. No library is used: the
maintained ones (``allpairspy``, ``pict``) guarantee no order across versions, and recorded runs are
named by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

Level = str | int | bool
Cell = dict[str, Level]
Pair = tuple[tuple[str, Level], tuple[str, Level]]


def covering(factors: Mapping[str, Sequence[Level]], allowed: Callable[[Cell], bool]) -> list[Cell]:
    """Cells that cover every pair of levels that occurs in an allowed cell.

    Args:
        factors: each factor's levels.
        allowed: whether a cell is allowed; also called for incomplete cells, for which it must
            return True if some allowed complete cell has these levels.
    """
    missing = dict.fromkeys(_pairs_of(factors))
    cells: list[Cell] = []
    while missing:
        first = next(iter(missing))
        cell = _complete(dict(first), factors, allowed, missing)
        if cell is None:
            del missing[first]  # no allowed cell has both levels
            continue
        for pair in _pairs_in(cell):
            missing.pop(pair, None)
        cells.append(cell)
    return cells


def _pairs_of(factors: Mapping[str, Sequence[Level]]) -> Iterator[Pair]:
    for one, other in combinations(factors, 2):
        for a, b in product(factors[one], factors[other]):
            yield (one, a), (other, b)


def _pairs_in(cell: Cell) -> Iterator[Pair]:
    yield from combinations(cell.items(), 2)


def _complete(
    begun: Cell,
    factors: Mapping[str, Sequence[Level]],
    allowed: Callable[[Cell], bool],
    missing: Mapping[Pair, None],
) -> Cell | None:
    """The cell completed with its missing factors, each at the level that covers most new pairs.

    None if no allowed cell has the given levels.
    """
    if not allowed(begun):
        return None
    rest = [name for name in factors if name not in begun]
    if not rest:
        return {name: begun[name] for name in factors}
    name = rest[0]

    def gain(level: Level) -> int:
        return sum(
            ((name, level), pair) in missing or (pair, (name, level)) in missing
            for pair in begun.items()
        )

    for level in sorted(factors[name], key=gain, reverse=True):
        found = _complete({**begun, name: level}, factors, allowed, missing)
        if found is not None:
            return found
    return None
