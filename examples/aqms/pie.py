"""PIE of RFC 8033 as a law in Python, with the same decisions as the built-in `pie`."""

from sojourn import law

# RFC 8033 §4.2: below a drop probability, the factor on the step.
STEPS = ((1e-6, 1 / 2048), (1e-5, 1 / 512), (1e-4, 1 / 128), (1e-3, 1 / 32), (0.01, 1 / 8),
         (0.1, 1 / 2))  # fmt: skip
# The accumulator counts in units of 2^-56, so that 0.85 and 8.5 are met exactly.
ONE = 1 << 56
LOW = ONE // 100 * 85 - (1 << 16)
HIGH = ONE // 10 * 85 - (1 << 16)


class Pie:
    """Drops arrivals with a probability from a PI controller of queue delay (RFC 8033)."""

    target = law.time("15ms", "Queue delay aimed at", source="RFC 8033 §4.2")
    tupdate = law.time("15ms", "Time between two updates", source="RFC 8033 §4.2")
    alpha = law.frequency("0.125hz", "Integral gain", source="RFC 8033 §4.2")
    beta = law.frequency("1.25hz", "Proportional gain", source="RFC 8033 §4.2")
    max_burst = law.time("150ms", "How long a burst may last", rule="any", source="RFC 8033 §4.4")
    ecn = law.flag(False, "Whether packets that can be marked are marked", source="RFC 8033 §5.1")

    drop_prob = law.var("1", "Probability in the controller")
    delay_s = law.var("s", "Queue delay known to the controller")

    def start(self, env):
        self.exempt_bytes = 2 * env.mtu_bytes
        self.burst_ns = self.max_burst
        self.sum = self.scaled = self.delay_ns = self.old_ns = 0
        self.due_ns = self.tupdate

    def on_enqueue(self, now_ns, head, queue, random):
        calm_now = 2 * self.delay_ns < self.target
        calm_before = 2 * self.old_ns < self.target
        if self.drop_prob == 0.0 and calm_now and calm_before:
            self.burst_ns = self.max_burst
        exempt = (self.drop_prob < 0.2 and calm_before) or queue.bytes <= self.exempt_bytes
        if self.burst_ns > 0 or exempt or not self.selects(random):
            return None
        self.sum = 0
        mark = self.ecn and self.drop_prob < 0.1 and head.can_mark
        return law.Verdict.signal(mark, law.RANDOM)

    def selects(self, random):
        """RFC 8033 §5.4: derandomised, with one draw at most."""
        if self.drop_prob == 0.0:
            self.sum = 0
            return False
        self.sum += self.scaled
        if self.sum < LOW:
            return False
        return self.sum >= HIGH or random.uniform() < self.drop_prob

    def on_overflow(self, now_ns, queue):
        self.sum = 0
        if queue.packets == 0:
            self.delay_ns = 0

    def on_dequeue(self, now_ns, head, queue, random):
        self.delay_ns = 0 if queue.packets == 0 else head.sojourn_ns

    def next_timer(self):
        return self.due_ns

    def on_timer(self, now_ns, queue):
        """RFC 8033 §4.2: one update of the drop probability."""
        p, delay, old = self.drop_prob, self.delay_ns / 1e9, self.old_ns / 1e9
        step = self.alpha * (delay - self.target / 1e9) + self.beta * (delay - old)
        step *= next((factor for below, factor in STEPS if p < below), 1.0)
        p += min(step, 0.02) if p >= 0.1 else step  # RFC 8033 §5.5
        if self.delay_ns == 0 and self.old_ns == 0:
            p *= 0.98
        self.drop_prob = min(max(p, 0.0), 1.0)
        self.scaled = round_half_up(self.drop_prob * ONE)
        self.old_ns, self.delay_s = self.delay_ns, delay
        self.burst_ns = max(0, self.burst_ns - self.tupdate)
        self.due_ns += self.tupdate * ((now_ns - self.due_ns) // self.tupdate + 1)


def round_half_up(x):
    """Like C's `round`: halves away from zero."""
    return int(x + 0.5) if x < 1 << 52 else int(x)
