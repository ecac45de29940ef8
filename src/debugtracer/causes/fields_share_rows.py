"""Fields that should have rows of their own share those of one table."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.model.fields_share_rows import FieldsShareRows as Said
from debugtracer.trace.finding import Layer


class FieldsShareRows(Cause):
    """The ids of each field begin at 0 and no offset, or a wrong one, tells the fields apart: unlike things are one
    vector."""

    kind: ClassVar[str] = "fields_share_rows"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau", "optimizer/embedding-gradient")
    remedies: ClassVar[tuple[str, ...]] = Said.remedies
