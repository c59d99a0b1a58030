"""The AQM of this project: it drops a packet at the head that has waited longer than the target."""

from sojourn import law


class Step:
    """Drops what has waited longer than a target."""

    target = law.time("5ms", "Delay above which a packet is dropped", source="this project")

    def on_dequeue(self, now_ns, head, queue, random):
        """Drop the head, unless it is the last packet."""
        if head.sojourn_ns > self.target and queue.packets:
            return law.Verdict.DROP_DETERMINISTIC
        return None
