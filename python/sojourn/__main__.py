"""``python -m sojourn`` is ``sojourn``."""

import sys

from sojourn.cli import main

sys.exit(main())
