"""Arguments of an aten op to plain JSON and back; no pickle, no classes."""

from __future__ import annotations

from typing import Any, Protocol

import torch

from debugtracer.devices.present import place
from debugtracer.errors import CapsuleError


class Opaque(Exception):
    """This argument cannot be written down; the text says what it is."""


class Encoder(Protocol):
    """Gives numbers to what has no text."""

    def ref(self, tensor: torch.Tensor) -> int:
        """Return the number of a tensor. Raises Opaque."""

    def generator(self, generator: torch.Generator) -> int:
        """Return the number that stands for a generator."""


class Decoder(Protocol):
    """Gives values for the numbers; may map dtypes and devices."""

    def tensor(self, ref: int) -> torch.Tensor: ...
    def generator(self, number: int) -> torch.Generator: ...
    def dtype(self, dtype: torch.dtype) -> torch.dtype: ...
    def device(self, device: torch.device) -> torch.device: ...


PLAIN = (type(None), bool, int, str)
NAMED: dict[type, str] = {torch.dtype: "d", torch.layout: "l", torch.memory_format: "m"}


def encode(value: object, to: Encoder) -> Any:
    """The JSON form: plain values as they are, all else as an object of one key. Raises Opaque."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return {"t": to.ref(value)}
    if isinstance(value, (list, tuple)):
        return [encode(item, to) for item in value]
    if isinstance(value, float):
        return {"f": value.hex()}  # hex: exact, and JSON has no nan
    if isinstance(value, complex):
        return {"c": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, torch.device):
        return {"v": str(value)}
    if isinstance(value, torch.Generator):
        return {"g": to.generator(value)}
    if type(value) in NAMED:
        return {NAMED[type(value)]: str(value).removeprefix("torch.")}
    raise Opaque(f"an argument of type {type(value).__name__}")


def decode(value: Any, to: Decoder) -> Any:
    """The value behind its JSON form. Raises CapsuleError on anything encode() does not write."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, list):
        return [decode(item, to) for item in value]
    if isinstance(value, dict) and len(value) == 1:
        [(kind, word)] = value.items()
        try:
            return special(kind, word, to)
        except (KeyError, IndexError, ValueError, TypeError, OverflowError, RuntimeError):
            pass  # RuntimeError: no such device
    raise CapsuleError(
        f"the program of this capsule is damaged: {str(value)[:80]} is no argument; make the incident again"
    )


def special(kind: str, word: Any, to: Decoder) -> Any:
    """Decode one value that JSON cannot hold."""
    if kind == "t":
        return to.tensor(word)
    if kind == "g":
        return to.generator(word)
    if kind == "f":
        return float.fromhex(word)
    if kind == "c":
        return complex(float.fromhex(word[0]), float.fromhex(word[1]))
    if kind == "v":
        return to.device(place(word))
    if kind == "d":
        return to.dtype(dtype_named(word))
    if kind == "l":
        return layouts()[word]
    if kind == "m":
        return memory_formats()[word]
    raise KeyError(kind)


def dtype_named(word: str) -> torch.dtype:
    """Return torch.float32 for `float32`. Raises ValueError."""
    found = getattr(torch, word, None) if word.isidentifier() else None
    if not isinstance(found, torch.dtype):
        raise ValueError(word)
    return found


def layouts() -> dict[str, torch.layout]:
    """The layouts a capsule may name."""
    return {"strided": torch.strided}


def memory_formats() -> dict[str, torch.memory_format]:
    """The memory formats a capsule may name."""
    formats = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)
    return {str(f).removeprefix("torch."): f for f in formats}
