"""Follows what a network says of the next state into a target without a mask, beside marks that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.bootstrap_masks import ADDS, CARRIES, FEWEST, LARGEST, MOST, tensors
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.loss_call import ELEMENTWISE
from debugtracer.trace.facts.unmasked_bootstrap import UnmaskedBootstrap

MAKERS = frozenset({"tensor", "as_tensor", "from_numpy", "stack", "cat", "__getitem__", "index_select", "take"})
# what gives the same marks in another form, and reads none of them
FORMS = frozenset(
    {
        "float", "double", "int", "long", "bool", "to", "type", "cuda", "clone", "detach", "contiguous", "view",
        "reshape", "flatten", "squeeze", "unsqueeze",
    }
)  # fmt: skip
MOST_COLUMNS = 32  # in a step (ours)


class NextValue(NamedTuple):
    """A prediction that was made without a graph, and what became of it."""

    given: Tensor
    version: int
    """How often it had been written."""
    discounted: bool = False
    added: RawFrames = ()


class Column:
    """A number of 0 or 1 for each row."""

    def __init__(self, values: Tensor, raw: RawFrames) -> None:
        self.values, self.raw, self.read = values, raw, False


class UnmaskedBootstrapsObserver(Observer):
    """Compares identities in inspected steps; keeps until the backward what networks were given, and the columns."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.columns: ById[Tensor, Column] = ById()
        self.answers: ById[Tensor, NextValue] = ById()
        self.said: ById[Tensor, Tensor] = ById()
        """What each prediction with a graph was made of."""
        self.target: tuple[NextValue, Tensor, RawFrames] | None = None
        """The target that was compared, the states of the prediction, and where."""

    def reset(self) -> None:
        self.columns.data.clear()
        self.answers.data.clear()
        self.said.data.clear()
        self.target = None

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def fetched(self, batch: Batch, data: Any) -> None:
        """Note columns of a batch."""
        for value in data.values() if isinstance(data, dict) else data if isinstance(data, (tuple, list)) else ():
            self.note(value)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a network answers, and what it reads."""
        given = [*args, *kwargs.values()]
        self.reads(given)
        first_given = next((v.detach() for v in given if isinstance(v, Tensor)), None)
        if first_given is None or next(iter(module.parameters()), None) is None:
            return
        for value in tensors(output):
            if value.requires_grad:
                self.said[value] = first_given
            elif len(self.answers) < MOST:
                self.answers[value] = NextValue(first_given, writes(value))

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow columns, answers and predictions through one function."""
        name = getattr(function, "__name__", "")
        given = [*args, *kwargs.values()]
        same = self.columns.get(args[0]) if name in FORMS and args and isinstance(args[0], Tensor) else None
        if same is None:
            self.reads(given)
            if name in MAKERS:
                self.note(output)
        elif isinstance(output, Tensor):
            self.columns[output] = same
        if not self.columns or not args:
            return
        if name in ELEMENTWISE or name in DIFFERENCES:
            self.compared([*args[:2], kwargs.get("input"), kwargs.get("target")])
        self.follow(name, args, output)

    def note(self, value: Any) -> None:
        """Remember a column of marks."""
        if isinstance(value, Tensor) and len(self.columns) < MOST_COLUMNS and is_column(value):
            self.columns[value] = Column(value.detach(), raw_frames(3))

    def reads(self, given: list[Any]) -> None:
        """Note that somebody looks at columns."""
        if self.columns:
            for value in flat(given):
                column = self.columns.get(value)
                if column is not None:
                    column.read = True

    def find(self, value: Any) -> NextValue | None:
        """What is known of a tensor that nobody has written since."""
        known = self.answers.get(value) if isinstance(value, Tensor) else None
        return known if known is not None and known.version == writes(value) else None

    def follow(self, name: str, args: tuple[Any, ...], output: Any) -> None:
        """Follow an answer to a discount and to a sum."""
        if (
            name in CARRIES
            and (said := next((s for a in args[:2] if (s := self.source(a)) is not None), None)) is not None
        ):
            for value in tensors(output):
                self.said[value] = said
        known, other = self.pair(args)
        if known is None or len(self.answers) >= MOST:
            return
        if name in CARRIES:
            if not (name == "__getitem__" and isinstance(other, Tensor)):  # some of the rows
                for value in tensors(output):
                    self.answers[value] = known._replace(version=writes(value))
        elif isinstance(output, Tensor) and not output.requires_grad and not known.added:
            if name in PRODUCTS and is_number(other):
                self.answers[output] = known._replace(version=writes(output), discounted=True)
            elif name in ADDS and known.discounted and isinstance(other, Tensor) and other.shape == output.shape:
                self.answers[output] = known._replace(version=writes(output), added=raw_frames(3))

    def pair(self, args: tuple[Any, ...]) -> tuple[NextValue | None, Any]:
        """An answer among the first two arguments, and the other one."""
        for place, value in enumerate(args[:2]):
            known = self.find(value)
            if known is not None:
                return known, args[1 - place] if len(args) > 1 else None
        return None, None

    def source(self, value: Any) -> Tensor | None:
        """What a prediction with a graph was made of."""
        return self.said.get(value) if isinstance(value, Tensor) else None

    def compared(self, given: list[Any]) -> None:
        """Keep a target that a prediction is compared with."""
        target = next((k for value in given if (k := self.find(value)) is not None and k.added), None)
        states = next((s for value in given if (s := self.source(value)) is not None), None)
        if target is not None and states is not None and states.shape == target.given.shape:
            self.target = target, states, raw_frames(3)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit a target of the step beside the column that was not read and says most of the next states."""
        if self.target is not None:
            answer, states, raw = self.target
            unread = {id(c): c for c in self.columns.values() if not c.read and c.values.numel() == len(states)}
            facts = [self.fact(answer, states, raw, column) for column in unread.values()]
            if facts:
                self.run.emit(max(facts, key=lambda fact: fact.marked_beyond + fact.marked_new))
        self.reset()

    def fact(self, answer: NextValue, states: Tensor, raw: RawFrames, column: Column) -> UnmaskedBootstrap:
        """What the marked rows have of the others."""
        marked = column.values.flatten().bool().to(states.device)
        after, before = (value.reshape(len(states), -1) for value in (answer.given, states))
        beyond = ((after > before.amax(0)) | (after < before.amin(0))).any(1)
        if after.numel() * len(after) <= LARGEST:
            new = ~(after[:, None] == before).all(2).any(1)
        else:
            new = torch.ones_like(beyond)
        counts = torch.stack([marked, marked & beyond, ~marked & beyond, marked & new, ~marked & new]).sum(1).tolist()
        return UnmaskedBootstrap(
            ref=self.run.ref(), rows=len(marked), marked=counts[0], marked_beyond=counts[1], others_beyond=counts[2],
            marked_new=counts[3], others_new=counts[4], added=first(answer.added), made=first(column.raw),
            frame=first(raw),
        )  # fmt: skip


def flat(given: list[Any]) -> Iterator[Any]:
    """The arguments, and those in lists and dicts among them."""
    for value in given:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, (tuple, list)):
            yield from value
        else:
            yield value


def is_number(value: Any) -> bool:
    """Whether a factor is the same for all rows."""
    return isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.numel() == 1)


def is_column(value: Tensor) -> bool:
    """Whether each row has 0 or 1, and some have each."""
    rows = value.numel()
    if rows < FEWEST or value.requires_grad or value.is_complex() or not value.dim() or max(value.shape) != rows:
        return False
    ones = value == 1
    return bool((ones | (value == 0)).all()) and 0 < int(ones.sum()) < rows


def writes(value: Tensor) -> int:
    """How often a tensor was written; a tensor of inference mode does not count."""
    return 0 if value.is_inference() else value._version
