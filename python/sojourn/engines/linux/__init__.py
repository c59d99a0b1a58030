"""The engine ``linux``: the real kernel's TCP, with its or our discipline at the bottleneck."""

from sojourn.engines.protocol import Declaration, EngineOption

DECLARED = Declaration(
    "linux",
    "the real kernel",
    (
        EngineOption(
            "kernel", noun="a kernel", metavar="PATH",
            help="a User-Mode Linux kernel of your own, say with a patched qdisc.",
        ),
    ),
)  # fmt: skip
