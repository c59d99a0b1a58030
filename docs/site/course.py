"""The course as pages that open from disk: one file for each exercise, with the live page in it.

An exercise stands in docs/tutorials/course.md, its solution in course-solutions.md. Its page has
the question, a box for the guess, the steps with both AQMs ready to run, and the hidden solution.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sojourn.describing import aqm_list, library
from sojourn.live import page

TUTORIALS = Path(__file__).parents[1] / "tutorials"
_HEADING = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
_LIVE = "$ sojourn live "
# The page's first section; the exercise stands above it.
_FIRST = '<section class="panel scenario"'
_TITLE = re.compile(r"<title>.*?</title>")


class Exercise(NamedTuple):
    """An exercise: its number and title, texts in Markdown, and what its page runs."""

    number: int
    title: str
    question: str
    steps: str
    solution: str
    scenario: str
    aqms: list[str]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"exercise-{self.number}.html"


def exercises() -> list[Exercise]:
    """Every exercise in order.

    Raises:
        ValueError: an exercise has no solution of the same number and title, or not one call of
            `sojourn live` with two AQMs.
    """
    solutions = dict(_sections("course-solutions.md"))
    return [_exercise(head, text, solutions) for head, text in _sections("course.md")]


def _sections(name: str) -> list[tuple[tuple[int, str], str]]:
    text = (TUTORIALS / name).read_text(encoding="utf-8")
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [
        ((int(head[1]), head[2]), text[head.end() : end].strip() + "\n")
        for head, end in zip(heads, ends, strict=True)
    ]


def _exercise(head: tuple[int, str], text: str, solutions: dict[tuple[int, str], str]) -> Exercise:
    number, title = head
    calls = [line.removeprefix(_LIVE) for line in text.splitlines() if line.startswith(_LIVE)]
    if head not in solutions or len(calls) != 1:
        raise ValueError(f"course.md: exercise {number} needs a solution and one `sojourn live`")
    words = shlex.split(calls[0])
    aqms = aqm_list.split(words[words.index("--aqm") + 1])
    before, _, after = text.partition(f"{_LIVE}{calls[0]}")
    steps = after.partition("```\n")[2]
    question = _FENCE.sub("", f"{before}```\n")
    return Exercise(number, title, question, steps, solutions[head], words[0], aqms)


def write(folder: Path, rendered: Callable[[str], str]) -> None:
    """Writes the page of every exercise.

    Args:
        folder: where to.
        rendered: makes HTML of Markdown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    every = exercises()
    for exercise in every:
        scenario = library.load(exercise.scenario)
        state = page.fragment(scenario.source, exercise.aqms, scenario.seed)
        text = page.one_file(state)
        assert text.count(_FIRST) == 1, "the live page has changed: where does an exercise go?"
        text = text.replace(_FIRST, panel(exercise, every, rendered) + _FIRST, 1)
        title = f"<title>{html.escape(exercise.title)} Exercise {exercise.number}</title>"
        (folder / exercise.file).write_text(_TITLE.sub(title, text, count=1), encoding="utf-8")


def panel(exercise: Exercise, every: list[Exercise], rendered: Callable[[str], str]) -> str:
    """The section of a page that holds an exercise, as HTML.

    Args:
        exercise: which.
        every: all exercises, for the links between their pages.
        rendered: makes HTML of Markdown.
    """
    links = " · ".join(
        f"<b>{each.number}</b>" if each is exercise else f'<a href="{each.file}">{each.number}</a>'
        for each in every
    )
    return f"""<section class="panel" aria-labelledby="exercise-title">
        <h2 id="exercise-title">{exercise.number}. {html.escape(exercise.title)}</h2>
        {rendered(exercise.question)}
        <label for="guess">Your guess, before you run anything</label>
        <textarea id="guess" rows="3" style="width: 100%; box-sizing: border-box"></textarea>
        {rendered(exercise.steps)}
        <details>
          <summary>Solution</summary>
          <div class="scroll" tabindex="0">{rendered(_local(exercise.solution))}</div>
        </details>
        <p>Exercises: {links}</p>
      </section>
      """


def _local(text: str) -> str:
    """A text without its links, whose targets are not next to a page on its own."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
