"""The dict of ids that an index came from which was refused, where its ids run past the number of its entries."""

from __future__ import annotations

from typing import Any

from torch import nn

from debugtracer.callsites.crash_site import CrashSite, site_of
from debugtracer.callsites.failing_expression import failing_expression, in_words
from debugtracer.callsites.filled_dicts import filling_of, number_dicts, numbers_of
from debugtracer.callsites.layer_line import layer_line
from debugtracer.callsites.origins.setting_origin import setting_line
from debugtracer.callsites.origins.value_origin import origin, written_at
from debugtracer.callsites.refused_index import RefusedIndex, refused_index
from debugtracer.errors import guarded
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.gapped_ids import GappedIds

LOSSES = frozenset({"cross_entropy", "nll_loss"})
ROOM = 4  # rows that a table has for words of its own: padding, unknown, begin, end (ours)


class GappedIdsObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the dict whose entry the refused index is; nothing where there is none."""
        if not isinstance(error, (IndexError, RuntimeError)):
            return
        site, failing = site_of(error), failing_expression(error)
        refused = refused_index(error, site, failing)
        if refused is None or refused.number < refused.size:
            return
        batch, drawn = self.run.batches.last(), self.run.batches.failed
        info = drawn[0] if drawn is not None else batch.loader if batch is not None else None
        data: Any = info.dataset_held() if info is not None else None
        held = next((one for one in number_dicts(error, (data,)) if runs_past(one.value, refused)), None)
        if held is None:
            return
        key = next(key for key, value in held.value.items() if value == refused.number)
        values, filling = numbers_of(held.value) or [], filling_of(held, key)
        made = written_at(origin(held.name, site.frames)) if filling is None else filling.line
        low = min(values)
        below = lowest(site) if low > 0 else None
        self.run.emit(
            GappedIds(
                ref=crash_ref(self.run, site.iterator is not None),
                number=refused.number,
                size=refused.size,
                entry=in_words(key),
                name=held.where(),
                entries=len(values),
                low=low,
                high=max(values),
                below=below if below is not None and 0 <= below < low else None,
                sized=guarded("gapped_ids.sized")(size_line)(site, refused.size),
                of_loss=bool(LOSSES.intersection(site.torch_calls)),
                filled=made,
                counted=filling.loop if filling is not None else None,
                symptom=site.frames[0] if site.frames else None,
            )
        )


def lowest(site: CrashSite) -> int | None:
    """The smallest number that a table of rows was asked for, its padding with it; None of anything else."""
    given, table = site.tensors.get("input"), site.modules[0] if site.modules else None
    if not isinstance(table, nn.Embedding) or given is None or given.is_floating_point() or not given.numel():
        return None
    padding = table.padding_idx if table.padding_idx is not None else int(given.min())
    return min(padding, int(given.min()))


def size_line(site: CrashSite, size: int) -> Frame | None:
    """The line that gave the table of rows its size; None of anything else, and where it is not written elsewhere."""
    table = site.modules[0] if site.modules else None
    built = layer_line(table, site.modules) if isinstance(table, nn.Embedding) else None
    return setting_line((built,), "Embedding", "num_embeddings", 0, size) if built is not None else None


def runs_past(held: dict[Any, Any], refused: RefusedIndex) -> bool:
    """Whether the refused index is an id of this dict, for whose entries there is room in what it was used on."""
    if not 0 <= refused.size - len(held) <= ROOM:
        return False
    return refused.number in held.values()
