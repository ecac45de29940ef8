"""A causal mask that begins too late, in a model that shifts its input itself."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.model.late_mask_trial import late_mask, with_other
from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.shadow_model import ShadowModel


class Layer(nn.Module):
    def __init__(self, diagonal):
        super().__init__()
        self.norm, self.attends, self.diagonal = nn.LayerNorm(16), nn.MultiheadAttention(16, 2), diagonal

    def forward(self, x):
        mask = torch.full((len(x), len(x)), -torch.inf)
        mask = torch.triu(mask, diagonal=self.diagonal)
        y = self.norm(x)
        return x + self.attends(y, y, y, attn_mask=mask, need_weights=False)[0]


class Pixels(nn.Module):
    """Time first: each pixel from those before it."""

    def __init__(self, diagonal=1, layers=3):
        super().__init__()
        self.start, self.embeds = nn.Parameter(torch.randn(16)), nn.Embedding(9, 16)
        self.layers = nn.ModuleList(Layer(diagonal) for _ in range(layers))
        self.head = nn.Linear(16, 9)

    def forward(self, tokens):
        x = self.embeds(tokens)
        x = torch.cat([self.start.expand(1, tokens.shape[1], -1), x[:-1]])
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Both(nn.Module):
    """Reads a text from both sides, or from the left alone; batch first."""

    def __init__(self, both=False, shift=True):
        super().__init__()
        self.embeds, self.shift = nn.Embedding(9, 16), shift
        self.reads, self.head = nn.GRU(16, 16, batch_first=True, bidirectional=both), nn.Linear(16 * (1 + both), 9)

    def forward(self, tokens):
        x = self.embeds(tokens)
        x = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) if self.shift else x
        return self.head(self.reads(x)[0]).flatten(0, 1)


def asked(model, tokens, target=None):
    torch.manual_seed(0)
    shadow = ShadowModel(model, ())
    return late_mask(shadow, RecordedCall(model, (tokens,), {}), tokens.flatten() if target is None else target)


@pytest.mark.parametrize(("layers", "before"), [(1, 0), (3, 1)])
def test_time_first_and_a_mask_that_is_one_diagonal_late(layers, before):
    torch.manual_seed(0)
    found = asked(Pixels(diagonal=2, layers=layers), torch.randint(0, 9, (24, 5)))
    assert (found["changed"], found["position"], found["length"]) == (True, 12, before)
    assert found["module"] == "layers.0.attends"
    assert "self.attends(" in found["frame"].code


def test_a_right_mask_and_models_of_the_left_alone_are_quiet():
    torch.manual_seed(0)
    assert asked(Pixels(), torch.randint(0, 9, (24, 5)))["changed"] is False
    assert asked(Both(), torch.randint(0, 9, (5, 24)))["changed"] is False


def test_what_reads_from_both_sides_is_no_mask():
    torch.manual_seed(0)
    found = asked(Both(both=True, shift=False), torch.randint(0, 9, (5, 24)))
    assert not found["changed"]


def test_other_targets_and_texts_of_one_token_are_not_asked():
    torch.manual_seed(0)
    tokens = torch.randint(0, 9, (24, 5))
    assert asked(Pixels(diagonal=2), tokens, tokens.roll(-1, 0).flatten()) is None
    assert asked(Pixels(diagonal=2), torch.ones_like(tokens)) is None
    assert asked(Pixels(diagonal=2), tokens[:, :1]) is None


def test_other_tokens_in_one_place_alone():
    tokens = torch.tensor([[0, 3, 7], [3, 3, 0]])
    other = with_other(tokens, slice(None), slice(1, 2))
    assert other.tolist() == [[0, 7, 7], [3, 7, 0]]
