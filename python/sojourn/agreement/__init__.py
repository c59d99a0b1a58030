"""How far two engines agree: the same scenarios on both, quantiles side by side, verdicts.

A cell is one metric of one scenario, the mean over the seeds. Two values agree when they differ by
at most a tenth of the second engine's value, or, for delays, by at most a millisecond. Noise never
counts as agreement; for values that differ, the result states whether more seeds could make them
agree.
"""
