"""Facts about how arguments are referred to: every container a training loop passes is walked and rebuilt alike."""

from __future__ import annotations

from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from debugtracer.recorder.tape.entry import (
    Entry,
    Leaf,
    Slot,
    autocast_state,
    encoded_items,
    mapped,
    references,
    tensors,
)

Pair = namedtuple("Pair", "a b")


@dataclass
class Batch:
    x: Tensor
    y: Tensor
    name: str = "train"


@dataclass
class Computed:
    x: Tensor
    twice: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.twice = self.x * 2


def model_output(x: Tensor, y: Tensor) -> Any:
    from transformers.modeling_outputs import BaseModelOutput

    return BaseModelOutput(last_hidden_state=x, hidden_states=(y,))


def batch_encoding(x: Tensor, y: Tensor) -> Any:
    from transformers import BatchEncoding

    return BatchEncoding({"input_ids": x, "labels": y})


CONTAINERS = {
    "list": lambda x, y: [x, y],
    "tuple": lambda x, y: (x, (y, 3)),
    "dict": lambda x, y: {"x": x, "y": {"z": y}, "n": 1},
    "ordered": lambda x, y: OrderedDict(x=x, y=y),
    "namedtuple": lambda x, y: Pair(x, [y]),
    "userdict": lambda x, y: UserDict(x=x, y=y),
    "dataclass": lambda x, y: Batch(x, y),
    "slice": lambda x, y: slice(x, y, None),
    "model output": model_output,
    "batch encoding": batch_encoding,
    "torch return type": lambda x, y: torch.return_types.max((x, y)),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_container_is_rebuilt_as_its_own_type_with_references(kind: str) -> None:
    x, y = torch.ones(2), torch.zeros(3)
    value = CONTAINERS[kind](x, y)
    encoded = mapped(value, Leaf, (Tensor,))
    assert type(encoded) is type(value)
    assert [id(leaf.tensor) for leaf in references(encoded)] == [id(x), id(y)]
    back = mapped(encoded, lambda leaf: leaf.tensor, (Leaf, Slot))
    assert type(back) is type(value)
    assert [id(t) for t in (tensors(back) if kind != "slice" else (back.start, back.stop))] == [id(x), id(y)]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_the_short_way_gives_what_the_long_one_gives(kind: str) -> None:
    x, y = torch.ones(2), nn.Parameter(torch.zeros(3))
    given = (x, CONTAINERS[kind](x, y), (1, (slice(None, 2), ..., None), [y]), torch.Size([2]), "a", object())
    short, long = tuple(encoded_items(given, id)), mapped(given, id, (Tensor,))
    assert repr(short) == repr(long)
    assert [type(v) for v in short] == [type(v) for v in long]


def test_the_short_way_ends_at_the_same_depth() -> None:
    x: object = torch.ones(2)
    for _ in range(8):
        x = (x,)
    assert repr(encoded_items((x,), id)) == repr(list(mapped((x,), id, (Tensor,))))


@pytest.mark.parametrize("kind", [k for k in CONTAINERS if k != "slice"])
def test_the_tensors_of_an_output_come_in_a_fixed_order(kind: str) -> None:
    x, y = torch.ones(2), torch.zeros(3)
    assert [id(t) for t in tensors(CONTAINERS[kind](x, y))] == [id(x), id(y)]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_the_user_s_container_is_left_as_it_was(kind: str) -> None:
    x, y = torch.ones(2), torch.zeros(3)
    value = CONTAINERS[kind](x, y)
    mapped(value, Leaf, (Tensor,))
    assert not list(references(value))


def test_a_packed_sequence_is_mapped_and_runs_again() -> None:
    packed = pack_sequence([torch.randn(3, 2), torch.randn(1, 2)])
    encoded = mapped(packed, Leaf, (Tensor,))
    assert isinstance(encoded, PackedSequence)
    assert [id(leaf.tensor) for leaf in references(encoded)] == [id(packed.data), id(packed.batch_sizes)]
    back = mapped(encoded, lambda leaf: leaf.tensor, (Leaf, Slot))
    torch.manual_seed(0)
    gru = nn.GRU(2, 4)
    assert torch.equal(gru(packed)[1], gru(back)[1])


def test_an_index_made_of_slices_and_tensors_is_mapped() -> None:
    rows, stop = torch.tensor([1, 0]), torch.tensor(2)
    encoded = mapped((rows, slice(None, stop), Ellipsis, None), Leaf, (Tensor,))
    assert [id(leaf.tensor) for leaf in references(encoded)] == [id(rows), id(stop)]


def test_plain_values_sizes_and_unknown_objects_are_kept() -> None:
    unknown, size = object(), torch.Size([2, 3])
    kept = mapped([1, 2.0, "a", None, torch.float32, unknown, size], Leaf, (Tensor,))
    assert kept[5] is unknown
    assert kept[6] is size


def test_a_dataclass_that_computes_fields_is_kept_whole() -> None:
    value = Computed(torch.ones(2))
    assert mapped(value, Leaf, (Tensor,)) is value


def test_a_dataclass_type_is_no_container() -> None:
    assert mapped(Batch, Leaf, (Tensor,)) is Batch
    assert list(tensors(Batch)) == []


def test_a_container_that_holds_itself_ends() -> None:
    value: list[Any] = [torch.ones(1)]
    value.append(value)
    assert 1 <= len(list(tensors(value))) < 20
    mapped(value, Leaf, (Tensor,))


def test_a_dict_type_with_another_constructor_becomes_a_dict() -> None:
    class Strict(dict):  # type: ignore[type-arg]
        def __init__(self) -> None:
            super().__init__()

    value = Strict()
    value["x"] = torch.ones(1)
    encoded = mapped(value, Leaf, (Tensor,))
    assert type(encoded) is dict
    assert isinstance(encoded["x"], Leaf)


def test_a_leaf_moves_with_the_version_of_its_tensor() -> None:
    x = torch.ones(2)
    leaf = Leaf(x)
    assert not leaf.moved
    x.add_(1)
    assert leaf.moved
    leaf.saved = x.clone()
    assert not leaf.moved


def test_a_parameter_never_counts_as_moved() -> None:
    parameter = nn.Parameter(torch.ones(2))
    leaf = Leaf(parameter)
    with torch.no_grad():
        parameter.add_(1)
    assert not leaf.moved


def test_an_inference_tensor_has_no_version_and_moves_only_when_lost() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    leaf = Leaf(x)
    assert not leaf.moved
    leaf.lost = True
    assert leaf.moved


def test_an_entry_yields_the_references_of_both_kinds_of_arguments() -> None:
    a, b = Leaf(torch.ones(1)), Slot(0, 1, 0)
    entry = Entry("fn", torch.add, ([a],), {"other": b}, ())
    assert list(entry.references()) == [a, b]


def test_autocast_is_kept_with_device_and_dtype() -> None:
    assert autocast_state() == ()
    with torch.autocast("cpu", torch.float16):
        assert autocast_state() == (("cpu", torch.float16),)
    assert autocast_state() == ()


def test_a_tensor_that_stays_is_asked_for_nothing() -> None:
    class Asked(Tensor):
        asked: list[Any] = []

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cls.asked.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    held = [torch.ones(2).as_subclass(Asked)]
    Asked.asked.clear()
    assert mapped(held, lambda leaf: leaf.tensor, (Leaf, Slot))[0] is held[0]
    assert (list(references(held)), Asked.asked) == ([], [])
