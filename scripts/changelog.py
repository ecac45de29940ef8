"""Writes CHANGELOG.md from the fragments in changes/, with towncrier.

python scripts/changelog.py              the section of this version, as `unreleased`, made anew; the fragments stay
python scripts/changelog.py --released   the same with the date of today; the fragments are deleted
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CHANGELOG.md"
UNRELEASED = "unreleased"


def version() -> str:
    """Return the version in pyproject.toml."""
    found = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found, "pyproject.toml names no version"
    return found[1]


def without(page: str, name: str) -> str:
    """Return the page without the section of a version that is not released."""
    return re.sub(rf"^## {re.escape(name)} \({UNRELEASED}\)\n.*?(?=^## |\Z)", "", page, flags=re.MULTILINE | re.DOTALL)


def main(arguments: list[str]) -> int:
    """Write the section; status 2 where the version is released already."""
    name, is_released = version(), "--released" in arguments
    page = without(PAGE.read_text(), name)
    if f"\n## {name} (" in page:
        print(
            f"CHANGELOG.md - {name} is released - expected a new version - raise `version` in pyproject.toml",
            file=sys.stderr,
        )
        return 2
    PAGE.write_text(page)
    command = [sys.executable, "-m", "towncrier", "build", "--version", name]
    command += (
        ["--yes", "--date", datetime.date.today().isoformat()] if is_released else ["--keep", "--date", UNRELEASED]
    )
    return subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
