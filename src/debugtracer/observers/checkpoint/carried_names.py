"""Compares the names that loaded rows of an embedding were trained with and those that the program numbers now."""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import Tensor, nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.value_origin import origin, program_of
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.program_stack import program_stack
from debugtracer.errors import guarded
from debugtracer.observers.loaders.numbered_names import SHARE, Table, is_own, looks_numbered, numbers, tables
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.carried_names import CarriedNames

DEPTH = 2  # mappings of a loaded file looked into (ours)
MOST = 32  # tables remembered (ours)
LONGEST = 100_000  # names of a table that is copied: some 10 MB (ours)
LEAST = 4  # names in both tables (ours)
LENGTH = 0.5  # of an embedding's rows that a table of its names numbers at least (ours)


class LoadedEmbedding:
    """An embedding after its weights were loaded."""

    def __init__(self, name: str, module: nn.Embedding) -> None:
        self.name, self.rows = name, module.num_embeddings
        self.weight = weakref.ref(module.weight)
        self.version = module.weight._version

    def stands(self) -> bool:
        """Whether nothing was written into its rows since."""
        weight = self.weight()
        return weight is not None and weight._version == self.version

    def numbered_by(self, table: Table) -> bool:
        """Whether a table may hold the names of its rows."""
        return LENGTH * self.rows <= len(table) <= self.rows and max(table.values()) < self.rows


class CarriedNamesObserver(Observer):
    """Looks through the names of the program's own frames at the first backward, at a load of an embedding and at the
    first backward after it; some 0.1 ms each. No device is asked."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[str, Table] = {}
        self.embeddings: list[LoadedEmbedding] = []
        self.loaded: Frame | None = None

    def reset(self) -> None:
        self.known.clear()
        self.embeddings.clear()

    @always
    def restored(self, word: str, owner: Any) -> None:
        """Note the embeddings of a module whose weights were loaded, and the tables of the file they came from."""
        if word != "weights" or not isinstance(owner, nn.Module):
            return
        found = [
            LoadedEmbedding(f"{name}.weight" if name else "weight", part)
            for name, part in owner.named_modules()
            if isinstance(part, nn.Embedding) and not (part.weight.is_meta or part.weight.is_inference())
        ]
        if not found:
            return
        self.embeddings, self.loaded = found, self.run.here()
        files = dict(in_files(program_stack(sys._getframe())))
        unread = {path for path in files if not is_read(path.rpartition("[")[2].strip("]'\""))}
        self.remember({path: table for path, table in files.items() if path in unread})
        self.run.subscribe(self.backward_begins)

    @always
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Compare the tables of a phase of training that goes on with loaded rows with those before; remember them."""
        self.run.unsubscribe(self.backward_begins)
        held = dict(in_names(program_stack(sys._getframe())))
        standing = [one for one in self.embeddings if one.stands()]
        self.embeddings = []
        for embedding in standing:
            fact = self.compare(embedding, held)
            if fact is not None:
                self.run.emit(fact)
                break
        self.remember(held)

    def remember(self, found: dict[str, Table]) -> None:
        """Keep copies: the program may change or drop its own."""
        for name, table in found.items():
            if len(table) <= LONGEST and len(self.known) < MOST:
                self.known[name] = dict(table)

    def compare(self, embedding: LoadedEmbedding, held: dict[str, Table]) -> CarriedNames | None:
        """A table of now by which names have other rows than by a table of before. A program that still holds the one
        of before, or one that agrees with the one of now, knows both."""
        fitting = {path: table for path, table in self.known.items() if embedding.numbered_by(table)}
        for name, table in held.items():
            if not embedding.numbered_by(table) or any(not moved(old, table) for old in fitting.values()):
                continue
            for path, old in fitting.items():
                common = [word for word in old if word in table]
                differ = moved(old, table)
                few = len(differ) < 2 or len(differ) < SHARE * len(common)
                if few or 2 * len(common) < len(table) or any(not moved(old, one) for one in held.values()):
                    continue
                return CarriedNames(
                    ref=self.run.ref("load"), table=name, former=path, param=embedding.name, rows=embedding.rows,
                    common=len(common), differ=len(differ), name=differ[0], trained=old[differ[0]],
                    now=table[differ[0]], frame=made_at(name), loaded=self.loaded,
                )  # fmt: skip
        return None


def moved(old: Table, table: Table) -> list[str]:
    """The names in both that have two ids; of too few in both, all names of the old one."""
    common = [word for word in old if word in table]
    return [word for word in common if old[word] != table[word]] if len(common) >= LEAST else list(old)


def named(walked: Iterator[FrameType]) -> Iterator[tuple[str, Any]]:
    """What the frames call their values, the innermost meaning of a name first."""
    seen: set[tuple[str, int]] = set()
    for frame in walked:
        for scope in (locals_of(frame), frame.f_globals):
            for name, value in list(scope.items()):
                if not name.startswith("__") and (name, id(value)) not in seen:
                    seen.add((name, id(value)))
                    yield name, value


def in_names(walked: Iterator[FrameType]) -> Iterator[tuple[str, Table]]:
    """Yield the tables that the frames hold, or objects of the program that they hold."""
    found: dict[str, Table] = {}
    for name, value in named(walked):
        if isinstance(value, dict):
            if is_table(value):
                found.setdefault(name, value)
        elif is_own(type(value)) and not isinstance(value, type):
            for path, table in tables(value, f"{name}.", 2):
                if is_table(table):
                    found.setdefault(path, table)
    yield from found.items()


def in_files(walked: Iterator[FrameType]) -> Iterator[tuple[str, Table]]:
    """Yield the tables inside mappings that hold weights, too."""
    for name, value in named(walked):
        if isinstance(value, dict) and holds_weights(value, DEPTH):
            yield from ((f"{name}{path}", table) for path, table in inside(value, DEPTH))


def holds_weights(value: dict[Any, Any], depth: int) -> bool:
    """Whether a mapping holds tensors, or one that does."""
    return any(
        isinstance(one, Tensor) or (depth > 0 and isinstance(one, dict) and holds_weights(one, depth - 1))
        for one in list(value.values())[:64]
    )


def inside(value: dict[Any, Any], depth: int) -> Iterator[tuple[str, Table]]:
    """The tables below a mapping, by keys."""
    for key, one in list(value.items())[:64]:
        if isinstance(one, dict) and is_table(one):
            yield f"[{key!r}]", one
        elif isinstance(one, dict) and depth > 0:
            yield from ((f"[{key!r}]{path}", table) for path, table in inside(one, depth - 1))


def is_table(value: dict[Any, Any]) -> bool:
    """Whether a dict numbers names."""
    return (
        LEAST <= len(value) <= LONGEST
        and looks_numbered(value)
        and all(type(key) is str for key in value)
        and numbers(value)
    )


def is_read(key: str) -> bool:
    """Whether the program asks a mapping for this key somewhere, and so may know what it does, or its files cannot all
    be read."""
    files = program_files()
    for program in [program_of(file) for file in files or ()]:
        if program is None:
            continue
        for node in program.every(ast.Constant):
            above = next(program.above(node), None) if node.value == key else None
            if isinstance(above, ast.Call) or (isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load)):
                return True
    return files is None


def made_at(name: str) -> Frame | None:
    """The line that wrote the name last, in the innermost frame that has it."""
    stack = user_frames(1)
    follow = guarded("carried_names.origin")(origin)
    for depth in range(len(stack)):
        links = follow(name, stack[depth:])
        if links:
            return links[0].frame
    return None
