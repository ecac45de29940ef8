"""The second mechanism of replay: the loader gives the same batch again and the loop's own next iteration runs under
the op tracer.

The loop sees an extra iteration, so this is for mode dev only, where the run stops right after it.
(docs/rationale/replay.md#reyield)"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from torch import Tensor

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.tape.entry import tensors
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.trace.incident import ReplayFacts

if TYPE_CHECKING:
    from debugtracer.replay.investigation import Investigation
    from debugtracer.replay.op_trace.op_tracer import OpTracer
    from debugtracer.replay.op_trace.op_tracker import OpTracker


class ReYield:
    """Waits for the loop to ask for its next batch. Between arming and finishing no update is written. What a replay
    needs is imported by the first."""

    def __init__(self, context: ReplayContext) -> None:
        self.context = context
        self.last: tuple[weakref.ref[Any], Any] | None = None
        """The iterator and the data it gave last."""
        self.alarm: Alarm | None = None
        self.refused: tuple[str, ...] = ()
        self.earlier: Investigation | None = None
        """What was found before the batch is fetched again: it stands where that shows nothing."""
        self.tracer: OpTracer | None = None
        self.ledger: OpTracker | None = None

    @property
    def held(self) -> bool:
        """True while the loop runs on without being allowed to write."""
        return self.alarm is not None

    def fetched(self, iterator: Any, data: Any) -> None:
        """Keep the data of the last fetch: one batch, by reference."""
        self.last = weakref.ref(iterator), data

    def arm(self, alarm: Alarm, result: Investigation) -> bool:
        """Wait for the next fetch; False when there is no batch to give again or nothing a forward or backward could
        show.

        Also on several ranks: the others would wait for an iteration that they do not make."""
        if (
            several_ranks()
            or self.last is None
            or alarm.written
            or alarm.scaler is not None
            or alarm.symptom not in {"nan_loss", "inf_grad"}
        ):
            return False
        self.alarm, self.refused, self.earlier = alarm, result.replay.refused, result
        return True

    def again(self, iterator: Any) -> tuple[Any] | None:
        """The same data once more, the state of the step restored and the tracer started; None for another iterator."""
        if self.alarm is None or self.tracer is not None or self.last is None or self.last[0]() is not iterator:
            return None
        alarm = self.alarm
        for state in self.context.states.get(alarm.segment.number, []):
            state.restore()
        for module in list(self.context.roots.known):
            for parameter in module.parameters():
                parameter.grad = None
        drawn = next((e.rng for e in alarm.segment.entries if e.rng is not None), None)
        if drawn is not None:
            drawn.restore()
        self.begin()
        return (self.last[1],)

    def begin(self) -> None:
        """Start the op tracer on this thread, until finish()."""
        from debugtracer.replay.op_trace.op_tracer import OpTracer
        from debugtracer.replay.op_trace.op_tracker import OpTracker
        from debugtracer.replay.targets import name_roots

        self.ledger = OpTracker()
        self.tracer = OpTracer(observers=[self.ledger])
        name_roots(self.tracer, self.context.roots)
        for module in list(self.context.roots.known):
            for name, parameter in module.named_parameters():
                self.tracer.label(parameter, f"parameter {name}")
        batch = self.context.batches.last()
        for path, leaf in batch.tensors() if batch is not None else []:
            self.tracer.label(leaf, path)
        self.tracer.__enter__()

    def finish(self, seen: Alarm | None) -> tuple[Alarm, Investigation]:
        """What the extra iteration showed; `seen` is the alarm it raised, None when it raised none. The tracer is taken
        off."""
        from debugtracer.replay.guilty import GuiltyBatch
        from debugtracer.replay.investigation import Investigation
        from debugtracer.replay.op_trace.birth import find_birth
        from debugtracer.replay.parity import bad

        first, tracer, earlier = self.alarm, self.tracer, self.earlier
        assert first is not None
        self.alarm = self.tracer = self.earlier = None
        if tracer is not None:
            tracer.__exit__(None, None, None)
        batch = self.context.batches.last()
        guilty = GuiltyBatch(first.microbatch, batch, batch.rows if batch is not None else None, [])
        targets = self.targets(seen) if seen is not None else []
        wrong = [(name, tensor) for name, tensor in targets if bad(tensor)]
        facts = ReplayFacts(
            mechanism="re-yield" if tracer is not None else "flight-record",
            reproduced=bool(wrong),
            parity="anomaly only"
            if wrong
            else "not reproduced"
            if tracer is not None
            else f"not replayed: {self.refused[0].partition(': ')[2]}",
            refused=self.refused,
        )
        ledger = self.ledger
        birth = find_birth(ledger, targets=wrong, batch_rows=guilty.rows) if wrong and ledger is not None else None
        if birth is None and earlier is not None and earlier.birth is not None:
            return first, earlier
        names = [name.partition(" ")[2] for name, _ in wrong if " " in name]
        return first, Investigation(facts, birth=birth, guilty=guilty, bad_names=names)

    def targets(self, seen: Alarm) -> list[tuple[str, Tensor]]:
        """Where the fault shows in the extra iteration."""
        if seen.symptom == "nan_loss" and seen.loss is not None:
            return [("loss", seen.loss)]
        if seen.symptom == "nan_output":
            return [("output", t) for t in tensors(seen.output) if t.is_floating_point()]
        names = self.context.roots.named_parameters()
        parameters = self.context.parameters(seen.optimizer) if seen.optimizer is not None else []
        return [(f"gradient {names.get(id(p), n)}", p.grad) for n, p in enumerate(parameters) if p.grad is not None]
