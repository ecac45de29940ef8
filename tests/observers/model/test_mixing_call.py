"""The call by which a later position reaches an earlier one."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.callsites.frames import frames_of
from debugtracer.observers.model.mixing_call import cut, mixing_call, positions
from debugtracer.observers.model.shadow_model import ShadowModel
from debugtracer.observers.model.token_trials import with_other

LENGTH = 16


class Crop(nn.Module):
    def __init__(self, many):
        super().__init__()
        self.many = many

    def forward(self, x):
        return x[:, :, self.many :]


class Convolved(nn.Module):
    def __init__(self, width=LENGTH):  # as many channels as positions
        super().__init__()
        self.table = nn.Embedding(9, width)
        self.net = nn.Sequential(nn.Conv1d(width, width, 3, padding=2), Crop(2), nn.ReLU())
        self.head = nn.Linear(width, 9)

    def forward(self, text):
        return self.head(self.net(self.table(text).transpose(1, 2)).transpose(1, 2))


class Padded(Convolved):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(LENGTH, LENGTH, 3)

    def forward(self, text):
        x = F.pad(self.table(text).transpose(1, 2), (1, 1))
        return self.head(self.conv(x).transpose(1, 2))


class Attending(Convolved):
    def forward(self, text):
        x = self.table(text)
        return self.head(torch.softmax(x @ x.mT, -1) @ x)


class OneLength(Convolved):
    def forward(self, text):
        return super().forward(text) + self.head(self.table(torch.arange(LENGTH) % 9)).view(LENGTH, 9)


def found(model):
    torch.manual_seed(5)
    text = torch.randint(0, 9, (4, LENGTH))
    given = (text,), {}
    changed = with_other(*given, text, slice(LENGTH // 2, None))
    return mixing_call(ShadowModel(model, []), given, changed, text, LENGTH // 2)


def test_a_crop_on_the_wrong_side_is_found_in_the_module_that_crops():
    call = found(Convolved())
    assert (call.name, call.path) == ("__getitem__", "net.1")
    assert frames_of(call.raw)[0].code == "return x[:, :, self.many :]"


def test_a_padding_before_a_convolution_is_its_line():
    call = found(Padded())
    assert call.name == "conv1d"
    assert "F.pad" in frames_of(call.raw)[0].code


def test_an_attention_has_lines_of_its_own():
    assert found(Attending()) is None


def test_a_model_of_one_length_is_left_to_its_modules():
    assert found(OneLength()) is None


def test_the_dimension_of_the_positions_is_the_one_that_shrinks():
    assert positions(torch.zeros(4, 16, 16), torch.zeros(4, 16, 15), 16) == 2
    assert positions(torch.zeros(4, 16, 16), torch.zeros(4, 15, 15), 16) is None  # each with every other
    assert positions(torch.zeros(4, 8, 18), torch.zeros(4, 8, 17), 16) is None  # with a padding
    assert positions(torch.zeros(4, 8), torch.zeros(4, 8, 1), 16) is None


def test_what_holds_no_positions_is_not_cut():
    assert cut(torch.zeros(4, 16), 16).shape == (4, 15)
    assert cut(torch.zeros(4, 3), 16).shape == (4, 3)
    assert cut("text", 16) == "text"
