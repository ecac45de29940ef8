"""Finds states of recurrent layers that come from the batch before, whose rows were other samples."""

from __future__ import annotations

import ast
import sys
import weakref
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.carried_state import loops_around
from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import names_in, parameters, writes_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.errors import guarded
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.program.state_made import followed, handed_in, state_given
from debugtracer.recorder.tape.batches import Batch
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.carried_state import CarriedState

LAYERS = frozenset({"gru", "lstm", "rnn_tanh", "rnn_relu", "gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell"})
BATCHES = 5  # of a run, in which states are compared (ours)
SHOWN = 4  # indices told (ours)
MOST = 16  # layers that are watched (ours)


class Given(NamedTuple):
    """The state that a layer gave last, and the batch it was computed in."""

    mark: tuple[float, float]
    batch: weakref.ref[Batch]


class CarriedStatesObserver(Observer):
    """Adds up the state that goes in and the one that comes out, a host sync each where one is given, in the first
    batches of a run. No tensor is kept."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: dict[int, Given] = {}
        self.seen: list[weakref.ref[Batch]] = []

    def reset(self) -> None:
        self.last.clear()
        self.seen.clear()

    def missed(self) -> None:
        """Forget states: batches between may not have been seen."""
        self.last.clear()

    @of_functions(LAYERS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Compare the state that a layer is given with the one that it gave in the batch before."""
        name = getattr(function, "__name__", "")
        if name not in LAYERS or len(args) < 2 or not torch.is_grad_enabled():
            return
        batch = self.run.batches.last()
        if batch is None or batch.indices is None or not batch.loader.keeps_order:
            return
        if not any(known() is batch for known in self.seen):
            self.seen.append(weakref.ref(batch))
            if len(self.seen) > BATCHES:
                self.last.clear()
                self.run.unsubscribe(self.called)
                return
        module = running_module()
        given, last = state_of(args[1]), self.last.get(id(module))
        former = last.batch() if last is not None else None
        is_new = former is not None and former is not batch
        if given is not None and last is not None and former is not None and is_new and mark_of(given) == last.mark:
            self.tell(module, given, former, batch)
        made = state_of(output if name.endswith("_cell") else output[1])
        mark = mark_of(made) if made is not None else None
        if mark is not None and (id(module) in self.last or len(self.last) < MOST):
            self.last[id(module)] = Given(mark, weakref.ref(batch))

    def tell(self, module: nn.Module | None, given: Tensor, former: Batch, batch: Batch) -> None:
        """Emit a state whose rows belong to other samples than those of the batch."""
        before, now = former.indices, batch.indices
        rows = given.shape[-2] if given.dim() > 1 else 1
        if before is None or now is None or former.loader.frame != batch.loader.frame or rows != len(now):
            return
        if goes_on(before, now):
            return
        frame, made = lines(isinstance(module, nn.RNNCellBase))
        path = path_of(module, self.run.modules()) if module is not None else None
        self.run.emit(
            CarriedState(
                ref=self.run.ref(),
                module=path or "",
                layer=type(module).__name__,
                rows=rows,
                before=before[:SHOWN],
                now=now[:SHOWN],
                loader=batch.loader.frame,
                made=made,
                frame=frame,
            )
        )


def goes_on(before: tuple[int, ...], now: tuple[int, ...]) -> bool:
    """Whether each row may be the next stretch of what it was in the batch before: all indices go on by as much."""
    return len(before) == len(now) and len({b - a for a, b in zip(before, now, strict=True)}) == 1


def state_of(value: Any) -> Tensor | None:
    """The hidden state, of an LSTM the first of its two."""
    state = value[0] if isinstance(value, (tuple, list)) and value else value
    return state if isinstance(state, Tensor) and is_dense(state) and state.numel() else None


def mark_of(state: Tensor) -> tuple[float, float] | None:
    """Add up values in two ways, to know them again; None of zeros. Syncs the host."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        values = state.detach().double()
        total, size = torch.stack([values.sum(), values.abs().sum()]).tolist()
    return (total, size) if size else None


def lines(is_cell: bool) -> tuple[Frame | None, Frame | None]:
    """The line that calls the layer, and the one that keeps the state or hands it on."""
    walked = [(frame, frame.f_lineno) for frame in program_stack(sys._getframe(1))]
    return guarded("carried_states.lines")(both)(walked, is_cell) or (None, None)


def both(walked: list[tuple[FrameType, int]], is_cell: bool) -> tuple[Frame | None, Frame | None]:
    """The innermost line, and the one that hands the state to the functions around it, or keeps it on an object."""
    if not walked:
        return None, None
    here, node, depth = as_frame(walked[0][0].f_code, walked[0][1]), state_given(*walked[0]), 0
    if isinstance(node, ast.Attribute):
        kept = followed(node, walked)
        return here, kept.frame if kept is not None else None
    while node is not None and depth + 1 < len(walked):
        frame, line = walked[depth]
        program = program_of(frame.f_code.co_filename)
        name = parameter_in(node, program, line, stepped=not depth and is_cell) if program is not None else None
        if program is None or name is None:
            break
        node, depth = handed_in(name, program, walked[depth:]), depth + 1
    return here, as_frame(walked[depth][0].f_code, walked[depth][1])


def parameter_in(node: ast.expr, program: Program, line: int, stepped: bool) -> str | None:
    """The only parameter of the function of a line that a state is made of, and that no loop around the line writes:
    there the state goes from turn to turn. `stepped`: the loop is that of the steps of a cell."""
    node = node.body if isinstance(node, ast.IfExp) else node
    scope = scope_at(program, line)
    found = names_in(node) & set(parameters(scope)) if scope is not None else set()
    if scope is None or len(found) != 1:
        return None
    name = found.pop()
    loops = [loop for loop in loops_around(program, line) if program.function(loop) is scope]
    return None if not stepped and any(writes_of(loop, name) for loop in loops) else name
