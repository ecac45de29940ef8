"""The vocabulary that an id came from which an embedding refused, where it has more entries than the table rows."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from debugtracer.callsites.crash_site import CrashSite, site_of
from debugtracer.callsites.failing_expression import in_words
from debugtracer.callsites.filled_dicts import PLAIN, filling_of, numbers_of, reached
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.layer_line import layer_line
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.origins.setting_origin import at_line, setting_line
from debugtracer.callsites.origins.value_origin import last_write, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.refused_index import TABLES, RefusedIndex, refused_index
from debugtracer.callsites.stored_entries import Held
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary

SPARE = 64  # rows that a table has beyond its vocabulary, or an eighth of it: rounded up to a power (ours)
ADDS = ("add_tokens", "add_special_tokens")


@dataclass(frozen=True)
class Vocabulary:
    """An object of the program that gives words their ids, and how many ids it gives."""

    held: Held
    entries: int
    words: dict[Any, Any] | None = None
    """The dict; None of a tokenizer."""


class LongerVocabularyObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the vocabulary; nothing where none has the id, or several of different lengths have."""
        site = site_of(error)
        refused = refused_index(error, site, None) if TABLES.intersection(site.torch_calls) else None
        if refused is None or refused.number < refused.size or counted_up(site.tensors.get("input")):
            return
        batch = self.run.batches.last()
        data = batch.loader.dataset_held() if batch is not None else None
        others = other_tables(self.run.modules(), site)
        known = [one for one in vocabularies(error, data) if fits(one, refused, others)]
        if not known or len({one.entries for one in known}) > 1:
            return
        first = known[0]
        table, root = site.modules[0] if site.modules else None, site.modules[-1] if site.modules else None
        built = layer_line(table, site.modules) if isinstance(table, nn.Embedding) else None
        sized = setting_line((built,), "Embedding", "num_embeddings", 0, refused.size) if built is not None else None
        loaded, model = written_in(error, first.held.value), written_in(error, root)
        if first.words is None:
            filled = tokens_added() or loaded
        else:
            filling = filling_of(first.held)
            filled = filling.line if filling is not None else None
        self.run.emit(
            LongerVocabulary(
                ref=crash_ref(self.run, site.iterator is not None),
                name=first.held.where(),
                entries=first.entries,
                table=refused.size,
                number=refused.number,
                entry=named(first.words, refused.number),
                filled=filled,
                sized=sized or built or model,
                resizes=hasattr(type(root), "resize_token_embeddings"),
            )
        )


def counted_up(ids: Tensor | None) -> bool:
    """Whether ids are places, one after the other: no vocabulary gives those."""
    if ids is None or not ids.dim() or ids.shape[-1] < 3:
        return False
    return bool((ids.detach().diff(dim=-1) == 1).all())


def other_tables(roots: list[nn.Module], site: CrashSite) -> list[int]:
    """The rows of the other tables of the models."""
    refused = site.tensors.get("weight")
    every = {id(m): m for root in (*roots, *site.modules[-1:]) for m in root.modules() if isinstance(m, nn.Embedding)}
    return [m.num_embeddings for m in every.values() if m.weight is not refused]


def vocabularies(error: BaseException, data: Any) -> Iterator[Vocabulary]:
    """Yield the tokenizers and the dicts of ids that the user's functions can reach."""
    for held in reached(error, (data,)):
        if type(held.value) in PLAIN:
            numbers = numbers_of(held.value)
            low, high = (min(numbers), max(numbers)) if numbers is not None else (-1, -1)
            if numbers is not None and low in (0, 1) and high - low + 1 == len(numbers):
                yield Vocabulary(held, high + 1, held.value)
        elif (size := tokenizer_size(held.value)) is not None and held.name:
            yield Vocabulary(held, size)


def tokenizer_size(value: Any) -> int | None:
    """How many ids a tokenizer of a library gives; None for anything else."""
    kind = type(value)
    if kind.__module__.partition(".")[0] not in ("transformers", "tokenizers"):
        return None
    if hasattr(kind, "get_vocab_size"):
        return int(value.get_vocab_size())
    return len(value) if hasattr(kind, "convert_ids_to_tokens") and hasattr(kind, "__len__") else None


def fits(one: Vocabulary, refused: RefusedIndex, others: list[int]) -> bool:
    """Whether a vocabulary gives the refused id and is longer than its table, and no other table is that of it."""
    if not refused.size < one.entries or refused.number >= one.entries:
        return False
    return not any(one.entries <= rows <= one.entries + max(SPARE, one.entries // 8) for rows in others)


def named(words: dict[Any, Any] | None, number: int) -> str:
    """The entry of this id in words."""
    found = [key for key, value in words.items() if value == number] if words is not None else []
    return in_words(found[0]) if found else ""


def written_in(error: BaseException, value: Any) -> Frame | None:
    """The line of a running function that gave this object the name which it has there."""
    for frame, line in traceback.walk_tb(error.__traceback__):  # outermost first: where it was made
        at = as_frame(frame.f_code, line)
        program = program_of(at.file)
        names = [name for name, held in frame.f_locals.items() if held is value] if program is not None else []
        for name in names:
            last = last_write(program, scope_at(program, line), name, line) if program is not None else None
            if program is not None and last is not None:
                return at_line(program, last.node.lineno)
    return None


def tokens_added() -> Frame | None:
    """The only line of the program that adds tokens to a tokenizer; None for none and for several."""
    found: list[Frame] = []
    for program in programs_of(program_files()):
        calls = [n for n in program.nodes if hasattr(n, "func") and final_name(n.func) in ADDS]
        found += [at_line(program, call.lineno) for call in calls if hasattr(call, "lineno")]
    return found[0] if len(found) == 1 else None
