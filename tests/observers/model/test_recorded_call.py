"""What is kept of the first call of a model, and of which none."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.model.recorded_call import (
    SAMPLES,
    RecordedCall,
    called_by_torch,
    first_samples,
    may_be_called_again,
    refused,
    simple,
)


def test_the_call_is_kept_as_it_was():
    x, kept = torch.ones(6, 2), None
    kept = RecordedCall(nn.Linear(2, 2), (x, 3), {"scale": torch.ones(())})
    x.zero_()
    args, kwargs, samples = first_samples(kept)
    assert (args[0].shape, bool(args[0].all()), args[1], samples) == ((SAMPLES, 2), True, 3, SAMPLES)
    assert kwargs["scale"].dim() == 0
    assert [t.shape for t in kept.tensors()] == [(6, 2), ()]


def test_tensors_that_do_not_agree_on_a_sample_are_not_cut():
    kept = RecordedCall(nn.Linear(2, 2), (torch.ones(6, 2), torch.ones(5)), {})
    assert first_samples(kept)[2] == 0


def test_where_the_samples_of_the_loader_lie():
    def kept(*shapes, rows):
        return RecordedCall(nn.Identity(), tuple(torch.ones(shape) for shape in shapes), {}, rows)

    first, second = kept((8, 5, 2), (8,), rows=8), kept((5, 8, 2), (5,), rows=8)
    assert (first.rows_first, first.rows_second) == (True, False)
    assert (second.rows_first, second.rows_second) == (False, True)
    for unknown in (kept((8, 5), rows=None), kept((8, 8), rows=8), kept((8,), rows=8), kept((8, 5), (5, 8), rows=8)):
        assert not unknown.rows_first and not unknown.rows_second


def test_only_plain_values_are_kept_and_only_models_of_a_moderate_size():
    assert simple((torch.ones(2), 3, None))
    assert not simple((torch.ones(2, requires_grad=True),))
    assert not simple((3,))
    assert not simple((torch.ones(2), object()))
    assert refused(nn.Linear(2, 2)) is None
    assert refused(nn.Linear(8192, 8192, device="meta")) in (None, "large")


def test_the_names_of_the_arguments_and_the_line_that_calls():
    kept = RecordedCall(nn.Bilinear(2, 3, 4), (torch.ones(5, 2),), {"input2": torch.ones(5, 3)})
    assert kept.names() == ["input1", "input2"]
    assert len(kept.whole()) == 2
    assert kept.frame is None or kept.frame.line


def test_where_a_call_would_be_seen_no_model_is_called_again(monkeypatch):
    class Counts(nn.Module):
        def forward(self, x):
            self.calls = getattr(self, "calls", 0) + 1
            print(x)
            return x

    assert called_by_torch()
    assert may_be_called_again(nn.Linear(2, 2))
    assert not may_be_called_again(Counts())
    monkeypatch.setattr(nn.Module, "__call__", lambda self, *args: self.forward(*args))
    assert not called_by_torch()
    assert not may_be_called_again(nn.Linear(2, 2))
