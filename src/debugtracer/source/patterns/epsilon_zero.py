"""A normalisation or an optimizer whose epsilon is set to zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source

NORMS = frozenset({
    "LayerNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "RMSNorm", "layer_norm", "batch_norm", "group_norm", "instance_norm",
    "rms_norm", "normalize", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "RMSprop",
})  # fmt: skip


@dataclass(frozen=True)
class EpsilonZero(Pattern):
    """Every normalisation divides by a spread or a second moment that is 0 for constant values; its epsilon is what
    keeps that from 0/0."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield normalisations and optimizers with a literal `eps=0`."""
        for node in source.program.nodes:
            name = (source.names.meaning(node.func) or "") if isinstance(node, ast.Call) else ""
            if not isinstance(node, ast.Call) or not name.startswith("torch.") or name.rpartition(".")[2] not in NORMS:
                continue
            if any(k.arg == "eps" and source.value(k.value).constant == 0 for k in node.keywords):
                seen = f"{name.rpartition('.')[2]} with eps=0: 0/0 where all values are equal"
                yield self.hit(
                    source, node, seen, "an epsilon above 0", "leave the default, or take one that the dtype can hold"
                )
