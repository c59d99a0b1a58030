"""Open loops: transfer functions, margins, and responses in time.

It is not called `loop`, because `sojourn.stability.loop` is a function.
"""
