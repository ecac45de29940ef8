"""Equal values give equal digests, different ones others, and nothing is said of what cannot be read for free."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.digest import VALUES, digest, sample_digests


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (33, 3), (64, 3, 40, 40)], ids=str)
def test_equal_values_have_equal_digests(dtype, shape):
    torch.manual_seed(1)
    leaf = (torch.rand(shape) * 4).to(dtype)
    assert digest(leaf) == digest(leaf.clone()) is not None


def test_values_shape_and_dtype_count():
    leaf = torch.arange(6.0)
    others = [leaf + 1, leaf.reshape(2, 3), leaf.double(), torch.arange(7.0)]
    assert len({digest(t) for t in [leaf, *others]}) == 5


def test_a_view_with_strides_is_what_its_copy_is():
    wide = torch.randn(50, 60)
    assert digest(wide.t()) == digest(wide.t().contiguous())


def test_of_large_tensors_a_part_is_read_and_the_end_counts_too():
    large = torch.zeros(100 * VALUES)
    changed = large.clone()
    changed[:: 100 // 1 | 1] = 1.0
    assert digest(large) != digest(changed)


def test_what_is_elsewhere_has_none():
    assert digest(torch.empty(3, device="meta")) is None
    assert digest(torch.eye(3).to_sparse()) is None
    assert sample_digests([torch.empty(3, 2, device="meta")]) == []


def test_it_draws_nothing_and_changes_nothing():
    leaf, state = torch.randn(40, 300, requires_grad=True), torch.get_rng_state()
    kept = leaf.detach().clone()
    digest(leaf)
    sample_digests([leaf])
    assert torch.equal(leaf, kept)
    assert torch.equal(torch.get_rng_state(), state)


def test_rows_are_found_again_in_another_order():
    rows = torch.randn(20, 5)
    assert set(sample_digests([rows])) == set(sample_digests([rows.flip(0)]))
    assert len(sample_digests([rows])) == 20


def test_rows_that_say_nothing_are_left_out():
    assert sample_digests([torch.zeros(4, 5)]) == []
    assert sample_digests([torch.arange(8).reshape(4, 2)]) == []
    assert sample_digests([torch.randn(4, 1)]) == []


def test_rows_that_are_mostly_black_are_told_apart_where_the_looked_at_values_agree():
    black = torch.zeros(2, 784)
    black[:, 0] = 0.5  # not constant
    black[0, 3] = 1.0  # between two values that are looked at
    one, other = sample_digests([black])
    assert one != other
    again = torch.cat([black, torch.rand(5, 784)])
    assert sample_digests([again])[:2] == [one, other]


def test_samples_that_share_the_numbers_of_one_leaf_differ_in_another():
    """A table of claims: few distinct numbers, categories beside them, and an amount."""
    numbers = torch.tensor([[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]])
    kinds, amounts = torch.tensor([[0, 1], [2, 1], [2, 1]]), torch.tensor([7.0, 7.0, 9.0])
    one, other = sample_digests([numbers, kinds, amounts])  # the third row has one value only
    assert one != other
    assert sample_digests([numbers, amounts])[0] == sample_digests([numbers, amounts])[1]
    assert sample_digests([kinds, numbers]) == sample_digests([kinds.clone(), numbers.clone()])
    assert sample_digests([kinds]) == sample_digests([]) == []
    assert len(sample_digests([numbers, torch.empty(3, 0), torch.ones(2), torch.tensor(1.0), numbers > 1])) == 2
