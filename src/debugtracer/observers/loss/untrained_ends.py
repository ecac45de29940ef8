"""Counts which tokens of a text are ever a target: does the loss ask for the one that ends it?"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin, object_built
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.observers.loaders.refetch import restored
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.token_trials import next_token, texts
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.untrained_end import UntrainedEnd

ELEMENTS = 2**20  # targets that are looked at (ours)
MOST_ROWS = 0.9  # share of the texts that must end alike (ours)
CALLS = 4  # calls of models and of losses that are noted in a step (ours)
LOOKS = 16  # inspected steps (ours)
SAMPLES = 8  # of a dataset that are asked for again (ours)
FEWEST = 4  # of them that must end so, in two lengths at least (ours)


class LossTargets(NamedTuple):
    """The targets of one loss."""

    name: str
    target: Tensor
    ignored: int
    stack: tuple[Frame, ...]
    kind: str
    """The class of the criterion, or of the module that calls the function."""


class UntrainedEndsObserver(Observer):
    """Keeps ids of one step until its backward, nothing with a graph. On a device each tensor of ids is copied to the
    host once in an inspected step, in LOOKS of them at the most."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[tuple[Tensor, list[Tensor], list[Tensor]]] = []
        """Tokens of a model with what may be its masks and its labels."""
        self.targets: list[LossTargets] = []
        self.looks = 0
        self.sampled: bool | None = None
        """The samples of the dataset end so before they are filled up; None before they were asked for."""
        self.denied = False
        """A batch of texts was seen that does not end so: without a mask nothing is said any more."""

    def reset(self) -> None:
        """Drop the ids of the step in flight."""
        self.given.clear()
        self.targets.clear()

    @of_functions(INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss over classes."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled() or len(self.targets) >= CALLS:
            return
        given = arguments(name, args, kwargs)
        target = given["target"]
        if not target.is_floating_point() and 0 < target.numel() <= ELEMENTS:
            ignored, kind = int(given["ignore_index"]), type(running_module()).__name__
            self.targets.append(LossTargets(name, target.detach(), ignored, user_frames(), kind))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the tokens of a model, and what came with them."""
        if not torch.is_grad_enabled() or len(self.given) >= CALLS:
            return
        values = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor) and not v.is_floating_point()]
        for tokens in texts(args, kwargs):
            alike = [v for v in values if v is not tokens and v.shape == tokens.shape]
            labels = [v for name, v in kwargs.items() if "label" in name and isinstance(v, Tensor)]
            self.given.append((tokens, alike, labels))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit texts whose end is no target."""
        given = [(t, t.cpu(), [v.cpu() for v in alike], labels) for t, alike, labels in self.given]
        targets = self.targets[:]
        self.reset()
        self.looks += bool(targets)
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)
        for loss in targets:
            on_host = loss.target.cpu()
            for source, tokens, alike, labels in given:
                whole, wanted = joined(tokens, on_host, loss.ignored)
                counted = next_token(whole, wanted)
                if counted is None:
                    continue
                found = untrained_end(whole, counted, alike)
                self.denied |= found is None
                if found is not None and (found[2] or not self.denied):
                    if not found[2] and self.sampled is None:
                        self.sampled = self.ends_in_samples(source, tokens, found[0])
                    self.tell(loss, found, [*labels, loss.target, *self.beside(source, loss.target)])
                    return

    def beside(self, source: Tensor, target: Tensor) -> list[Tensor]:
        """What came in the batch of the tokens and is these targets, or begins a position before them."""
        known = self.run.batches.find(source)
        leaves = [leaf for _, leaf in known[0].tensors()] if known is not None else []
        alike = [v for v in leaves if v is not source and v.shape == source.shape and v.dtype == target.dtype]
        wanted = target.reshape(-1).cpu()
        return [v for v in alike if any(torch.equal(part.reshape(-1).cpu(), wanted) for part in (v, v[:, 1:]))]

    def ends_in_samples(self, source: Tensor, tokens: Tensor, token: int) -> bool:
        """Whether the dataset gives texts that end in this id once, and are filled up later."""
        known = self.run.batches.find(source)
        if known is None or known[0].indices is None:
            return False
        info = known[0].loader  # one that a `for` alone holds is gone: its dataset may not be
        dataset: Any = getattr(info.loader(), "dataset", None) or (info.data() if info.data is not None else None)
        if not hasattr(type(dataset), "__getitem__"):
            return False
        with restored(dataset), torch.no_grad():
            try:
                samples = [dataset[index] for index in known[0].indices[:SAMPLES]]
            except (Exception, SystemExit):
                return False  # the user's code; it may need what only a worker has
        rows = {tuple(row) for row in tokens.tolist()}
        ends = [len(text) for text in (whole_text(one, rows) for one in samples) if ended_once(text, token)]
        return len(ends) >= FEWEST and len(ends) == len(samples) and len({*ends}) > 1

    def tell(self, loss: LossTargets, found: tuple[int, int, bool, int], labels: list[Tensor]) -> None:
        """Emit one batch, with the lines that wrote its labels and the one that leaves the end out."""
        token, rows, attended, width = found
        known = next((hit for v in labels if (hit := self.run.batches.find(v)) is not None), None)
        if known is not None:
            links = known[0].loader.origin(known[1])
            made = known[0].loader.made(known[1])
        else:
            links = argument_origin(loss.stack, INDEXED, "target", 1)
            made = made_first(links, cut=True)
        frame = loss.stack[0] if loss.stack else None
        if loss.ignored == token:
            left_out = object_built(loss.stack, loss.kind) or frame
        else:
            left_out = next((link.frame for link in links if link.kind in ("made", "formed") or is_chosen(link)), None)
        self.run.emit(
            UntrainedEnd(
                ref=self.run.ref(), token=token, rows=rows, attended=attended, sampled=bool(self.sampled), width=width,
                loss=loss.name, frame=frame, made=made, left_out=left_out,
            )
        )  # fmt: skip


def joined(tokens: Tensor, target: Tensor, ignored: int) -> tuple[Tensor, Tensor]:
    """The tokens with the last one, where the targets alone have it, and the targets with -100 for those ignored."""
    wanted = target.masked_fill(target == ignored, -100)
    if target.numel() == tokens.numel():
        rows = target.reshape(tokens.shape)
        if torch.equal(rows[:, :-1], tokens[:, 1:]) and bool((rows[:, -1] >= 0).all()):  # -100 there is no id of a text
            return torch.cat([tokens, rows[:, -1:]], 1), wanted
    return tokens, wanted


def untrained_end(tokens: Tensor, counted: Tensor, alike: list[Tensor]) -> tuple[int, int, bool, int] | None:
    """The id that ends the texts and is never a target, the rows, whether a mask says that it belongs to them, and the
    length of the longest; None where the end is a target, or not known. `counted`: the next token is a target."""
    asked = counted.roll(1, 1)
    asked[:, 0] = False
    places = torch.arange(tokens.shape[1])
    end = (asked * places).amax(1) + 1
    rows = asked.any(1).nonzero().flatten()
    inside = rows[end[rows] < tokens.shape[1]]
    if len(inside) < 2 or len(inside) < MOST_ROWS * len(rows):
        return None
    ends = tokens[inside, end[inside]]
    token = int(ends.mode().values)
    rest = places >= end[inside, None]
    if bool((tokens[inside][rest] != token).any()) or bool((tokens[asked] == token).any()):
        return None
    width = int(end[inside].max()) + 1
    masks = [v for v in alike if v.shape == tokens.shape and is_mask(v) and not torch.equal(v != 0, tokens != token)]
    for mask in masks:
        kept = mask[inside, end[inside]] != 0
        after = (mask[inside] != 0) & (places > end[inside, None])
        padded = width < tokens.shape[1] or bool((end[inside] + 1 < tokens.shape[1]).any())
        if padded and not bool(after.any()):
            return (token, len(inside), True, width) if float(kept.float().mean()) >= MOST_ROWS else None
    before = tokens[inside, end[inside] - 1]
    ended = (
        float((before == before.mode().values).float().mean()) >= MOST_ROWS
    )  # by an id of its own: the rest is padding
    longest = width == tokens.shape[1] and len(inside) == len(rows)
    return (token, len(inside), False, width) if longest and not ended else None


def is_chosen(link: Link) -> bool:
    """Whether a line writes into chosen places of its value: `labels[labels == pad] = -100`."""
    try:
        statement = ast.parse(link.frame.code).body[0]
    except (SyntaxError, IndexError):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(
        isinstance(one, ast.Subscript)
        and not isinstance(one.slice, ast.Constant)
        and not any(isinstance(node, ast.Slice) for node in ast.walk(one.slice))
        for one in targets
    )


def whole_text(sample: Any, rows: set[tuple[int, ...]]) -> tuple[int, ...]:
    """The ids of a sample that one of the rows begins with; () where it has none."""
    parts = sample.values() if isinstance(sample, dict) else sample if isinstance(sample, (list, tuple)) else (sample,)
    for part in (sample, *parts):
        ids = part.tolist() if hasattr(part, "tolist") else part
        whole = isinstance(ids, (list, tuple)) and len(ids) > 1 and all(type(one) is int for one in ids)
        if whole and any(row[: len(ids)] == tuple(ids) for row in rows):
            return tuple(ids)
    return ()


def ended_once(text: tuple[int, ...], token: int) -> bool:
    """Whether a text ends in this id, and holds it nowhere else."""
    return bool(text) and text.index(token) == len(text) - 1 if token in text else False


def is_mask(value: Tensor) -> bool:
    """Whether it holds zeros and ones alone, and both."""
    ones = int((value == 1).sum())
    return 0 < ones < value.numel() and ones + int((value == 0).sum()) == value.numel()
