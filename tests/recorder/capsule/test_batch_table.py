"""Facts about the table of a batch that the report prints."""

from __future__ import annotations

import json
import weakref

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from debugtracer.recorder.capsule.batch_table import batch_table, table_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo


class Words:
    """The two members of a Hugging Face tokenizer that matter here."""

    vocab_size = 4
    words = ("the", "cat", "sat", "down")

    def decode(self, ids: list[int]) -> str:
        return " ".join(self.words[one] for one in ids)


class Texts(Dataset):
    def __init__(self, tokenizer=None):
        self.tokenizer = tokenizer

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor([index % 4, 1, 2]), torch.tensor(float(index))


def a_batch(loader, leaves, indices):
    info = LoaderInfo(weakref.ref(loader), "Texts", 8, 0, "SequentialSampler")
    held = [leaf for _, leaf in leaves]
    return Batch(
        info, indices, 0, 0.0, [(name, weakref.ref(leaf)) for name, leaf in leaves], held[0].shape[0], held=held
    )


def test_guilty_rows_stand_beside_the_first_five():
    table = table_of([("x", torch.zeros(20, 2))], 20, indices=range(100, 120), guilty_rows=[17, 2])
    assert [row["row"] for row in table["rows"]] == [0, 1, 2, 3, 4, 17]
    assert [row["row"] for row in table["rows"] if row["guilty"]] == [2, 17]
    assert table["rows"][-1]["index"] == 117


def test_a_cell_counts_nan_inf_and_zeros_and_ranges_over_the_finite_values():
    x = torch.tensor([[1.5, float("nan"), float("inf"), float("-inf"), 0.0, -2.0]])
    cell = table_of([("x", x)], 1, guilty_rows=[0])["rows"][0]["leaves"][0]
    assert cell == {
        "name": "x", "dtype": "float32", "shape": [6], "low": -2.0, "high": 1.5, "nan": 1, "inf": 2, "zeros": 1,
        "values": [1.5, "NaN", "Infinity", "-Infinity", 0.0, -2.0], "text": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "dtype",
    [
        torch.bfloat16,
        torch.float16,
        torch.float8_e4m3fn,
        torch.int8,
        torch.uint8,
        torch.bool,
        torch.complex64,
        torch.float64,
    ],
)
def test_every_dtype_goes_through_json(dtype):
    table = table_of([("x", torch.tensor([[0, 1]]).to(dtype))], 1)
    cell = json.loads(json.dumps(table, allow_nan=False))["rows"][0]["leaves"][0]
    assert (cell["low"], cell["high"]) == (0, 1)


def test_integers_beyond_float_precision_are_told_exactly():
    cell = table_of([("x", torch.tensor([[2**53 + 1]]))], 1)["rows"][0]["leaves"][0]
    assert cell["high"] == 2**53 + 1


def test_a_row_without_a_finite_value_has_no_range():
    cell = table_of([("x", torch.full((1, 3), float("nan")))], 1)["rows"][0]["leaves"][0]
    assert (cell["low"], cell["high"], cell["nan"]) == (None, None, 3)


def test_only_sixteen_values_are_listed():
    assert len(table_of([("x", torch.arange(100).view(1, 100))], 1)["rows"][0]["leaves"][0]["values"]) == 16


def test_the_label_is_the_scalar_integer_leaf():
    leaves = [("x", torch.zeros(2, 3)), ("y", torch.tensor([7, 8])), ("weight", torch.tensor([0.5, 0.25]))]
    assert [row["label"] for row in table_of(leaves, 2)["rows"]] == [7, 8]


def test_a_float_target_is_a_label_when_there_is_no_integer_one():
    assert table_of([("x", torch.zeros(1, 3)), ("y", torch.tensor([float("nan")]))], 1)["rows"][0]["label"] == "NaN"


def test_leaves_without_the_batch_dimension_are_listed_but_not_cut():
    table = table_of([("x", torch.zeros(4, 2)), ("edges", torch.zeros(2, 9))], 4)
    assert [leaf["name"] for leaf in table["leaves"]] == ["x", "edges"]
    assert [cell["name"] for cell in table["rows"][0]["leaves"]] == ["x"]


def test_unknown_rows_give_an_empty_table_with_its_leaves():
    table = table_of([("x", torch.tensor(1.0))], None, guilty_rows=[0])
    assert table["rows"] == []
    assert table["leaves"][0]["shape"] == []


def test_more_than_64_guilty_rows_are_counted_not_listed():
    table = table_of([("x", torch.zeros(100, 1))], 100, guilty_rows=range(100))
    assert len(table["rows"]) == 64
    assert table["omitted"] == 36


def test_integer_rows_are_decoded_with_the_tokenizer_of_the_dataset():
    loader = DataLoader(Texts(Words()), batch_size=2)
    ids, y = next(iter(loader))
    rows = batch_table(a_batch(loader, [("batch[0]", ids), ("batch[1]", y)], (0, 1)), [1])["rows"]
    assert [row["leaves"][0]["text"] for row in rows] == ["the cat sat", "cat cat sat"]
    assert rows[1]["label"] == 1.0


def test_without_a_tokenizer_there_is_no_text():
    loader = DataLoader(Texts(), batch_size=2)
    ids, y = next(iter(loader))
    assert (
        batch_table(a_batch(loader, [("batch[0]", ids), ("batch[1]", y)], (0, 1)), [1])["rows"][0]["leaves"][0]["text"]
        is None
    )


def test_ignored_places_are_left_out_and_foreign_ids_are_not_decoded():
    loader = DataLoader(Texts(Words()), batch_size=2)
    ids = torch.tensor([[-100, 1, 2], [1, 2, 99]])
    rows = batch_table(a_batch(loader, [("batch[0]", ids)], None), [])["rows"]
    assert [row["leaves"][0]["text"] for row in rows] == ["cat sat", None]


def test_the_generator_is_left_alone():
    before = torch.get_rng_state()
    table_of([("x", torch.ones(4, 3))], 4, guilty_rows=[1])
    assert torch.equal(before, torch.get_rng_state())


def test_only_a_row_of_whole_numbers_in_one_dimension_is_a_text():
    loader = DataLoader(Texts(Words()), batch_size=2)
    next(iter(loader))

    def text(leaf):
        return batch_table(a_batch(loader, [("batch[0]", leaf)], (0, 1)), [])["rows"][0]["leaves"][0]["text"]

    assert text(torch.tensor([[0, 1], [2, 3]])) == "the cat"
    assert text(torch.tensor([[[0, 1]], [[2, 3]]])) is None
    assert text(torch.tensor([0, 1])) is None
    assert text(torch.tensor([[True, False], [True, True]])) is None
    assert text(torch.tensor([[0.0, 1.0], [2.0, 3.0]])) is None
