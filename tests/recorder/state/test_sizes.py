"""Sizes are plain numbers, whatever the tensor is."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.state.sizes import sizes


@pytest.mark.filterwarnings("ignore")
def test_rows_of_lengths_of_their_own_have_no_size() -> None:
    rows = [torch.ones(2, 4), torch.ones(3, 4)]
    assert sizes(torch.nested.nested_tensor(rows)) == (2, -1, -1)
    assert sizes(torch.nested.nested_tensor(rows, layout=torch.jagged)) == (2, -1, 4)
    assert sizes(torch.ones(2, 3).to_sparse()) == (2, 3)


def test_a_parameter_before_its_first_batch_has_none_yet() -> None:
    assert sizes(torch.nn.LazyLinear(3).weight) == (0,)
