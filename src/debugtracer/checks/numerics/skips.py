"""Updates that a GradScaler skipped one after the other: counted by the hooks for each optimizer, in older runs by the
check itself."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.window import SCALER_SKIPPED, SKIPPED_ROW, Window


def skips_in_a_row(window: Window, memory: dict[Any, Any]) -> int:
    """The updates skipped in a row up to this step, also where the judge did not see each of them; call once a
    window."""
    counted = window.now(SKIPPED_ROW)
    memory["counted"] = memory.get("counted", 0) + 1 if window.now(SCALER_SKIPPED) == 1.0 else 0
    return int(memory["counted"] if counted is None else counted)
