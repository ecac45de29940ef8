"""Lines that build one optimizer after the other, as where each task, client or member starts anew: the first of them
are seen whole, the others are paid for like any step."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById

WHOLE = 24  # optimizers of a line (ours): as many as whoever looks at lines that build again follows
MOST = 64  # lines that are followed (ours)


class BuiltLines:
    """One per session."""

    def __init__(self, state: RunState, known: ById[Optimizer, bool]) -> None:
        self.state, self.known = state, known
        self.counts: dict[RawFrames, int] = {}

    def knows(self, optimizer: Optimizer) -> bool:
        """Count an optimizer; whether what its line builds has been seen whole often enough. Then it is known too."""
        raw = self.state.optimizers.get(optimizer)
        if not raw or (len(self.counts) >= MOST and raw not in self.counts):
            return False
        count = self.counts[raw] = self.counts.get(raw, 0) + 1
        if count > WHOLE:
            self.known[optimizer] = True
        return count > WHOLE

    def reset(self) -> None:
        """Forget what each line has built."""
        self.counts.clear()
