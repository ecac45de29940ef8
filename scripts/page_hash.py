"""The hash of the page's sources, kept beside the built page, so that a stale build is seen without node."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "page"
BUILT = ROOT / "src" / "debugtracer" / "views" / "page" / "template.html"
KEPT = BUILT.with_name("template.sha256")
SOURCES = ("index.html", "package.json", "package-lock.json", "svelte.config.js", "tsconfig.json", "vite.config.ts")


def digest() -> str:
    """Hash every source of the page and the built file, names included."""
    files = [PAGE / name for name in SOURCES] + sorted(p for p in (PAGE / "src").rglob("*") if p.is_file()) + [BUILT]
    total = hashlib.sha256()
    for file in files:
        total.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


if __name__ == "__main__":
    if "--write" in sys.argv:
        KEPT.write_text(digest() + "\n")
    elif KEPT.read_text().strip() != digest():
        sys.exit("the built page is stale: run `bash scripts/page.sh` (it needs node 20.19 or later) and commit it")
