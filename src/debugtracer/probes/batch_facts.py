"""Looks at every batch while that is cheap: its schema, what each tensor is like, and what is out of the ordinary in it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.probes.loader_course import Courses, LoaderCourse
from debugtracer.probes.loss_rows import Standout
from debugtracer.probes.oddities import Oddity, of_batch, of_floats, of_integers, of_masks, of_texts
from debugtracer.probes.refetch import refetch
from debugtracer.probes.taker import Taker
from debugtracer.recorder.batches import Batch, LoaderInfo
from debugtracer.recorder.entry import tensors
from debugtracer.recorder.habit import Habit
from debugtracer.recorder.look import Look, look_at, readable
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import BatchChange, BatchOddity, BatchProfile, BatchSchema, LeafSchema
from debugtracer.trace.number import number

SHARE, ALLOWANCE_S = 0.01, 0.2  # of the time since the first batch, and seconds on top, that looking may cost (ours: < 1 %)
MOST_LEAVES = 32  # tensors of a batch that are looked at (ours)
MOST_TOLD = 60  # oddities of one kind and loader (ours)
MOST_ROWS = 256  # rows and dataset indices that one oddity names (ours)
REFETCHED = 3  # samples fetched again per run at most (ours)
PATIENCE = 2  # backward calls that an oddity waits for its batch to be used (ours)


@dataclass
class Pending:
    """An oddity whose batch has not been used yet."""

    batch: Batch
    course: LoaderCourse
    oddity: Oddity
    iteration: int
    used: bool = False
    reached: str = ""
    spoiled: bool = False
    module: str = ""
    frame: Frame | None = None


@dataclass
class Budget:
    """How much time looking may take: a little on top of a share of the run."""

    began: float | None = None
    spent: float = 0.0

    def open(self) -> bool:
        """Whether another look is affordable now."""
        now = perf_counter()
        self.began = now if self.began is None else self.began
        return self.spent <= ALLOWANCE_S + SHARE * (now - self.began)


class BatchFacts(Taker):
    """CPU tensors only; a batch on a device is known by its schema. Holds no tensor: the batches are the log's."""

    def __init__(self) -> None:
        super().__init__()
        self.courses = Courses()
        self.budget = Budget()
        self.pending: list[Pending] = []
        self.latest: LoaderCourse | None = None
        self.refetched = 0
        self.skipped: tuple[LoaderCourse, Batch] | None = None
        """The last batch, when it was not looked at."""
        self.standout = Standout()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.courses.clear()
        self.pending.clear()
        self.latest, self.budget, self.refetched = None, Budget(), 0
        self.skipped, self.standout = None, Standout()

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """An epoch begins."""
        self.courses.of(info).begin_epoch()

    def fetched(self, batch: Batch, data: Any) -> None:
        """Schema always; values when affordable."""
        course = self.latest = self.courses.of(batch.loader)
        course.seen += 1
        self.notice(course, batch)
        self.skipped = None if self.budget.open() else (course, batch)
        if self.skipped is None:
            self.spend(course, batch, data)

    def spend(self, course: LoaderCourse, batch: Batch, data: Any) -> None:
        """Look, and count the time of this thread that it takes."""
        begin = thread_time()
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            self.look(course, batch, data)
        self.budget.spent += thread_time() - begin

    def notice(self, course: LoaderCourse, batch: Batch) -> None:
        """New or changed schema."""
        leaves = batch.tensors()
        fresh, changes = course.schemas.push(leaves)
        ref = self.desk.ref("load")
        if fresh is not None and len(course.schemas.known) <= MOST_LEAVES:
            told = tuple(LeafSchema(path=k.path, dtype=k.dtype, device=k.device, layout=k.layout, shape=k.shape) for k in fresh)
            self.desk.tell(BatchSchema(ref=ref, loader=course.note, leaves=told))
        for one in changes:
            if self.may_tell(course, "change"):
                samples = batch.indices[:MOST_ROWS] if batch.indices is not None else None
                self.desk.tell(BatchChange(ref=ref, loader=course.note, batch=batch.number, rows=batch.rows, samples=samples, **one._asdict()))

    def look(self, course: LoaderCourse, batch: Batch, data: Any) -> None:
        """All readable leaves."""
        course.looked += 1
        seen: list[tuple[str, Tensor, Look]] = []
        for path, leaf in batch.tensors()[:MOST_LEAVES]:
            if path in course.unreadable or not readable(leaf):
                continue
            try:
                plain = leaf.as_subclass(Tensor) if type(leaf) is not Tensor else leaf
                seen.append((path, plain.detach(), look_at(plain)))
            except (RuntimeError, NotImplementedError, TypeError):
                course.unreadable.add(path)
        odd = [*of_batch(course, batch, [look for _, _, look in seen]), *of_texts(data)]
        for path, leaf, look in seen:
            odd += self.compare(course, batch, path, leaf, look)
        odd += of_masks(seen, course)
        self.pending += [Pending(batch, course, one, self.desk.iteration) for one in odd if self.may_tell(course, one.what)]

    def compare(self, course: LoaderCourse, batch: Batch, path: str, leaf: Tensor, look: Look) -> list[Oddity]:
        """One tensor beside its habit, which then learns it."""
        habit = course.habits.get(path)
        if habit is None or (habit.role == "float") is not (look.role == "float"):
            habit = course.habits[path] = Habit(look.role)
        elif look.role == "ids":
            habit.role = "ids"  # a first batch of zeros and ones looked like a mask
        found = list((of_floats if look.role == "float" else of_integers)(course, habit, path, leaf, look, batch))
        habit.learn(look, any(one.what in ("content", "range") for one in found))
        return found

    def may_tell(self, course: LoaderCourse, what: str) -> bool:
        """Not too much of one kind."""
        course.told[what] = course.told.get(what, 0) + 1
        return course.told[what] <= MOST_TOLD

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Which batch went in, and whether what came out is still a number."""
        with_graph = torch.is_grad_enabled()
        if self.latest is not None and with_graph and module.training and not self.latest.training:
            self.latest.training = True
            self.latest.first_layer = first_layer(module)
        if not self.pending:
            return
        inside = {(id(hit[0]), hit[1]) for t in tensors([list(args), kwargs]) if (hit := self.desk.batches.find(t)) is not None}
        batches = {key for key, _ in inside}
        for one in self.pending:
            if id(one.batch) not in batches:
                continue
            one.used = with_graph
            if one.oddity.what == "nonfinite" and (id(one.batch), one.oddity.path) in inside:
                one.reached, one.module, one.frame = "model", type(module).__name__, self.desk.here()
                one.spoiled = spoiled(tensors(output))
        if not with_graph:
            self.flush([one for one in self.pending if id(one.batch) in batches], None, training=False)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """The batches behind this loss are used now; what was seen in them is told with its number."""
        if self.standout.push(losses) is not None and self.skipped is not None:
            self.spend(*self.skipped, None)  # the loss stands out: this batch is worth a look after all
            self.skipped = None
        if self.pending:
            last = self.desk.batches.last()
            used = [one for one in self.pending if one.used or one.batch is last]
            bad = any(one.oddity.what == "nonfinite" for one in used) and spoiled(losses)
            for one in used:
                if one.oddity.what == "nonfinite" and bad:
                    one.reached, one.spoiled = one.reached or "loss", True
                    one.frame = one.frame or self.desk.here()
            self.flush(used, self.desk.iteration, training=True)
            self.flush([one for one in self.pending if self.desk.iteration - one.iteration > PATIENCE], None, training=False)
        if self.latest is not None and (self.latest.seen in (1, 20) or self.latest.seen % 100 == 0):
            self.profile(self.latest)

    def ended(self) -> None:
        """What is still waiting, and what the loaders were like."""
        self.flush(list(self.pending), None, training=False)
        for course in self.courses.known.values():
            self.profile(course)

    def crashed(self, error: BaseException) -> None:
        """The batch in flight was used by the step that failed."""
        self.flush(list(self.pending), None, training=True)

    def profile(self, course: LoaderCourse) -> None:
        """What the batches of a loader are usually like."""
        if course.told_profile == course.seen or not course.habits:
            return
        course.told_profile = course.seen
        self.desk.tell(
            BatchProfile(
                ref=self.desk.ref("load"),
                loader=course.note,
                seen=course.seen,
                looked=course.looked,
                rows=course.usual_rows() or None,
                training=course.training,
                first_layer=course.first_layer,
                leaves=course.profiles(),
            )
        )

    def flush(self, ready: list[Pending], iteration: int | None, training: bool) -> None:
        """Tell these."""
        if not ready:
            return
        gone = {id(one) for one in ready}
        self.pending = [one for one in self.pending if id(one) not in gone]
        for one in ready:
            self.tell(one, one.iteration if iteration is None else iteration, training)

    def tell(self, one: Pending, iteration: int, training: bool) -> None:
        """One oddity as a fact; a sample that spoiled its step is fetched once more."""
        odd, rows = one.oddity, one.oddity.rows[:MOST_ROWS]
        samples = one.batch.samples(rows) if rows else None
        self.desk.tell(
            BatchOddity(
                ref=self.desk.ref("load", iteration),
                loader=one.course.note,
                batch=one.batch.number,
                what=odd.what,
                path=odd.path,
                rows=rows,
                samples=samples,
                value=number(odd.value),
                usual=number(odd.usual),
                spread=number(odd.spread),
                count=odd.count,
                of=odd.of,
                channel=odd.channel,
                looked=one.course.looked - 1,
                detail=odd.detail,
                reached=one.reached,
                spoiled=one.spoiled,
                module=one.module,
                frame=one.frame,
                training=training,
            )
        )
        worth = (odd.what == "nonfinite" and one.spoiled) or odd.what == "blank"
        if worth and samples and self.desk.function_tests and self.refetched < REFETCHED:
            self.refetched += 1
            fact = refetch(one.batch.loader, one.course.note.number, samples[0], odd.what, odd.path, self.desk.ref("load", iteration))
            if fact is not None:
                self.desk.tell(fact)


def spoiled(given: Any) -> bool:
    """Whether any of these tensors holds a value that is not finite. Syncs the host when they live on a device; asked after a bad input only."""
    return any(t.is_floating_point() and t.layout is torch.strided and not bool(torch.isfinite(t.detach()).all()) for t in given)


def first_layer(module: nn.Module) -> str:
    """Type of the first layer with parameters of its own, in the order of registration."""
    return next((type(part).__name__ for part in module.modules() if any(True for _ in part.parameters(recurse=False))), "")
