"""Drops in proportion to delay: the simplest controller, as a first law.

    sojourn compare traffic-mix --aqm pie,examples/aqms/proportional.py:Proportional --seeds 10
    sojourn check examples/aqms/proportional.py:Proportional --out check

Without an integral term the delay settles above the target, by as much as the load needs drops:
more flows, more delay. The heat map of `sojourn check` shows that error.
"""

from sojourn import law


class Proportional:
    """Signals arrivals with a probability proportional to the delay above its target."""

    target = law.time("5ms", "Queue delay that is not signalled", source="our choice")
    gain = law.frequency("2hz", "Probability per second of delay above the target",
                         source="our choice: 1 % at 5 ms above")  # fmt: skip
    ecn = law.flag(True, "Whether packets that can be marked are marked", source="RFC 7567 §4.2.1")
    drop_prob = law.var("1", "Probability of a signal")

    def on_enqueue(self, now_ns, head, queue, random):
        """Signal with the probability that the last departure gave."""
        if random.uniform() < self.drop_prob:
            return law.Verdict.signal(self.ecn and head.can_mark, law.RANDOM)
        return law.Verdict.PASS

    def on_dequeue(self, now_ns, head, queue, random):
        """Learn the delay; never drop at the head."""
        above_s = max(0, head.sojourn_ns - self.target) / 1e9
        self.drop_prob = min(1.0, self.gain * above_s)
        return law.Verdict.PASS

    def on_empty(self, now_ns):
        """An empty queue has no delay."""
        self.drop_prob = 0.0
