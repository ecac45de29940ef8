"""Keeps the tree in ARCHITECTURE.md true: `--write` makes it from the module docstrings, `--check` fails when it is stale."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "debugtracer"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- tree:begin -->", "<!-- tree:end -->"


def purpose(path: Path) -> str:
    """The first line of a file's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.split("\n")[0]


def lines(folder: Path, depth: int = 0) -> Iterator[str]:
    """One line for each source file and room below `folder`; a room is explained by its `__init__.py`."""
    pad = "  " * depth
    for path in sorted(folder.iterdir(), key=lambda p: (p.is_dir(), p.name)):
        if path.is_dir() and list(path.rglob("*.py")):
            about = purpose(path / "__init__.py") if (path / "__init__.py").exists() else ""
            yield f"{pad}{path.name + '/':<{30 - 2 * depth}} {about}".rstrip()
            yield from lines(path, depth + 1)
        elif path.suffix == ".py" and (depth == 0 or path.name != "__init__.py"):
            yield f"{pad}{path.name:<{30 - 2 * depth}} {purpose(path)}".rstrip()


def tree() -> str:
    """The tree as it stands in the page, markers included."""
    return "\n".join([BEGIN, "```", "src/debugtracer/", *lines(PACKAGE, 1), "```", END])


def with_tree(page: str) -> str:
    """The page with a fresh tree between its markers."""
    head, rest = page.split(BEGIN)
    return head + tree() + rest.split(END)[1]


def main(arguments: list[str]) -> int:
    """Write or check; the status is 1 when the page is stale."""
    page = PAGE.read_text()
    fresh = with_tree(page)
    if "--write" in arguments:
        PAGE.write_text(fresh)
    elif page != fresh:
        print("ARCHITECTURE.md - its tree is not the real tree - expected what the module docstrings say - run `python scripts/tree.py --write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
