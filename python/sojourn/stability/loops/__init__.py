"""Open loops: transfer functions, margins, and responses in time.

Not called `loop`, since `sojourn.stability.loop` is the function.
"""
