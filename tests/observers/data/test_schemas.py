"""The learnt shape of a loader's batches."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.schemas import Schemas, shown


def pushed(*batches):
    schemas = Schemas()
    return [schemas.push([(f"batch[{n}]", t) for n, t in enumerate(batch)]) for batch in batches]


def test_the_first_batch_is_the_schema_and_equal_ones_are_silent():
    (fresh, _), *rest = pushed(*[[torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)]] * 8)
    assert [(k.dtype, k.shape) for k in fresh] == [("float32", (4, 3)), ("int64", (4,))]
    assert rest == [(None, [])] * 7


def test_a_new_dtype_is_told_once_and_with_its_experience():
    got = pushed(*[[torch.zeros(4)]] * 8, [torch.zeros(4, dtype=torch.float64)], [torch.zeros(4, dtype=torch.float64)])
    (change,) = got[8][1]
    assert (change.path, change.what, change.before, change.after, change.batches) == (
        "batch[0]",
        "dtype",
        "float32",
        "float64",
        8,
    )
    assert got[9] == (None, [])


def test_the_last_short_batch_is_no_change():
    assert pushed(*[[torch.zeros(16, 3)]] * 8, [torch.zeros(5, 3)])[-1] == (None, [])


def test_lengths_that_vary_from_the_start_are_learnt():
    assert not any(changes for _, changes in pushed(*[[torch.zeros(4, 10 + n % 7)] for n in range(40)]))


def test_a_dimension_that_never_varied_and_a_rank_are_told():
    assert pushed(*[[torch.zeros(4, 10)]] * 8, [torch.zeros(4, 9)])[-1][1][0].what == "1"
    (change,) = pushed(*[[torch.zeros(4)]] * 8, [torch.zeros(4, 1)])[-1][1]
    assert (change.what, change.before, change.after) == ("rank", "(*,)", "(*, 1)")


def test_tasks_with_other_keys_have_schemas_of_their_own():
    a, b = [torch.zeros(4)], [torch.zeros(4, dtype=torch.long), torch.zeros(4, 2)]
    assert not any(changes for _, changes in pushed(*[a, b] * 10))


def test_in_the_first_five_batches_everything_may_change():
    assert not pushed(*[[torch.zeros(4)]] * 4, [torch.zeros(4, dtype=torch.long)])[-1][1]


def test_shapes_are_shown_for_a_reader():
    assert shown((16,)) == "(*,)"
    assert shown((16, 3, -1)) == "(*, 3, *)"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_rows_of_lengths_of_their_own_are_a_schema_too():
    rows = torch.nested.nested_tensor([torch.zeros(2, 3), torch.zeros(4, 3)])
    assert not any(changes for _, changes in pushed(*[[rows]] * 8))
