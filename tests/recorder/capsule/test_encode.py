from __future__ import annotations

import msgspec
import pytest
import torch

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.encode import Opaque, decode, encode
from debugtracer.recorder.capsule.program import Program


class Same:
    """Encoder and decoder that keep everything."""

    def ref(self, tensor: torch.Tensor) -> int:
        return 3

    def tensor(self, ref: int) -> torch.Tensor:
        return torch.zeros(ref)

    def generator(self, generator: object) -> object:
        return 0 if isinstance(generator, torch.Generator) else torch.default_generator

    def dtype(self, dtype: torch.dtype) -> torch.dtype:
        return dtype

    def device(self, device: torch.device) -> torch.device:
        return device


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        -(2**62),
        "mean",
        0.1,
        float("inf"),
        5e-324,
        1 - 2j,
        torch.bfloat16,
        torch.device("cuda:1"),
        torch.strided,
        torch.channels_last,
        [1, [2.5, None]],
        torch.default_generator,
    ],
)
def test_a_value_comes_back_through_json(value: object) -> None:
    there = msgspec.json.decode(msgspec.json.encode(encode(value, Same())))
    assert decode(there, Same()) == value


def test_nan_comes_back() -> None:
    assert decode(encode(float("nan"), Same()), Same()) != decode(encode(float("nan"), Same()), Same())


@pytest.mark.parametrize(
    "damaged",
    [
        1.5,
        {"t": "a"},
        {"f": "xyz"},
        {"d": "load"},
        {"d": "nn"},
        {"v": "nowhere"},
        {"l": "sparse"},
        {"m": "x"},
        {},
        {"f": "0x1", "t": 1},
        {"q": 1},
    ],
)
def test_anything_else_is_one_clear_error(damaged: object) -> None:
    with pytest.raises(CapsuleError, match=r"the program of this capsule is damaged: .* is no argument"):
        decode(damaged, Same())


def test_an_argument_of_an_unknown_kind_is_opaque() -> None:
    program = Program()
    with pytest.raises(Opaque, match="type object"):
        program.begin(torch.ops.aten.log.default, (object(),), {})
