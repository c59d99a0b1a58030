"""The engine ``linux``: the real kernel's TCP, with its or our discipline at the bottleneck."""
