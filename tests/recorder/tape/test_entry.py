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
    assert leaf.version == 0
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


NESTS = {
    "list": lambda x: [x],
    "tuple": lambda x: (x,),
    "dict": lambda x: {"x": x},
    "userdict": lambda x: UserDict(x=x),
    "dataclass": lambda x: Batch(x, None),  # type: ignore[arg-type]
    "slice": lambda x: slice(x),
}


@pytest.mark.parametrize("kind", NESTS)
def test_values_are_looked_into_to_the_same_depth_in_every_container(kind: str) -> None:
    """Six levels below a value; of references one more, as the arguments of an entry are put together."""
    shared: Any = torch.ones(1)
    leaf: Any = Leaf(shared)
    for level in range(1, 9):
        shared, leaf = NESTS[kind](shared), NESTS[kind](leaf)
        visited: list[Tensor] = []
        mapped(shared, visited.append, (Tensor,))
        assert len(visited) == int(level <= 6), level
        assert len(list(references(leaf))) == int(level <= 7), level
        if kind != "slice":
            assert len(list(tensors(shared))) == int(level <= 6), level


def test_a_reference_itself_is_one_and_plain_values_hold_none() -> None:
    slot = Slot(0, 0, 0)
    assert list(references(slot)) == [slot]
    assert list(references([1, "a", None, torch.float32])) == []
    assert list(tensors([1, "a", None, torch.float32])) == []
    assert list(tensors(3)) == list(references(3)) == []
    assert list(references([object(), Batch, Batch(slot, None)])) == [slot]  # type: ignore[arg-type]


def test_what_a_module_leaves_in_attributes_is_numbered_after_its_outputs() -> None:
    entry = Entry("module", None, (), {}, ())
    entry.segment, entry.index, entry.outputs = 4, 5, 2
    slots = [entry.add_side((None, name, None)) for name in "ab"]
    assert [(one.segment, one.entry, one.output) for one in slots] == [(4, 5, 2), (4, 5, 3)]
    assert [name for _, name, _ in entry.sides] == ["a", "b"]


def test_inputs_are_copied_once_and_parameters_never() -> None:
    x, weight = torch.ones(2), nn.Parameter(torch.ones(2))
    read, taken, slot = Leaf(x), Leaf(weight), Slot(0, 0, 0)
    entry = Entry("module", None, (read, taken, slot), {}, ())
    entry.copy_inputs()
    with torch.no_grad():
        x.add_(1)
    entry.copy_inputs()
    assert read.saved is not None
    assert (read.saved.tolist(), taken.saved) == ([1.0, 1.0], None)


def test_an_entry_begins_without_what_most_calls_leave_alone() -> None:
    entry = Entry("fn", torch.add, (), {}, ())
    assert (entry.segment, entry.index, entry.outputs, entry.autocast, entry.rng) == (0, 0, 0, (), None)
    assert (entry.scalar, entry.sides, entry.swapped, entry.settings) == (False, (), {}, ())
    assert entry.grad
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        entry = Entry("fn", torch.add, (), {}, ())
    assert (entry.grad, entry.autocast) == (False, (("cpu", torch.bfloat16),))


def test_a_leaf_begins_with_its_own_version_and_no_copy() -> None:
    leaf = Leaf(torch.ones(1).add_(1))
    assert (leaf.version, leaf.saved, leaf.lost, leaf.origin, leaf.foreign) == (1, None, False, None, False)
