"""Half precision off for a while: autocast contexts that the program enters stay without effect, then work again."""

from __future__ import annotations

import contextlib
from typing import Any

from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.interventions.recast import entered_off

SEGMENT = 50  # written updates in full precision (ours: as long as the lowered rate of a roll-back)


class FullPrecisionSegment:
    """Of one optimizer; it ends by itself after SEGMENT written updates."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.written = 0
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(entered_off())
        self.stack.callback(optimizer.register_step_post_hook(self.update_written).remove)
        self.active = True

    @guarded("responses.full_precision_segment")
    def update_written(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Count an update that the scaler let through, and end where these were all."""
        self.written += 1
        if self.written >= SEGMENT:
            self.end()

    def end(self) -> None:
        """Let autocast work again."""
        self.active = False
        self.stack.close()
