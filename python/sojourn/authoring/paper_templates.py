"""The files of a new paper. `@NAME@` is replaced."""

_PAPER = """\
# A paper: what it published, and how that is measured here. Every value below is a placeholder.
title = "Title of the paper"
source = "Authors, place, year"
about = "What was done there, in a sentence."
# Seeds per case, for --quick and --full.
seeds = { quick = 2, full = 5 }

# What is run. A case has a scenario file, and may change it: `aqm` of its only link, or of `link`;
# `set`, any keys. `base` names a case to begin with.
[cases.pie]
scenario = "dumbbell.toml"
aqm = "pie:target=20ms"

[cases.codel]
base = "pie"
aqm = "codel"

[cases.pie_long]
base = "pie"
set = { "flows.bulk.rtt" = "200ms" }

# Figures and tables, with their cases. One that is not covered has `missing = "why"` instead.
# `figure` is "cdf" of the queue delay (if it is left out), or "time", the delay over time.
[items.F1]
title = "Queue delay"
cases = ["pie", "codel", "pie_long"]
published_runs = "one run"
note = "What was chosen here because the paper does not say it."

# A published number: `published`, or `at_least`, `at_most`; a range is [18, 22].
# `tolerance` is exact (printed: 15 %, shares 3 points) or approx (read from a figure: 25 %, 5).
# Metrics are those of `sojourn run`; delay_p90, delay_below_0.5ms, owd_p99.9, rtt_sd and the like;
# and state_VARIABLE_mean, _min, _max or _p25 over the samples of an AQM's variable or of `rate`.
# state_delay_mean_settled is the time in s until samples stay `within = [15, 25]`; it counts from
# the end of the warm-up, or from `after = "50s"`.
# A window of time is a case with `warmup` and `duration` in its `set`.
# `of` names the link or the flows, where there are several.
[[claims]]
item = "F1"
what = "PIE holds its target"
printed = "Figure 1"
case = "pie"
metric = "delay_mean"
published = 20
unit = "ms"
tolerance = "approx"

# A relation: above, below, not_above, not_below or like; `factor` multiplies the other side.
[[claims]]
item = "F1"
what = "CoDel's tail is shorter than PIE's"
printed = "§1"
case = "codel"
metric = "delay_p95"
below = { case = "pie" }

# Several parts have to hold together; what they share stands above. `divided_by`, `minus` and
# `percent_less_than` name a second case, as the relations do.
[[claims]]
item = "F1"
what = "the link is full at a short RTT, and less so at a long one"
printed = "Table 1"
metric = "utilisation"
because = "Say why a claim does not hold, if you know it."
parts = [
    { case = "pie", at_least = 98 },
    { case = "pie_long", minus = { case = "pie" }, at_most = 0 },
]
"""

_DUMBBELL = """\
name = "@NAME@"
duration = "30s"
warmup = "5s"

[links.bottleneck]
rate = "10mbit"
delay = "10ms"
buffer = "200kB"

[[flows]]
name = "bulk"
count = 4
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "bulk" }
"""

FILES = {"paper.toml": _PAPER, "dumbbell.toml": _DUMBBELL}
