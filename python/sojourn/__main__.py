"""``python -m sojourn`` is ``sojourn``."""

import sys


def main() -> int:
    """Run the command; Ctrl-C while its modules are imported ends it as later."""
    try:
        from sojourn.cli import main as command
    except KeyboardInterrupt:
        print("sojourn: interrupted", file=sys.stderr)
        return 130
    return command()


if __name__ == "__main__":
    sys.exit(main())
