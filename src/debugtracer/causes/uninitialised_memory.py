"""Memory was read that nobody had written."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import Reading
from debugtracer.trace.finding import Layer


class UninitialisedMemory(Cause):
    """torch.empty (or new_empty, empty_like) was used before it was filled."""

    kind: ClassVar[str] = "bad_init"
    hears: ClassVar[bool] = False
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("reinit-layer", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("lower-lr", "clipped-gradient")
    rewrites: ClassVar[tuple[str, ...]] = ("allocated",)
    remedies: ClassVar[tuple[str, ...]] = (
        "use torch.zeros, or fill the tensor before its first use",
        "initialise every nn.Parameter(torch.empty(...)) with an nn.init function",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """The birth is a read of memory that was allocated and not filled."""
        if seen.facts.birth is None or seen.birth.kind != "uninitialised":
            return None
        return Signs(
            confidence=0.85,
            because=f"{seen.op} reads memory that torch.empty allocated and nobody filled",
            remedies=self.remedies,
        )
