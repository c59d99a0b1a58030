"""CoDel of RFC 8289 as a law in Python, with the same decisions as the built-in `codel`.

sojourn compare traffic-mix --aqm codel,codel.py:CoDel --seeds 3
"""

import math

from sojourn import law


class CoDel:
    """Controlled delay: drops at the head once sojourn times stay above a target (RFC 8289)."""

    target = law.time("5ms", "Sojourn time that is acceptable as a standing delay",
                      source="RFC 8289 §4.3")  # fmt: skip
    interval = law.time("100ms", "Time above target before the first drop; a worst-case RTT",
                        source="RFC 8289 §4.2")  # fmt: skip
    ecn = law.flag(False, "Whether packets that can be marked are marked instead of dropped",
                   source="RFC 8289 has no ECN")  # fmt: skip

    dropping = law.var("1", "1 in the dropping state, else 0")
    count = law.var("1", "Signals in this or the last dropping state")
    sojourn = law.var("s", "Sojourn time of the last packet at the head")

    def start(self, env):
        self.mtu_bytes = env.mtu_bytes
        self.count = 0
        self.last_count = 0
        self.first_above = None
        self.drop_next = None
        # quiet, entered, dropping or dropped: where in RFC 8289 §5.5 the last verdict was given.
        self.state = "quiet"

    def on_dequeue(self, now_ns, head, queue, random):
        above = self.is_above(now_ns, head.sojourn_ns, queue.link_bytes)
        can_mark = self.ecn and head.can_mark
        if self.state == "quiet":
            return self.enter(now_ns, can_mark) if above else None
        if self.state == "entered":
            return self.go("dropping")
        if not above:
            return self.go("quiet")
        if self.state == "dropped":
            self.drop_next += self.spacing()
        return self.continue_dropping(now_ns, can_mark)

    def on_empty(self, now_ns):
        self.first_above = None
        if self.state != "quiet":
            self.go("dropping" if self.state == "entered" else "quiet")

    def is_above(self, now_ns, sojourn_ns, link_bytes):
        """RFC 8289 §5.6 `dodequeue`: whether a drop is allowed now."""
        self.sojourn = sojourn_ns / 1e9
        if sojourn_ns < self.target or link_bytes <= self.mtu_bytes:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now_ns + self.interval
        return now_ns >= self.first_above

    def enter(self, now_ns, can_mark):
        """RFC 8289 §5.5: at the rate that worked last time, if that was recent."""
        recent = self.drop_next is not None and now_ns - self.drop_next < 16 * self.interval
        grown = self.count - self.last_count
        self.count = self.last_count = grown if grown > 1 and recent else 1
        self.drop_next = now_ns + self.spacing()
        self.go("dropping" if can_mark else "entered")
        return law.Verdict.signal(can_mark, law.DETERMINISTIC)

    def continue_dropping(self, now_ns, can_mark):
        """One iteration of the loop of RFC 8289 §5.5."""
        if now_ns < self.drop_next:
            return self.go("dropping")
        self.count += 1
        if can_mark:
            self.drop_next += self.spacing()
        self.go("dropping" if can_mark else "dropped")
        return law.Verdict.signal(can_mark, law.DETERMINISTIC)

    def spacing(self):
        """The control law: interval / sqrt(count)."""
        return int(self.interval / math.sqrt(self.count))

    def go(self, state):
        self.state = state
        self.dropping = 0 if state == "quiet" else 1
