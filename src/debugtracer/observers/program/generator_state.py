"""The generators an object holds, and fingerprints of their states: read, never drawn from."""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

DEPTH, MOST, WIDE = 4, 2000, 64  # levels, objects and children of one container that are looked through (ours)
TWISTS = 1500  # refills of a Mersenne twister that are tried out: a million numbers, 30 ms, once per worker (ours)
OPAQUE = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    type,
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    ModuleType,
    torch.Tensor,
    torch.nn.Module,
)


@dataclass(frozen=True)
class HeldGenerator:
    """A generator, and the attribute it is reached by."""

    path: str
    generator: Any
    holder: Any
    attribute: str


@dataclass(frozen=True)
class GeneratorState:
    """What is compared: the whole state as a digest, and what drawing does not change (None where everything
    changes)."""

    digest: int
    lineage: Any
    twister: tuple[int, ...] | None = None
    """The words and the place of a Mersenne twister."""


def is_generator(value: Any) -> bool:
    """True for a numpy Generator or RandomState, a random.Random or a torch.Generator."""
    numpy = sys.modules.get("numpy")
    kinds = (
        random.Random,
        torch.Generator,
        *((numpy.random.Generator, numpy.random.RandomState) if numpy is not None else ()),
    )
    return isinstance(value, kinds)


def held_by(owner: Any, name: str = "dataset") -> list[HeldGenerator]:
    """The generators in the attributes of an object, in objects and containers it holds too; runs no code of theirs."""
    return list({id(held.generator): held for held in reversed(ways_to(owner, name))}.values())[::-1]


def shared_paths(owner: Any) -> tuple[str, ...]:
    """The ways to a generator that several parts of a dataset draw from."""
    ways: dict[int, list[str]] = {}
    for held in ways_to(owner, "dataset"):
        ways.setdefault(id(held.generator), []).append(held.path)
    return next((tuple(paths[:4]) for paths in ways.values() if len(paths) > 1), ())


def ways_to(owner: Any, name: str) -> list[HeldGenerator]:
    """Every attribute that leads to a generator."""
    found: list[HeldGenerator] = []
    seen: set[int] = set()
    queue: list[tuple[Any, str, int]] = [(owner, name, DEPTH)]
    while queue and len(seen) < MOST:
        value, path, depth = queue.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        for part, attribute, child in children_of(value):
            if is_generator(child):
                found.append(HeldGenerator(path + part, child, value, attribute))
            elif depth > 1 and child is not None and not isinstance(child, OPAQUE):
                queue.append((child, path + part, depth - 1))
    return found


def children_of(value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield what a value holds, with the way to it and its attribute; of a long container the first."""
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", "", child) for key, child in list(value.items())[:WIDE])
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{place}]", "", child) for place, child in enumerate(value[:WIDE]))
    else:
        yield from ((f".{key}", key, child) for key, child in list(getattr(value, "__dict__", {}).items())[: 2 * WIDE])


def state_of(generator: Any) -> GeneratorState:
    """Read the present state of a generator; 5 to 50 microseconds."""
    if isinstance(generator, torch.Generator):
        words = generator.get_state()
        return GeneratorState(
            zlib.crc32(bytes(words.numpy().data)) if words.device.type == "cpu" else 0,
            ("torch", generator.initial_seed()),
        )
    if isinstance(generator, random.Random):
        return _of_python(generator.getstate())
    bits = generator.bit_generator.state if hasattr(generator, "bit_generator") else generator.get_state(legacy=False)
    return _of_numpy(bits)


def global_states() -> dict[str, GeneratorState]:
    """The generators of the process."""
    states = {"torch": state_of(torch.default_generator), "random": _of_python(random.getstate())}
    if "numpy" in sys.modules:
        states["numpy.random"] = _of_numpy(sys.modules["numpy"].random.get_state(legacy=False))
    return states


def _of_python(state: Any) -> GeneratorState:
    words = state[1]
    return GeneratorState(zlib.crc32(repr(state).encode()), None, words)


def _of_numpy(state: Mapping[str, Any]) -> GeneratorState:
    inner = state["state"]
    if state["bit_generator"] == "MT19937":
        key = inner["key"]
        return GeneratorState(zlib.crc32(key.tobytes(), int(inner["pos"])), None, (*map(int, key), int(inner["pos"])))
    stays = inner.get("inc", inner.get("key")) if isinstance(inner, Mapping) else None
    return GeneratorState(
        zlib.crc32(repr(state).encode()), None if stays is None else (state["bit_generator"], repr(stays))
    )


def drew(before: GeneratorState, after: GeneratorState) -> bool | None:
    """Whether numbers were drawn between two states and nothing seeded it anew; None when that is not known."""
    if before.digest == after.digest:
        return False
    if before.twister is not None and after.twister is not None:
        return _twisted(before.twister, after.twister)
    return None if before.lineage is None else before.lineage == after.lineage


def _twisted(before: tuple[int, ...], after: tuple[int, ...]) -> bool | None:
    if before[:-1] == after[:-1]:
        return True
    copy = random.Random()
    copy.setstate((3, before, None))
    for _ in range(TWISTS):
        copy.getrandbits(32 * 624)
        words = copy.getstate()[1]
        if words[:-1] == after[:-1]:
            return True
    return None
