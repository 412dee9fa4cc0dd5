"""`python -m margent` is the command `margent`."""

from __future__ import annotations

import sys

from margent.cli import main

sys.exit(main())
