"""A checkpoint file is damaged."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class CkptCorrupt(Cause):
    """Cut short by a full disk or a kill while writing, or changed since: torch.load raises or loads something else."""

    kind: ClassVar[str] = "ckpt_corrupt"
    layer: ClassVar[Layer] = "rollback"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("older-weights",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "other-batch")
    remedies: ClassVar[tuple[str, ...]] = (
        "go back to the checkpoint before it",
        "write to another name and rename: os.replace(temporary, final)",
    )
