"""Colours, dashes and markers of all figures and of the report, without matplotlib.

AQMs have the colours of Okabe and Ito (Color Universal Design, 2008), which colour-blind people can
distinguish, without yellow, which is too pale on white. The first AQM, the baseline, is dark grey.
"""

INK = "#22262b"
MUTED = "#6b7480"
GRID = "#dfe3e8"
PAPER = "#ffffff"
LOSS = "#b3261e"
MARK = "#8250df"
PALETTE = (
    "#4d5561", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    # From the eighth colour on: Paul Tol's muted set (SRON technical note, 2021) without similar
    # ones.
    "#332288", "#882255", "#999933", "#44aa99", "#661100", "#aa4499", "#117733",
)  # fmt: skip
# Lengths of strokes and gaps in line widths; empty for a solid line.
DASHES = ((), (5, 1.5), (1.5, 1.2), (6, 1.5, 1.5, 1.5), (10, 2), (5, 1.5, 1, 1.5, 1, 1.5))
# Matplotlib's names; `sojourn.report.keys` has the same shapes.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Colours in figures of papers, where an AQM has the same colour in all figures.
AQM_COLOURS = {
    "taildrop": PALETTE[0],
    "droptail": PALETTE[0],
    "pie": PALETTE[1],
    "codel": PALETTE[2],
    "madpie": PALETTE[3],
    "pi2": PALETTE[4],
    "codel_act": PALETTE[5],
    "fq_codel": PALETTE[6],
    "ared": PALETTE[3],
    "red": PALETTE[4],
}
