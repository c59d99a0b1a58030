"""PIE with differential dropping: packets of the premium class are dropped less often.

Pan et al. 2013 §VI name it as future work. Reno's rate falls with the square root of the drop
probability (Mathis et al. 1997), so a class of weight w gets p / w^2 of the standard p. Law and
controller are those of RFC 8033 Appendix A.
"""

from sojourn import law

# RFC 8033 §4.2: below a drop probability, the factor on the step.
STEPS = ((1e-6, 1 / 2048), (1e-5, 1 / 512), (1e-4, 1 / 128), (1e-3, 1 / 32), (0.01, 1 / 8),
         (0.1, 1 / 2))  # fmt: skip


class WeightedPie:
    """PIE whose premium class, labelled by ECT, is dropped with p / weight^2; marks nothing."""

    target = law.time("15ms", "Queue delay aimed at", source="RFC 8033 §4.2")
    tupdate = law.time("15ms", "Time between two updates", source="RFC 8033 §4.2")
    alpha = law.frequency("0.125hz", "Integral gain", source="RFC 8033 §4.2")
    beta = law.frequency("1.25hz", "Proportional gain", source="RFC 8033 §4.2")
    weight = law.number("1", "Goodput of a premium flow over that of a standard one",
                        rule="positive", source="Pan et al. 2013 §VI")  # fmt: skip

    drop_prob = law.var("1", "Probability for the standard class")

    def start(self, env):
        self.exempt_bytes = 2 * env.mtu_bytes
        self.burst_ns = 150_000_000
        self.delay_ns = self.old_ns = 0
        self.due_ns = self.tupdate

    def on_enqueue(self, now_ns, head, queue, random):
        calm = self.drop_prob < 0.2 and 2 * self.old_ns < self.target
        if self.burst_ns > 0 or calm or queue.bytes <= self.exempt_bytes:
            return None
        share = 1 / (self.weight * self.weight) if head.can_mark else 1.0
        if random.uniform() < self.drop_prob * share:
            return law.Verdict.DROP_RANDOM
        return None

    def on_dequeue(self, now_ns, head, queue, random):
        self.delay_ns = 0 if queue.packets == 0 else head.sojourn_ns

    def next_timer(self):
        return self.due_ns

    def on_timer(self, now_ns, queue):
        """RFC 8033 §4.2: one update of the drop probability."""
        p, delay, old = self.drop_prob, self.delay_ns / 1e9, self.old_ns / 1e9
        step = self.alpha * (delay - self.target / 1e9) + self.beta * (delay - old)
        p += step * next((factor for below, factor in STEPS if p < below), 1.0)
        if self.delay_ns == 0 and self.old_ns == 0:
            p *= 0.98
        self.drop_prob = min(max(p, 0.0), 1.0)
        self.old_ns = self.delay_ns
        self.burst_ns = max(0, self.burst_ns - self.tupdate)
        self.due_ns += self.tupdate * ((now_ns - self.due_ns) // self.tupdate + 1)
