"""What forwards change beside parameters (running statistics, counters, carried tensors), as it was when the last
update was over."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from debugtracer.errors import swallow
from debugtracer.recorder.listeners import SegmentListener
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.attributes import BUFFERS, AttributeCopy
from debugtracer.recorder.state.buffer_values import put, renew, value_of
from debugtracer.recorder.state.roots import Root
from debugtracer.recorder.tape.step_tape import Tape


class WindowState(SegmentListener):
    """One per process, in the modes that leave updates out. The tape keeps such states with each step; while it rests
    they are copied here, of the modules alone that were seen to change anything."""

    def __init__(self, state: RunState, tape: Tape, segments: SegmentListener) -> None:
        self.state, self.tape, self.segments = state, tape, segments
        self.sources: list[Tensor] = []
        self.values: list[Tensor] = []
        self.owners: list[tuple[nn.Module, str]] = []
        self.attributes = AttributeCopy([])
        self.whole = False
        """Something is kept of the window in flight."""

    def segment_closed(self) -> None:
        """Hand the call on to the next listener."""
        self.segments.segment_closed()

    def update_over(self) -> None:
        """Keep the state while the tape does not."""
        rests, kept, self.whole = self.tape.current.rested, self.whole, False
        if not rests:
            return
        try:
            if not kept or any(name == BUFFERS for _, name in self.owners):  # other tensors stand there now
                self.choose([root for _, root in self.state.roots.known.items()])
            elif self.sources:
                renew(self.values, self.sources, torch._foreach_copy_)
            if self.owners:
                self.attributes = AttributeCopy(self.owners)
            self.whole = True
        except Exception as error:
            swallow("recorder.window_state", error)

    def choose(self, roots: list[Root]) -> None:
        """Choose what is to be kept while the tape rests, and copy its buffers; what moves is learned while the tape
        works."""
        copies = [(buffer, value_of(buffer)) for root in roots for buffer in root.moving_buffers()]
        self.sources = [buffer for buffer, value in copies if value is not None]
        self.values = [value for _, value in copies if value is not None]
        found = [(owner(), name) for root in roots for (_, name), owner in root.attributes.items()]
        self.owners = [(module, name) for module, name in found if module is not None]

    def put_back(self) -> list[str]:
        """Put everything back as the window found it; the answer names what."""
        if not self.tape.current.rested:
            states = self.state.root_states.get(self.tape.current.number, [])
            for state in states:
                state.restore()
            return ["buffers"] if any(state.buffers for state in states) else []
        if not self.whole:
            return []
        for buffer, value in zip(self.sources, self.values, strict=True):
            put(buffer, value)
        self.attributes.restore()
        return ["buffers"] if self.sources else []

    def not_held(self) -> str:
        """What a forward may have changed and nothing puts back, in a clause; empty where there is nothing."""
        kinds = {kind for _, root in self.state.roots.known.items() for kind in root.not_held}
        return f"buffers {', '.join(sorted(kinds))} are not held: torch copies none" if kinds else ""


def clear_gradients(parameters: list[Tensor]) -> None:
    """Set gradients to zero in place: what the loop reads of them after the step is there, and the next window adds to
    nothing."""
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad.zero_()
