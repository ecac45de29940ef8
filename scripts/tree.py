"""Makes docs/tree.md, the source tree with the purpose of each file: `--write` from the module docstrings, `--check`
fails when it is stale."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from debugtracer.docstrings import title

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "debugtracer"
PAGE = ROOT / "docs" / "tree.md"
HEAD = """\
# The source tree

<!-- made by `python scripts/tree.py --write`; edit the docstring of a file instead -->

Each file with the first paragraph of its docstring. How they work together: [architecture](../ARCHITECTURE.md).
"""


def purpose(path: Path) -> str:
    """The first paragraph of a file's docstring."""
    return title(ast.get_docstring(ast.parse(path.read_text())) or "")


def lines(folder: Path, depth: int = 0) -> Iterator[str]:
    """One line for each source file and folder below `folder`; a folder is explained by its `__init__.py`."""
    pad = "  " * depth
    for path in sorted(folder.iterdir(), key=lambda p: (p.is_dir(), p.name)):
        if path.is_dir() and list(path.rglob("*.py")):
            about = purpose(path / "__init__.py") if (path / "__init__.py").exists() else ""
            yield f"{pad}{path.name + '/':<{30 - 2 * depth}} {about}".rstrip()
            yield from lines(path, depth + 1)
        elif path.suffix == ".py" and (depth == 0 or path.name != "__init__.py"):
            yield f"{pad}{path.name:<{30 - 2 * depth}} {purpose(path)}".rstrip()


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, "```", "src/debugtracer/", *lines(PACKAGE, 1), "```", ""])


def main(arguments: list[str]) -> int:
    """Write or check; the status is 1 when the page is stale."""
    fresh = page()
    if "--write" in arguments:
        PAGE.write_text(fresh)
    elif not PAGE.exists() or PAGE.read_text() != fresh:
        print(
            "docs/tree.md - it is not the real tree - expected what the module docstrings say - run `python "
            "scripts/tree.py --write`"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
