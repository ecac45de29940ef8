"""When and at which commit a result is measured: what every kept result says of itself."""

from __future__ import annotations

import datetime
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "unknown"


@functools.cache
def commit(root: Path = ROOT) -> str:
    """The commit of this checkout, `-dirty` where src/ differs from it; asked once, since a run that keeps rows lasts
    long. `unknown` without git."""
    head = git(root, "rev-parse", "--short=7", "HEAD")
    if head is None:
        return UNKNOWN
    return (
        head.strip() if git(root, "diff-index", "--quiet", "HEAD", "--", "src") is not None else f"{head.strip()}-dirty"
    )


def git(root: Path, *words: str) -> str | None:
    """What a git command printed; None where it failed or there is no git."""
    try:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def stamp() -> dict[str, str]:
    """Date and commit, as they stand at the head of a kept result."""
    return {"date": datetime.date.today().isoformat(), "commit": commit()}


def measured(stamps: set[tuple[str, str]]) -> str:
    """`2026-11-22 at 551e86f`; several days and several commits of a day are all named."""
    days: dict[str, list[str]] = {}
    for date, at in sorted(stamps):
        days.setdefault(date or "date unknown", []).append(at)
    return "; ".join(day(date, commits) for date, commits in days.items())


def day(date: str, commits: list[str]) -> str:
    """`2026-11-22 at 551e86f and 8d8e74b`; a commit that nobody wrote down is said."""
    known = [at for at in commits if at != UNKNOWN]
    return (f"{date} at {' and '.join(known)}" if known else date) + ("" if known == commits else ", commit unknown")
