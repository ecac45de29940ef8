"""Which calls of the step wrote a tensor in place: its forward executed again, for a backward that died of one of
them in a step nobody looked at closely."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import user_frames
from debugtracer.observers.graph.inplace_writes import is_write
from debugtracer.recorder.tape.entry import Entry
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan, make_plan
from debugtracer.replay.rewind import ReplayedState, eager, hushed
from debugtracer.replay.targets import name_roots
from debugtracer.replay.written_rows import WrittenRows
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import InplaceWrite

MOST = 512  # writes kept (ours)
NOT_FORWARD = frozenset({"backward", "step", "unscale"})


class InplaceCalls(TorchFunctionMode):
    """Notes each call that writes in place, with the version counter it leaves."""

    def __init__(self, names: dict[int, str], last: WrittenRows) -> None:
        """Take the names of parameters by id, and who knows the op that wrote last."""
        super().__init__()
        self.names = names
        self.last = last
        self.found: list[InplaceWrite] = []
        self.recorded: Frame | None = None
        """The line of a call of the loop; None inside modules, where the live stack knows."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that dynamo never traces this mode: replays run eagerly."""
        return False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the call, then note it."""
        kwargs = kwargs or {}
        self.last.forget()
        made = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if is_write(name, kwargs) and args and isinstance(args[0], Tensor) and len(self.found) < MOST:
            base = args[0]._base if args[0]._base is not None else args[0]
            self.found.append(
                InplaceWrite(
                    name=name,
                    shape=tuple(args[0].shape),
                    version=args[0]._version,
                    frame=self.recorded or next(iter(user_frames(1)), None),
                    param=self.names.get(id(base)),
                    base=tuple(base.shape),
                    op=self.last.op,
                    module=self.last.module,
                    rows=self.last.rows,
                )
            )
        return made


def writes_again(segment: Segment, context: ReplayContext) -> list[InplaceWrite]:
    """The writes of the forward calls of a segment, in order. Raises ReplayRefused; the world is as before when it
    returns."""
    plan = make_plan(segment, None, copies_at_hand=False)
    part = Segment(segment.number)
    part.entries = [entry for entry in segment.entries if entry.kind not in NOT_FORWARD]
    plan = ReplayPlan([part], plan.written)
    parameters = [p for module in list(context.roots.known) for p in module.parameters()]
    last = WrittenRows()
    mode = InplaceCalls(context.roots.named_parameters(), last)
    tracer = OpTracer([last])
    name_roots(tracer, context.roots)

    @contextlib.contextmanager
    def around(entry: Entry) -> Iterator[None]:
        frames = context.frames(entry.frames)
        mode.recorded = frames[0] if frames and entry.kind != "module" else None
        with tracer, mode:
            yield

    with context.paused(), eager(), hushed():
        world = ReplayedState(parameters, context.states.get(segment.number, []), plan.written, (), plan.entries)
        try:
            world.rewind()
            Reexecution(plan, context.backward, around).run()
        finally:
            world.restore()
    return mode.found
