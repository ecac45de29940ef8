"""Where the case tests lie: reconstructions of reported failures, kept outside this repository, with the program that
scores them.

The variable DEBUG_TRACER_SHARED names their folder; else it is the folder `shared` beside this checkout. Every script
and test that reads a case asks here. Without that folder the cases are not scored, and whoever wanted them says so.
"""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("DEBUG_TRACER_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CASES = SHARED / "cases"
SCORER = SHARED / "tools" / "score_cases.py"
