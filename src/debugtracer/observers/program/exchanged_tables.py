"""Two embedding tables of which each has the length that the ids of the other need, when one has refused an id."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.data import default_collate

from debugtracer.callsites.crash_site import CrashSite, site_of
from debugtracer.callsites.origins.exchanged_names import exchanged_names
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.refused_index import TABLES, refused_index
from debugtracer.observers.loaders.sample_maker import SampleMaker
from debugtracer.observers.model.running_module import path_of
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.exchanged_tables import ExchangedTables

MOST_COLUMNS = 16  # of one tensor of ids (ours)
CHUNK = 256  # samples that are collated at a time (ours)
SECONDS = 2.0  # that fetching all samples may take (ours)


class IdColumn(NamedTuple):
    """Where a batch has one id for each row."""

    path: str
    place: int | None

    def of(self, leaf: Tensor) -> Tensor:
        """Return its ids in a leaf."""
        return leaf if self.place is None else leaf[:, self.place]

    def words(self) -> str:
        """How a person would index it."""
        return self.path if self.place is None else f"{self.path}[:, {self.place}]"


class ExchangedTablesObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit both tables; nothing where exchanging their lengths would not make both fit."""
        site = site_of(error)
        refused = refused_index(error, site, None) if TABLES.intersection(site.torch_calls) else None
        batch, ids = self.run.batches.last(), site.tensors.get("input")
        if refused is None or refused.number < refused.size or batch is None or ids is None:
            return
        roots = [*self.run.modules(), *site.modules[-1:]]
        others = [m for m in longer(roots, site) if m.num_embeddings > refused.number]
        columns = dict(columns_of(batch))
        own = next((one for one, held in columns.items() if torch.equal(held.long(), ids.reshape(-1).long())), None)
        if own is None or not others:
            return
        highest, whole = self.highest(batch, columns)
        wanted = next((m for m in others if m.num_embeddings == highest.get(own, -1) + 1), None)
        fits = [one for one, high in highest.items() if one != own and high + 1 == refused.size]
        if wanted is None or not fits or uneven(roots, refused.size, wanted.num_embeddings):
            return
        files = list(dict.fromkeys([*(frame.file for frame in site.frames), *(program_files() or ())]))
        place = exchanged_names(error, files, (refused.size, int(wanted.num_embeddings)))
        self.run.emit(
            ExchangedTables(
                ref=crash_ref(self.run, False),
                rows=refused.size,
                high=highest[own],
                path=path_of(wanted, roots) or "",
                other_rows=int(wanted.num_embeddings),
                column=fits[0].words(),
                other_high=highest[fits[0]],
                whole=whole,
                given=place.given if place is not None else None,
                taken=place.taken if place is not None else None,
            )
        )

    def highest(self, batch: Batch, columns: dict[IdColumn, Tensor]) -> tuple[dict[IdColumn, int], bool]:
        """The largest id of each column, and whether of all samples of the data: where those take long, of the
        batch."""
        found = {one: int(held.max()) for one, held in columns.items()}
        maker, length = maker_at_end(batch.loader), batch.loader.dataset_len()
        parts: dict[IdColumn, list[Tensor]] = {one: [] for one in columns}
        began = perf_counter()
        try:
            with maker.unchanged(self.run):
                for begin in range(0, length or 0, CHUNK):
                    samples = [maker.dataset[i] for i in range(begin, min(begin + CHUNK, length or 0))]
                    leaves = dict(leaves_of(maker.collate(samples)))
                    for one, held in parts.items():
                        held.append(one.of(leaves[one.path]))
                    if perf_counter() - began > SECONDS:
                        return found, False
            whole = {one: torch.cat(held) for one, held in parts.items()}
            wanted = list(batch.indices or ())
            if not wanted or any(not torch.equal(whole[one][wanted], held) for one, held in columns.items()):
                return found, False
        except (Exception, SystemExit):
            return found, False  # the user's code; it may need what only a worker has
        return {one: int(held.max()) for one, held in whole.items()}, True


def maker_at_end(info: LoaderInfo) -> SampleMaker:
    """What made the samples of a loader that may be gone with its loop."""
    return SampleMaker(info.dataset_held(), getattr(info.loader(), "collate_fn", None) or default_collate)


def longer(roots: list[nn.Module], site: CrashSite) -> Iterator[nn.Embedding]:
    """Yield the tables of the models that are longer than the one that refused an id."""
    refused = site.tensors.get("weight")
    for module in tables(roots):
        if refused is not None and len(module.weight) > len(refused):
            yield module


def tables(roots: list[nn.Module]) -> list[nn.Embedding]:
    """The tables of the models, each once."""
    return list({id(m): m for root in roots for m in root.modules() if isinstance(m, nn.Embedding)}.values())


def uneven(roots: list[nn.Module], one: int, other: int) -> bool:
    """Whether there are more tables of one length than of the other: exchanged, not all of them would fit."""
    lengths = [m.num_embeddings for m in tables(roots)]
    return lengths.count(one) != lengths.count(other)


def columns_of(batch: Batch) -> Iterator[tuple[IdColumn, Tensor]]:
    """Yield what the batch has of whole numbers, one for each row."""
    for path, leaf in batch.tensors():
        if leaf.device.type != "cpu" or leaf.is_floating_point() or leaf.is_complex() or not leaf.numel():
            continue
        if leaf.dim() == 1:
            yield IdColumn(path, None), leaf
        elif leaf.dim() == 2 and leaf.shape[1] <= MOST_COLUMNS:
            yield from ((IdColumn(path, place), leaf[:, place]) for place in range(leaf.shape[1]))
