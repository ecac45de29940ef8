"""The samples of the batch in flight whose number an index was made of that was refused: each is fetched again, and
compared with those of batches that the same line took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, Subset

from debugtracer.callsites.crash_site import CrashSite, site_of
from debugtracer.callsites.data_lines import named_files, record_line
from debugtracer.callsites.failing_expression import failing_expression
from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.callsites.refused_index import RefusedIndex, refused_index
from debugtracer.callsites.stored_labels import label_line
from debugtracer.errors import guarded
from debugtracer.observers.loaders.refetch import restored
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.outside_record import OutsideRecord

KNOWN = frozenset({"cross_entropy", "nll_loss", "embedding", "embedding_bag"})
ADDED = (0, 1, -1)  # what lies between a class of the data and its row: a row for the background (ours)
FEWEST = 8  # samples of other batches that must fit (ours)
HEALTHY = 256  # of them that are asked for at most (ours)
MOST = 1024  # samples of a batch that are fetched again (ours)
SECONDS = 4.0  # that the others may take (ours)
LONGEST = 64  # characters of a name (ours)
WIDEST = 1 << 20  # numbers of one part of a sample that are read (ours)
Numbers = dict[str, tuple[int, int]]


class Odd(NamedTuple):
    """A place in the samples, what is added to its numbers, and which samples of the batch hold such a number."""

    path: str
    added: int
    samples: list[int]


class OutsideRecordObserver(Observer):
    """The program is over: what is fetched here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the samples; nothing where the number cannot be found in them."""
        site = site_of(error)
        if not isinstance(error, (IndexError, RuntimeError)) or site.iterator is not None:
            return
        refused = refused_index(error, site, failing_expression(error))
        last = self.run.batches.last() if refused is not None else None
        before = [one for one in self.run.batches.latest() if one is not last][-1:]
        for batch in (last, *before) if last is not None else ():  # the next may have been fetched ahead
            data = batch.loader.dataset_held() if batch is not None else None
            if batch is None or refused is None or not can_be_asked(data, batch):
                continue
            with restored(data), torch.no_grad():
                fact = self.seen(error, site, refused, batch, data)
            if fact is not None:
                self.run.emit(fact)
                return

    def seen(
        self, error: BaseException, site: CrashSite, refused: RefusedIndex, batch: Batch, data: Any
    ) -> OutsideRecord | None:
        """Put the fact together; None where no sample, or more than one place in it, can be meant."""
        drawn = list(dict.fromkeys(batch.indices or batch.drawn or ()))
        own = asked(data, drawn, SECONDS)
        before = asked(data, self.run.batches.earlier(batch, HEALTHY, set(drawn)), SECONDS)
        odd = odd_of(own, before, refused) if len(own) == len(drawn) and len(before) >= FEWEST else None
        if odd is None:
            return None
        first, known = odd.samples[0], own.keys() | before.keys()
        ahead = asked(data, [i for i in range(length(data) or 0) if i not in known], SECONDS, HEALTHY)
        alike = sum(1 for one in ahead.values() if odd.path in one and not fits(one[odd.path], odd.added, refused))
        spans = [one[odd.path] for index, one in (own | before).items() if index not in odd.samples]
        whole = in_whole(data, first)
        names = names_of(*whole, sample_of(data, first))
        made = made_first(sample_origin(data, None, batch.loader.frame, f"batch{odd.path}"))
        return OutsideRecord(
            ref=crash_ref(self.run, fetching=False),
            number=refused.number,
            size=refused.size,
            path=odd.path,
            samples=tuple(odd.samples),
            value=refused.number - odd.added,
            low=min(span[0] for span in spans),
            high=max(span[1] for span in spans),
            beside=len(spans),
            ahead=len(ahead),
            alike=alike,
            name=names[0] if names else "",
            record=guarded("outside_record.line")(record_line)(named_files(error, data), names, length(whole[0]))
            or guarded("outside_record.label")(label_line)(
                whole[0], whole[1], numbers_in(data, own | before, odd.path)
            ),
            lookup=not KNOWN.intersection(site.torch_calls),
            made=next(iter(made), None),
            symptom=site.frames[0] if site.frames else None,
        )


def numbers_in(data: Any, asked: dict[int, Numbers], path: str) -> dict[int, int]:
    """The number at a place of each sample that holds one alone there, by its index below all Subsets."""
    return {in_whole(data, index)[1]: one[path][0] for index, one in asked.items() if len({*one.get(path, ())}) == 1}


def can_be_asked(data: Any, batch: Batch) -> bool:
    """Whether the samples of a batch can be fetched again by their indices."""
    drawn = batch.indices or batch.drawn or ()
    by_index = not isinstance(data, IterableDataset) and hasattr(data, "__getitem__")
    return by_index and 0 < len(drawn) <= MOST and all(type(index) is int for index in drawn)


def odd_of(own: dict[int, Numbers], before: dict[int, Numbers], refused: RefusedIndex) -> Odd | None:
    """The only place in the samples at which few of the batch hold what was refused, less what the program adds, and
    all others what fits."""
    found: list[Odd] = []
    for path in dict.fromkeys(path for one in own.values() for path in one):
        if any(path not in one for one in (own | before).values()):
            continue
        for added in ADDED:
            samples = [index for index, one in own.items() if not fits(one[path], added, refused)]
            hit = any(refused.number - added in own[index][path] for index in samples)
            if hit and len(samples) * 2 <= len(own) and all(fits(one[path], added, refused) for one in before.values()):
                found.append(Odd(path, added, samples))
    exact = [one for one in found if one.added == 0]
    return found[0] if len(found) == 1 else exact[0] if len(exact) == 1 else None


def fits(span: tuple[int, int], added: int, refused: RefusedIndex) -> bool:
    """Whether all numbers between these two have a place, on the side on which one had none."""
    return span[1] + added < refused.size if refused.number >= 0 else span[0] + added >= refused.least


def asked(data: Any, indices: Sequence[int], seconds: float, most: int = MOST) -> dict[int, Numbers]:
    """The numbers of these samples, evenly, as far as the time allows; without those that cannot be made."""
    ends, found = perf_counter() + seconds, {}
    for index in indices[:: max(1, -(-len(indices) // most))]:
        if perf_counter() > ends:
            break
        sample = sample_of(data, index)
        if sample is not None:
            found[index] = numbers_of(sample)
    return found


def sample_of(data: Any, index: int) -> Any:
    """Ask the dataset once more; None where the sample cannot be made."""
    try:
        return data[index]
    except (Exception, SystemExit):
        return None  # the user's code; it may need what only a worker has


def numbers_of(sample: Any, path: str = "", depth: int = 3) -> Numbers:
    """The smallest and the largest of the whole numbers at each place of a sample."""
    found: Numbers = {}
    if type(sample) is int:
        found[path] = (sample, sample)
    elif isinstance(sample, Tensor) or hasattr(sample, "__array_interface__"):
        values = whole_numbers(sample)
        if values is not None:
            found[path] = (int(values.min()), int(values.max()))
    elif depth:
        for part, one in parts_of(sample):
            found |= numbers_of(one, path + part, depth - 1)
    return found


def parts_of(sample: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a tuple, list or dict; a list of numbers as one tensor."""
    if isinstance(sample, dict):
        yield from ((f"[{key!r}]", one) for key, one in sample.items())
    elif isinstance(sample, (tuple, list)) and len(sample) > 4 and all(type(one) is int for one in sample):
        yield "", torch.tensor(sample)
    elif isinstance(sample, (tuple, list)):
        yield from ((f"[{place}]", one) for place, one in enumerate(sample[:64]))


def whole_numbers(value: Any) -> Tensor | None:
    """The values of a tensor or array of whole numbers; None for any other, and for an empty or large one."""
    try:
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return None
    whole = not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype is not torch.bool
    return tensor.detach() if whole and 0 < tensor.numel() <= WIDEST and tensor.device.type == "cpu" else None


def in_whole(data: Any, index: int) -> tuple[Any, int]:
    """The dataset below all Subsets, and the index of a sample there."""
    while isinstance(data, Subset):
        data, index = data.dataset, int(data.indices[index])
    return data, index


def length(data: Any) -> int | None:
    """Count the samples of a dataset; None where it cannot say how many there are."""
    try:
        return len(data)
    except Exception:
        return None  # `__len__` is the user's code and may do anything


def names_of(data: Any, index: int, sample: Any) -> list[str]:
    """What a sample is called: the strings in it, and those in its place in lists as long as the dataset, where no
    other has the same; also the last part of a path."""
    total, found = length(data), [one for _, one in parts_of(sample) if isinstance(one, str)]
    for held in getattr(data, "__dict__", {}).values():
        entries = held if isinstance(held, (list, tuple)) and len(held) == total else ()
        one = strings_in(entries[index]) if len(entries) > index else []
        found += [word for word in one if sum(1 for other in entries if word in strings_in(other)) == 1]
    words = [part for word in found for part in (word, word.rpartition("/")[2])]
    return [word for word in dict.fromkeys(words) if 2 < len(word) <= LONGEST and not set(word) & set(" \n\t")]


def strings_in(entry: Any) -> Sequence[str]:
    """Return the words that one entry of a list holds: itself, or parts of it."""
    if isinstance(entry, str):
        return (entry,)
    return [one for one in entry if isinstance(one, str)] if isinstance(entry, (tuple, list)) else ()
