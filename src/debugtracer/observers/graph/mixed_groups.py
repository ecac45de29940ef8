"""Follows the rows of a batch through a network to where they are taken apart in groups and averaged: is each group of
one class?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.stored_labels import lists_of
from debugtracer.errors import guarded
from debugtracer.observers.graph.regrouped_rows import BEHIND, ROW_BY_ROW, SPLITS, leaves_rows
from debugtracer.observers.model.shadow_model import main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import Batch
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.mixed_groups import MixedGroups

FOLDS = frozenset({"mean", "sum"})
SCORED = frozenset({"cross_entropy", "nll_loss"})
MOST, MOST_ROWS = 128, 4096  # tensors followed in a step, and rows of a batch (ours)
LOOKS = 8  # steps in which groups were seen (ours)


class BatchRows(NamedTuple):
    """A tensor that holds rows of a batch, and which: as many axes of `at` as it has of rows, one or two."""

    tensor: Callable[[], Tensor | None]
    batch: Batch
    at: Tensor
    raw: RawFrames


class Group(NamedTuple):
    """BatchRows that a line has averaged over one of two axes."""

    rows: BatchRows
    whole: int
    """The id of the tensor."""
    function: str
    dim: int
    raw: RawFrames


class MixedGroupsObserver(Observer):
    """Follows row numbers in inspected steps, and reads the labels of a batch there; keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, BatchRows] = {}
        self.groups: list[Group] = []
        self.beside: set[int] = set()
        """By id: what is used for something else than a mean, too, as deviations from it are."""
        self.targets: list[Tensor] = []
        self.looks = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was followed in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.known.clear()
        self.beside.clear()
        self.groups, self.targets = [], []

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows through what keeps, cuts or splits them, to a fold over an axis of theirs."""
        name = getattr(function, "__name__", "")
        if not args or not isinstance(args[0], Tensor) or not isinstance(output, Tensor):
            return
        if name in SCORED and len(args) > 1 and isinstance(args[1], Tensor):
            self.targets.append(args[1].detach())
        elif name in SPLITS:
            self.split(args[0], output)
        elif name == "__getitem__":
            self.cut(args[0], args[1], output)
        elif name in FOLDS:
            if not self.folded(name, args, kwargs, output):
                self.beside.update(map(id, args[:2]))
        elif name in ("transpose", "swapaxes"):
            self.exchange(args[0], output)
        elif name in ROW_BY_ROW or (name in BEHIND and leaves_rows(name, args, kwargs)):
            self.hand_on(args[0], output)
        else:
            self.beside.update(map(id, args[:2]))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what a network makes of such rows, where they are all that it is given."""
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
        made = main_output(output)
        if len(given) == 1 and made is not None:
            self.hand_on(given[0], made)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Judge the groups of the step."""
        groups, targets = [one for one in self.groups if one.whole not in self.beside], self.targets
        self.forget()
        if groups:
            self.looks += 1
            with torch.no_grad():
                for group in groups:
                    self.look(group, targets)
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()

    def find(self, value: Tensor) -> BatchRows | None:
        """What is known of a tensor's rows; a batch is known by its memory."""
        known = self.known.get(id(value))
        if known is not None and known.tensor() is value:
            return known
        if value.requires_grad or value.dim() < 2:
            return None
        hit = self.run.batches.find(value)
        held = self.run.batches.held_rows(value) if hit is not None else None
        if hit is None or held is None or held.turned or len(held.at) != value.shape[0] or held.of > MOST_ROWS:
            return None
        return BatchRows(WeakRef(value), hit[0], torch.tensor(list(held.at), device="cpu"), ())

    def follow(self, value: Tensor, rows: BatchRows) -> None:
        """Remember a tensor with such rows."""
        if len(self.known) < MOST:
            self.known[id(value)] = rows._replace(tensor=WeakRef(value))

    def hand_on(self, given: Tensor, output: Tensor) -> None:
        """Remember a tensor with a row for each of the one it was made of."""
        if output is given or output.dim() < 2:
            return
        rows = self.find(given)
        if rows is not None and output.shape[: rows.at.dim()] == rows.at.shape:
            self.follow(output, rows)

    def split(self, given: Tensor, output: Tensor) -> None:
        """Follow a view that keeps the rows, or takes them apart along two axes."""
        rows = self.find(given)
        if rows is None or rows.at.dim() != 1 or output.dim() < 2:
            return
        if output.shape[0] == len(rows.at):
            self.follow(output, rows)
        elif output.dim() > 2 and output.shape[0] * output.shape[1] == len(rows.at) and min(output.shape[:2]) > 1:
            self.follow(output, rows._replace(at=rows.at.view(*output.shape[:2]), raw=raw_frames(2)))

    def exchange(self, given: Tensor, output: Tensor) -> None:
        """Follow two axes of rows that change places."""
        rows = self.find(given)
        if rows is None or output.dim() < 2:
            return
        if rows.at.dim() == 2 and output.shape[:2] == given.shape[1::-1] and output.shape[2:] == given.shape[2:]:
            self.follow(output, rows._replace(at=rows.at.t()))
        elif output.shape[: rows.at.dim()] == rows.at.shape and len(set(output.shape)) == output.dim():
            self.follow(output, rows)

    def cut(self, given: Tensor, index: Any, output: Tensor) -> None:
        """Follow a slice of the rows."""
        rows, index = self.find(given), index[0] if isinstance(index, tuple) and index else index
        if rows is None or rows.at.dim() != 1 or not isinstance(index, slice) or output.dim() < 2:
            return
        at = rows.at[index]
        if len(at) == output.shape[0]:
            self.follow(output, rows._replace(at=at))

    def folded(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> bool:
        """Note a fold over one of two axes of rows, of values that are trained."""
        whole: Tensor = args[0]
        rows = self.known.get(id(whole))
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        dim = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
        if rows is None or rows.tensor() is not whole or rows.at.dim() != 2 or type(dim) is not int:
            return False
        if dim % whole.dim() > 1 or not output.requires_grad:
            return False
        self.groups.append(Group(rows, id(whole), name, dim % whole.dim(), raw_frames(2)))
        return True

    def look(self, group: Group, targets: list[Tensor]) -> None:
        """Emit a group of several classes where the other axis has groups of one; not where anything that is known of
        the rows is the same within the groups that were made."""
        at, batch = group.rows.at, group.rows.batch
        folded = at.movedim(group.dim, 0)
        columns = [(path, held[at], held) for path, held in columns_of(batch)]
        if any(is_pure(held[folded]) for _, _, held in columns):
            return
        for path, _, held in columns:
            mixed = mixed_first(held[folded])
            if mixed is not None and (is_pure(held[folded].t()) or is_even(held, folded.shape[1])):
                maker, drawn = guarded("mixed_groups.sampler")(sampler_of)(batch) or ("", None)
                self.run.emit(
                    MixedGroups(
                        ref=self.run.ref(), function=group.function, sizes=(int(at.shape[0]), int(at.shape[1])),
                        dim=group.dim, labels=mixed, path=path, turned=is_pure(held[folded].t()),
                        asked=asked_so(held, at, targets), frame=first(group.rows.raw),
                        reader_frame=first(group.raw), sampler=maker, drawn=drawn,
                    )
                )  # fmt: skip
                return


def is_pure(labels: Tensor) -> bool:
    """Whether each column holds one label, and not all the same."""
    return bool((labels == labels[:1]).all()) and bool((labels[0] != labels[0, 0]).any())


def mixed_first(labels: Tensor) -> tuple[int, ...] | None:
    """The labels of the first column that holds several; None where fewer than half of them do."""
    several = (labels != labels[:1]).any(0)
    if 2 * int(several.sum()) < len(several):
        return None
    return tuple(int(v) for v in labels[:8, int(several.long().argmax())])


def is_even(labels: Tensor, groups: int) -> bool:
    """Whether a batch was made of as many classes as there are groups, with as many rows of each."""
    counts = labels.unique(return_counts=True)[1]
    return len(counts) == groups and len(labels) > groups and bool((counts == counts[0]).all())


def columns_of(batch: Batch) -> Iterator[tuple[str, Tensor]]:
    """Yield what a batch has of whole numbers, one for each row; else those that its dataset keeps."""
    found = False
    for path, leaf in batch.tensors():
        if leaf.dim() == 1 and len(leaf) == batch.rows and leaf.dtype in (torch.int64, torch.int32):
            found = True
            yield path, leaf.detach().cpu()
    if found or batch.indices is None or not batch.loader.keeps_order or len(batch.indices) != batch.rows:
        return
    length = batch.loader.dataset_len()
    for labels in lists_of(batch.loader.dataset_held()):
        if len(labels) == length:
            yield "", torch.as_tensor(labels[list(batch.indices)], device="cpu")


def asked_so(labels: Tensor, taken: Tensor, targets: list[Tensor]) -> bool:
    """Whether targets of a loss tell the classes of the other rows of the batch apart as their labels do."""
    others = torch.ones(len(labels), dtype=torch.bool, device="cpu")
    others[taken.flatten()] = False
    left = labels[others]
    for one in targets:
        wanted = one.cpu()
        if wanted.dim() == 1 and len(wanted) == len(left) and not wanted.is_floating_point():
            return torch.equal(left[:, None] == left[None], wanted[:, None] == wanted[None])
    return False


def sampler_of(batch: Batch) -> tuple[str, Frame | None]:
    """The class of the program that chose the rows of a batch, and the line that hands them out."""
    loader, passes = batch.loader.loader(), batch.loader.iterator
    batches = getattr(loader, "batch_sampler", None) or getattr(passes() if passes else None, "_index_sampler", None)
    for part in (batches, getattr(loader, "sampler", None) or getattr(batches, "sampler", None)):
        code = getattr(getattr(type(part), "__iter__", None), "__code__", None)
        program = program_of(code.co_filename) if code is not None else None
        method = function_at(program, code) if program is not None and code is not None else None
        if program is None or method is None:
            continue
        return type(part).__name__, given_at(program, method)
    return "", None


def given_at(program: Program, method: ast.AST) -> Frame | None:
    """The line of a generator that last wrote the name which it hands out, else the one that hands it out."""
    gives = [n for n in ast.walk(method) if isinstance(n, (ast.Yield, ast.Return)) and n.value is not None]
    if not gives:
        return None
    last = max(gives, key=lambda n: n.lineno)
    name = ast.unparse(last.value) if last.value is not None else ""
    writes = [n.lineno for n in ast.walk(method) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name]
    return at_line(program, max((line for line in writes if line < last.lineno), default=last.lineno))
