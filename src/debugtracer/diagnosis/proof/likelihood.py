"""How probable it is that an intervention heals a step, given its cause: the table of likelihood.toml, data in one
file."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

UNKNOWN = "unknown"
TABLE = Path(__file__).with_name("likelihood.toml")


@functools.cache
def table() -> dict[str, Any]:
    """Read the whole file likelihood.toml."""
    known: dict[str, Any] = tomllib.loads(TABLE.read_text())
    return known


def family(cause: str) -> str:
    """The family of a cause; a cause without one behaves as unknown."""
    known: dict[str, str] = table()["causes"]
    return known.get(cause, UNKNOWN)


def healed(cause: str, intervention: str) -> float:
    """Look up P(healed | cause, intervention), 0..1; the intervention as a slug without its value."""
    row: dict[str, float] = table()["families"][family(cause)]
    return row.get(intervention.partition("=")[0], row["default"])


def settles(cause: str, intervention: str) -> float:
    """Look up P(the loss is back where expected | cause, intervention) for a step of finite numbers."""
    rows: dict[str, dict[str, float]] = table()["finite"]
    row = rows.get(cause, rows[UNKNOWN])
    return row.get(intervention.partition("=")[0], row["default"])


def named(part: str, families: frozenset[str] | None = None) -> frozenset[str]:
    """The interventions that some row of a part of the table names; of those families alone where given."""
    rows: dict[str, dict[str, float]] = table()[part]
    return frozenset(
        slug for name, row in rows.items() if families is None or name in families for slug in row if slug != "default"
    )
