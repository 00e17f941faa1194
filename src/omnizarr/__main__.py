"""`python -m omnizarr` is `oz`."""

from __future__ import annotations

import sys

from omnizarr.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
