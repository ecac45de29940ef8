"""Describes the step in flight when the program dies of its own exception."""

from __future__ import annotations

import traceback

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.modules.loss import _Loss
from torch.nn.parallel import DistributedDataParallel

from debugtracer.callsites.conditional_call import conditional_call
from debugtracer.callsites.crash_site import CrashSite, seen_module, seen_tensor, site_of
from debugtracer.callsites.frames import USER, frames_of, place_of
from debugtracer.callsites.origins.argument_origin import argument_origin, object_built
from debugtracer.callsites.origins.carried_state import carried_at
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.devices.present import device_memory
from debugtracer.errors import guarded
from debugtracer.observers.model.running_module import path_of
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.observers.program.crash_words import words_of
from debugtracer.observers.program.cut_windows import cut_short
from debugtracer.observers.program.index_used import OUTSIDE, index_used
from debugtracer.observers.program.ranges_beyond import range_beyond
from debugtracer.observers.program.short_last import short_last
from debugtracer.observers.program.state_made import state_made
from debugtracer.observers.program.unstacked import samples_seen
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.tape.equal_rows import known_rows
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import (
    UNFINISHED,
    Crash,
    CrashBatch,
    FormSeen,
    IntegerRows,
    SampleSeen,
    TensorSeen,
    differing_part,
)
from debugtracer.trace.plain_text import plain_text

MOST_ROWS = 4096  # rows of a batch looked at one by one (ours)
PLACES = {"target": 1, "lengths": 1}  # places of the indices among the arguments of such a call; 0 else
GRAPH_USED = "backward through the graph a second time"
MOST_PARAMETERS = 64  # parameters described (ours)
INDEXING = {
    "cross_entropy": "target",
    "nll_loss": "target",
    "embedding": "input",
    "embedding_bag": "input",
    "one_hot": "tensor",
    "pack_padded_sequence": "lengths",
}


class CrashObserver(Observer):
    """Everything is read once, after the fact: the program is over, so a host sync or a walk over all modules costs
    nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the fact of the crash."""
        site, frames = site_of(error), frames_of(self.run.refused_call) if self.run.refused_call else ()
        if frames:  # executed again by us: the line of the loop is not in the traceback
            site.frames, site.call = (*site.frames, *frames), frames[0]
        with torch.no_grad():
            self.run.emit(self.seen(error, site))

    def seen(self, error: BaseException, site: CrashSite) -> Crash:
        """What the explainers need."""
        known = self.run.modules()
        roots = known + [m for m in reversed(site.modules) if all(m is not one for one in known)]
        batch, drawn = self.run.batches.last(), self.run.batches.failed
        fetching = site.iterator is not None
        info = drawn[0] if fetching and drawn else batch.loader if batch else None
        ddp = next((m for m in site.modules if isinstance(m, DistributedDataParallel)), None)
        samples = samples_seen(site, drawn[1] if drawn else None, info) if fetching else ()
        return Crash(
            ref=crash_ref(self.run, fetching),
            error=type(error).__name__,
            message=plain_text(str(error)).strip()[:4000],
            frames=site.frames,
            call=site.call,
            torch_calls=tuple(site.torch_calls[:16]),
            modules=tuple(seen_module(path_of(m, roots) or "", m, site.modules) for m in site.modules[:16]),
            tensors=tuple(seen_tensor(name, t) for name, t in site.tensors.items()),
            numbers=dict(list(site.numbers.items())[:16]),
            rows=self.integer_rows(site, batch),
            batch=batch_seen(info, None if fetching else batch),
            samples=samples,
            optimizers=tuple((type(o).__name__, self.run.built_at(o)) for o in self.run.optimizers),
            names=tuple(name for name, p in ddp.module.named_parameters() if p.requires_grad)
            if ddp is not None
            else (),
            branches=guarded("crash.branches")(branches)(ddp) or {}
            if ddp is not None and UNFINISHED in str(error)
            else {},
            parameters=parameters(roots),
            memory=guarded("crash.memory")(memory)() or {},  # of a device that died its driver tells nothing
            built=guarded("crash.built")(self.loss_built)(site),
            carried=carried(error) if GRAPH_USED in str(error) else None,
            words=words_of(error),
            index=guarded("crash.index")(index_used)(site, self.run.batches) if OUTSIDE in str(error) else None,
            sample=site.sample if fetching else None,
            form=self.odd_form(site, samples, batch) if fetching else None,
            cut=cut_short(error) or range_beyond(error),
            state=state_made(error),
            short=None if fetching else short_last(error, batch, self.run.batches.latest(), evaluated(roots)),
            fetching=fetching,
        )

    def odd_form(self, site: CrashSite, samples: tuple[SampleSeen, ...], last: Batch | None) -> FormSeen | None:
        """The sample that could not be made or does not stack, beside those of the batch before."""
        info, drawn = self.run.batches.failed or (None, None)
        known = list(drawn) if isinstance(drawn, (tuple, list)) else []
        unlike = differing_part(samples)
        indices = [unlike[4][0]] if unlike is not None else [site.sample] if site.sample is not None else known
        healthy = [*((last.indices or ()) if last is not None and last.loader is info else ()), *known]
        if info is None or not indices or not all(type(i) is int for i in (*indices, *healthy)):
            return None
        return self.run.odd_form(info, indices, healthy, unlike is not None)

    def integer_rows(self, site: CrashSite, batch: Batch | None) -> IntegerRows | None:
        """The indices that the failing call was given, by row of the batch."""
        name = next((INDEXING[call] for call in site.torch_calls if call in INDEXING), None)
        tensor = site.tensors.get(name or "")
        if name == "lengths" and tensor is not None:
            tensor = as_it_came(tensor, batch)
        if (
            tensor is None
            or tensor.is_floating_point()
            or tensor.device.type != "cpu"
            or not tensor.dim()
            or not tensor.numel()
        ):
            return None
        found = self.run.batches.find(tensor) or self.equal_leaf(tensor, batch)
        # executed again for a device that was heard of late, the call may belong to the batch before
        held = found[0] if found is not None else None if self.run.refused_call else batch
        taken = known_rows(tensor, self.run.batches, held) if held is not None else None
        if taken is not None and not taken.at:
            return None
        rows = (len(taken.at) if taken is not None else 0) or (
            batch.rows if batch and batch.rows and tensor.numel() % batch.rows == 0 else tensor.shape[0]
        )
        if rows > MOST_ROWS or tensor.numel() % rows:
            return None
        ignored = site.numbers.get("ignore_index")
        kept = [row[row != ignored] if ignored is not None else row for row in tensor.detach().reshape(rows, -1)]
        if taken is None and (held is None or not of_its_shape(held, tensor)):
            held = None
        at = tuple(taken.at) if taken is not None else tuple(range(rows))
        indices = held.samples(at) if held is not None and len(set(held.indices or ())) == held.rows else None
        if held is not None and indices is not None and not held.loader.keeps_order:
            proved = self.run.samples_by_value(held, at) if min(at, default=-1) >= 0 else None
            indices = proved if proved is not None and len(proved) == rows else None
        if indices is None and found is not None and tensor.dim() == 1 and tensor.shape[0] == rows:
            indices = self.run.joined_samples(found[0], rows)
        return IntegerRows(
            name=name or "",
            values=tuple((int(r.min()), int(r.max())) if r.numel() else () for r in kept),
            indices=indices if indices is not None and len(indices) == rows else None,
            at=() if at == tuple(range(rows)) else at,
            made=guarded("crash.made")(self.made)(site, name or "", found or negative_leaf(tensor, batch)) or (),
        )

    def loss_built(self, site: CrashSite) -> Frame | None:
        """The line that built the loss module whose forward raised, followed from the name of its call."""
        module = site.modules[0] if site.modules else None
        if module is None or not isinstance(module, _Loss) or not site.frames:
            return None
        return object_built(site.frames, type(module).__name__)

    def made(self, site: CrashSite, name: str, found: tuple[Batch, str] | None) -> tuple[Frame, ...]:
        """The lines that wrote the indices: where the dataset makes them, else those before the call."""
        if found is not None:
            batch, path = found
            lines = batch.loader.made(path)
            if lines:
                return lines
        return made_first(argument_origin(site.frames, site.torch_calls, name, PLACES.get(name, 0)))

    def equal_leaf(self, tensor: Tensor, batch: Batch | None) -> tuple[Batch, str] | None:
        """A leaf of the last batch with the same values in the same order: the tensor is a copy or another shape of
        it."""
        for path, leaf in batch.tensors() if batch else ():
            if (
                leaf.numel() == tensor.numel()
                and not leaf.is_floating_point()
                and torch.equal(leaf.reshape(-1).long().cpu(), tensor.reshape(-1).long())
            ):
                return (batch, path) if batch else None
        return None


def evaluated(roots: list[nn.Module]) -> bool:
    """Whether the models stand in evaluation mode."""
    trained = [root for root in roots if any(True for _ in root.parameters())]
    return bool(trained) and not any(root.training for root in trained)


def negative_leaf(tensor: Tensor, batch: Batch | None) -> tuple[Batch, str] | None:
    """The leaf of the batch that is below 0 wherever ids computed from it are: what was added to them did not make them
    so."""
    low = tensor < 0
    for path, leaf in batch.tensors() if batch is not None and bool(low.any()) else ():
        whole = leaf.shape == tensor.shape and not leaf.is_floating_point() and leaf.device == tensor.device
        if whole and bool((leaf[low] < 0).all()):
            return (batch, path) if batch is not None else None
    return None


@guarded("crash.carried")
def carried(error: BaseException) -> Frame | None:
    """The line that carries a graph from one turn of a loop to the next, in the innermost function that has one."""
    for frame, line in list(traceback.walk_tb(error.__traceback__))[::-1]:
        found = carried_at(frame, line) if place_of(frame.f_code) == USER else None
        if found is not None:
            return found
    return None


def branches(ddp: DistributedDataParallel) -> dict[str, Frame]:
    """The layers with parameters that are called under a condition alone, by path."""
    paths = dict.fromkeys(name.rpartition(".")[0] for name, _ in ddp.module.named_parameters())
    found = {path: conditional_call(ddp.module, path) for path in paths}
    return {path: frame for path, frame in found.items() if frame is not None}


def batch_seen(info: LoaderInfo | None, batch: Batch | None) -> CrashBatch | None:
    """The loader, and the batch it handed out last unless it failed at the next."""
    if info is None:
        return None
    return CrashBatch(
        leaves=tuple(seen_tensor(path, leaf) for path, leaf in batch.tensors()[:16]) if batch else (),
        rows=batch.rows if batch else None,
        indices=batch.indices if batch else None,
        dataset_len=info.dataset_len(),
        batch_size=info.batch_size,
        num_workers=info.num_workers,
        drop_last=bool(getattr(info.loader(), "drop_last", False)),
        frame=info.frame,
    )


def parameters(roots: list[nn.Module]) -> tuple[TensorSeen, ...]:
    """The first parameters of the roots; a root inside another is named once."""
    named = {id(p): (name, p) for root in roots for name, p in root.named_parameters()}
    return tuple(seen_tensor(name, p) for name, p in list(named.values())[:MOST_PARAMETERS])


def memory() -> dict[str, int]:
    """The bytes of the current device; nothing where no accelerator is in use."""
    counted = device_memory()
    return msgspec.structs.asdict(counted) if counted is not None else {}


def of_its_shape(batch: Batch, tensor: Tensor) -> bool:
    """Whether a batch has a leaf of whole numbers of this shape, from which the tensor was computed (ids of a field
    moved to their part of one table): then row by row."""
    return any(leaf.shape == tensor.shape and not leaf.is_floating_point() for _, leaf in batch.tensors())


def as_it_came(lengths: Tensor, batch: Batch | None) -> Tensor | None:
    """The leaf of the batch with these values: packing sorts them, so that their rows are no longer those of the
    batch."""
    wanted = sorted(lengths.reshape(-1).tolist())
    leaves = [leaf for _, leaf in batch.tensors() if not leaf.is_floating_point() and leaf.dim() == 1] if batch else []
    return next((leaf for leaf in leaves if leaf.device.type == "cpu" and sorted(leaf.tolist()) == wanted), None)
