"""Write what is generated in `docs/`, or say what is stale: `python -m tests.pages --write | --check`."""

from __future__ import annotations

import sys

from tests.pages import protocols, rules, tables

if __name__ == "__main__":
    sys.exit(max([part.main(sys.argv[1:]) for part in (tables, protocols, rules)]))
