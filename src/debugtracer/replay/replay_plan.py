"""Which entries of the tape a replay has to execute, and why it may have to refuse."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field

from torch import Tensor, nn

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.state.sharded import is_sharded
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment


@dataclass
class ReplayPlan:
    """Segments to execute, oldest first, and the leaves they start from."""

    segments: list[Segment]
    written: list[Tensor] = field(default_factory=list)
    """Leaves that entries write in place and whose identity matters (parameters): restored after."""

    @property
    def entries(self) -> list[Entry]:
        """The entries of all segments in order."""
        return [e for s in self.segments for e in s.entries]


def make_plan(current: Segment, previous: Segment | None, copies_at_hand: bool) -> ReplayPlan:
    """The current segment, and what it still needs of the one before (a GAN's fake reused). Raises ReplayRefused."""
    refuse(current)
    segments = [current]
    origins = [leaf.origin for leaf in leaves(current) if leaf.origin is not None and leaf.tensor.requires_grad]
    if origins:
        if previous is None:
            raise ReplayRefused("the step uses a graph from before the recording began")
        segments.insert(0, older_part(previous, {slot.entry for slot in origins}))
        if updated(previous, segments[0]) and not copies_at_hand:
            raise ReplayRefused(
                "the step uses a graph from before the last update, and no copy of the parameters before that update "
                "was kept"
            )
    return ReplayPlan(segments, [leaf.tensor for segment in segments for leaf in written(segment)])


def written(segment: Segment) -> list[Leaf]:
    """The parameters that entries of a segment write, each with its value from before the first write."""
    found = (r for e in segment.entries for r in e.references() if isinstance(r, Leaf))
    return [leaf for leaf in found if leaf.saved is not None and isinstance(leaf.tensor, nn.Parameter)]


def older_part(previous: Segment, wanted: set[int]) -> Segment:
    """Cut an older segment to the entries that made a graph still in use. Raises ReplayRefused."""
    part = Segment(previous.number)
    for entry in reversed(previous.entries):
        if entry.index in wanted:
            part.entries.insert(0, entry)
            wanted.update(r.entry for r in entry.references() if isinstance(r, Slot))
    part.refused = previous.refused
    refuse(part, wanted)
    return part


def updated(previous: Segment, part: Segment) -> bool:
    """True if a module of the part holds parameters that the older segment's update has changed since."""
    written = {
        id(p) for e in previous.entries if e.kind == "step" for group in e.args[0].param_groups for p in group["params"]
    }
    return any(id(p) in written for e in part.entries if e.kind == "module" for p in e.function.parameters())


# their forward waits for the other ranks, which are not replaying
COLLECTIVE = ("SyncBatchNorm", "FullyShardedDataParallel")


def stages() -> set[int]:
    """The ids of modules that are stages of a pipeline. Walks the objects of the process then: not on a hot path."""
    stage = sys.modules.get("torch.distributed.pipelining.stage")
    kind = getattr(stage, "_PipelineStageBase", None)
    return (
        {id(getattr(held, "submod", None)) for held in gc.get_objects() if isinstance(held, kind)}
        if isinstance(kind, type)
        else set()
    )


def refuse_collectives(segment: Segment) -> None:
    """Raise ReplayRefused when a module of the step would wait for other ranks: a replay must never hang a job."""
    modules = [e.function for e in segment.entries if e.kind == "module"]
    if not stages().isdisjoint(map(id, modules)):
        raise ReplayRefused(
            "this rank is a stage of a pipeline, which computes on what other ranks send, and only this one would "
            "replay"
        )
    for module in modules:
        for part in module.modules():
            if any(kind.__name__ in COLLECTIVE for kind in type(part).__mro__) or any(
                is_sharded(p) for p in nn.Module.parameters(part, recurse=False)
            ):
                kind = type(part).__name__
                better = (
                    "; with fully_shard (FSDP2) the weights can be gathered and the step replayed"
                    if kind == "FullyShardedDataParallel"
                    else ""
                )
                raise ReplayRefused(
                    f"{kind} computes together with the other ranks, and only this one would replay{better}"
                )


def refuse_threads(segment: Segment) -> None:
    """Raise ReplayRefused for DataParallel on several GPUs: its replicas run in threads of their own, where no operator
    can be traced."""
    for part in (part for e in segment.entries if e.kind == "module" for part in e.function.modules()):
        if isinstance(part, nn.DataParallel) and len(part.device_ids) > 1:
            raise ReplayRefused(
                "DataParallel computes on several GPUs in threads of its own; with DistributedDataParallel each rank "
                "can execute its step again"
            )


def refuse(segment: Segment, wanted: set[int] | None = None) -> None:
    """Raise ReplayRefused when a segment cannot be executed as it was."""
    if segment.refused:
        raise ReplayRefused(segment.refused)
    refuse_threads(segment)
    if several_ranks():
        refuse_collectives(segment)
    if not segment.entries:
        raise ReplayRefused("nothing of this step was recorded")
    wanted = needed(segment) if wanted is None else wanted
    for entry in segment.entries:
        if entry.index not in wanted:
            continue
        for reference in entry.references():
            if isinstance(reference, Leaf) and reference.moved:
                raise ReplayRefused(
                    f"a tensor of shape {tuple(reference.tensor.shape)} was changed in place after the step used it"
                )
            if isinstance(reference, Leaf) and is_sharded(reference.tensor):
                raise ReplayRefused(
                    "the loop computes with a sharded tensor outside modules, together with the other ranks"
                )
            if isinstance(reference, Leaf) and reference.foreign:
                raise ReplayRefused("a tensor with a graph came from a call that the tape cannot see")


def needed(segment: Segment) -> set[int]:
    """The entries that a backward, a module call or a write depends on; metrics computed aside are not."""
    wanted: set[int] = set()
    for entry in reversed(segment.entries):
        if entry.index in wanted or entry.kind in {"backward", "module", "step"}:
            wanted.add(entry.index)
            wanted.update(r.entry for r in entry.references() if isinstance(r, Slot))
    return wanted


def leaves(segment: Segment) -> list[Leaf]:
    """The leaves of the entries that a replay needs."""
    wanted = needed(segment)
    return [r for e in segment.entries if e.index in wanted for r in e.references() if isinstance(r, Leaf)]
