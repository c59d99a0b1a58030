"""A law that learns: it measures the delivery rate and tries, interval by interval, how many
signals keep the queue at its target.

The state is one number, the logarithm of the signal probability, moved up or down by a step that
halves when the sign of the error changes and grows when it does not (as in sign-based descent). The
delay is the backlog over the measured rate, so a change of the link's rate takes effect within one
interval, before the packets with long delays reach the head.

    sojourn compare rate-steps --aqm pie,examples/aqms/learning.py:Learning --seeds 10
"""

import math

from sojourn import law


class Learning:
    """Moves a drop probability by learned steps towards a target delay of the measured rate."""

    target = law.time("10ms", "Queue delay aimed at", source="our choice")
    interval = law.time("25ms", "Time between two steps", source="our choice")
    least = law.number("0.0001", "Smallest probability while the queue is above target",
                       rule="probability", source="our choice")  # fmt: skip
    ecn = law.flag(True, "Whether packets that can be marked are marked", source="RFC 7567 §4.2.1")

    drop_prob = law.var("1", "Probability of a signal")
    rate_bps = law.var("bit/s", "Measured delivery rate; 0 before the first measurement")
    step = law.var("1", "Step of the logarithm of the probability")

    def start(self, env):
        """Start without signals and without a known rate."""
        self.due_ns = self.interval
        self.bytes = 0
        self.is_busy = False
        self.was_above = False
        self.step = 0.5

    def on_enqueue(self, now_ns, head, queue, random):
        """Signal arrivals behind at least two packets."""
        if queue.packets >= 2 and random.uniform() < self.drop_prob:
            return law.Verdict.signal(self.ecn and head.can_mark, law.RANDOM)
        return law.Verdict.PASS

    def on_dequeue(self, now_ns, head, queue, random):
        """Count what the link delivers; only a busy link shows its rate."""
        self.bytes += head.bytes
        return law.Verdict.PASS

    def on_empty(self, now_ns):
        """The link was idle during a part of this interval, so its count does not show the rate."""
        self.is_busy = False

    def next_timer(self):
        """One grid of times, whatever the queue does."""
        return self.due_ns

    def on_timer(self, now_ns, queue):
        """One step."""
        if self.is_busy and self.bytes > 0:
            sample = 8e9 * self.bytes / self.interval
            self.rate_bps = sample if self.rate_bps == 0 else (3 * self.rate_bps + sample) / 4
        delay_s = 8 * queue.bytes / self.rate_bps if self.rate_bps > 0 else 0.0
        self.move(delay_s > self.target / 1e9)
        self.bytes, self.is_busy = 0, queue.packets > 0
        self.due_ns += self.interval

    def move(self, above):
        """Grow the step by a fifth while the error keeps its sign, halve it when that changes."""
        factor = 1.2 if above == self.was_above else 0.5
        self.step = min(1.0, max(0.02, self.step * factor))
        self.was_above = above
        if above:
            self.drop_prob = min(1.0, max(self.least, self.drop_prob) * math.exp(self.step))
        elif self.drop_prob > 0.0:
            self.drop_prob *= math.exp(-self.step)
            if self.drop_prob < self.least:
                self.drop_prob = 0.0
