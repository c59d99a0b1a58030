"""The live page within a notebook, as a widget (anywidget, the extra ``notebook``)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sojourn.describing import library
from sojourn.errors import InputError
from sojourn.live import page
from sojourn.live.texts import written

# The page in one file, in a frame, which separates its styles from the notebook's.
_SCRIPT = """
function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([model.get("page")], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "Sojourn: two AQMs on one line";
  frame.style.cssText = `width: 100%; height: ${model.get("height_px")}px; border: 0`;
  frame.src = `${address}#${model.get("fragment")}`;
  el.append(frame);
  return () => URL.revokeObjectURL(address);
}
export default { render };
"""


def widget(
    scenario: library.ScenarioLike,
    aqms: Sequence[str] = ("taildrop", "codel"),
    sets: library.Sets | None = None,
    height_px: int = 900,
) -> Any:
    """Two AQMs side by side under a scenario's seed, as `sojourn live` shows them.

    Args:
        scenario: an argument of `sojourn.load`.
        aqms: the AQMs of both sides in their text form.
        sets: dotted keys with values that override the scenario.
        height_px: height of the frame in pixels.

    Returns:
        An ``anywidget.AnyWidget``, which a notebook displays.

    Raises:
        InputError: anywidget is not installed, the page is not built, or the AQMs are not two.
        ScenarioError: the scenario is not legal.
    """
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError:
        raise InputError("the widget needs anywidget: pip install 'sojourn[notebook]'") from None
    if len(aqms) != 2:
        raise InputError(f"aqms: {len(aqms)} of them; name two, one for each side")
    loaded = library.load(scenario, sets)
    synced = {
        "page": traitlets.Unicode().tag(sync=True),
        "fragment": traitlets.Unicode().tag(sync=True),
        "height_px": traitlets.Int().tag(sync=True),
    }
    kind = type("LiveWidget", (anywidget.AnyWidget,), {"_esm": _SCRIPT, **synced})
    return kind(
        page=page.one_file(),
        fragment=page.fragment(written(loaded), aqms, loaded.seed),
        height_px=height_px,
    )
