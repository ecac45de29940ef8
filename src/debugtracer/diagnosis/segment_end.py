"""What happens between two steps: the tape of the closed one goes to the ring, perhaps with a snapshot, and a jump of
the loss that waits is looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.errors import guarded
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.listeners import SegmentListener
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.step_tape import Segment, Tape
from debugtracer.trace.facts.fact import Fact

LOOKS = 2  # segments of each optimizer that are read (ours: an epoch begins in the first)


class SegmentEnd(SegmentListener):
    """One per session."""

    def __init__(
        self,
        tape: Tape,
        state: RunState,
        ring: SnapshotRing,
        output: Output,
        findings: RunFindings,
        governor: Governor,
        tell: Callable[[Fact], None],
    ) -> None:
        """Take `tell`, which hears of what a tape shows."""
        self.tell = tell
        self.tape, self.state, self.ring, self.output, self.findings = tape, state, ring, output, findings
        self.governor = governor
        self.looks: ById[Any, int] = ById()
        """Segments of each optimizer that were read for orders of rows."""

    def segment_closed(self) -> None:
        """Called by the gate after each step."""
        tape, state = self.tape, self.state
        if tape.previous is not None and not tape.previous.rested:
            self.read_orders(tape.previous)
            self.ring.segment(tape.previous, state.root_states.get(tape.previous.number, ()))
        if self.governor.affords(Part.COPIES):
            why = self.ring.consider(
                tape.current.number, state.step, list(state.optimizers), state.step_s, self.findings.loss_level
            )
            if why:
                self.output.note("ring-off", why)
        self.findings.between_steps()

    @guarded("diagnosis.segment_end: orders")
    def read_orders(self, closed: Segment) -> None:
        """Look in the first segments of each optimizer for rows that were put in two orders."""
        stepped = next((e.args[0] for e in reversed(closed.entries) if e.kind == "step" and e.args), None)
        looks = self.looks.get(stepped, 0) if stepped is not None else LOOKS
        if looks >= LOOKS:
            return
        self.looks[stepped] = looks + 1
        from debugtracer.diagnosis.shuffled_apart import shuffled_apart

        fact = shuffled_apart(closed, self.output.rank)
        if fact is not None:
            self.looks[stepped] = LOOKS
            self.tell(fact)
