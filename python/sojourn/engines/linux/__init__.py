"""The engine ``linux``: the kernel's TCP, with its or our discipline at the bottleneck."""

from sojourn.engines.protocol import Declaration, EngineOption

DECLARED = Declaration(
    "linux",
    "the real kernel",
    (
        EngineOption(
            "kernel", noun="a kernel", metavar="RELEASE|PATH",
            help="the guest kernel of another release, such as 7.2, one that `sojourn kernel build "
            "--patch` named, or a User-Mode Linux kernel of your own. `compare` takes several, "
            "separated by commas.",
        ),
    ),
)  # fmt: skip
