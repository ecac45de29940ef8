"""Where a finding points to: what a person opens, edits or looks at."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Fields mean what they mean in the verdict (docs/rationale/contracts.md#fields); everything may be unknown."""

    module: str | None = None
    param: str | None = None
    op: str | None = None
    frame: Frame | None = None
    """The line where a person edits."""
    argument: str | None = None
    """The keyword of the call on that line whose value is to change, where the check names one."""
    symptom_frame: Frame | None = None
    """The line where it showed, when that is another one."""
    batch_rows: tuple[int, ...] | None = None
    sample_index: tuple[int, ...] | None = None
    whole_index: tuple[int, ...] | None = None
    """The same samples in the dataset below a Subset; None without one."""
