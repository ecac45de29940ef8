"""The names of the commands: every module of this folder is one, found by its file."""

from __future__ import annotations

import pkgutil

from debugtracer import commands


def names() -> list[str]:
    """The commands, by their files."""
    return sorted(
        m.name for m in pkgutil.iter_modules(commands.__path__) if m.name != "app" and not m.name.startswith("_")
    )
