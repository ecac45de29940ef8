"""Layers as people write them by hand, each of which goes wrong on a row of zeros or of large numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class HandNorm(nn.Module):
    """Layer norm without an epsilon."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.rand(width) + 0.5), nn.Parameter(torch.rand(width))

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, unbiased=False).sqrt() * self.gain + self.shift


class HandSoftmax(nn.Module):
    """Softmax without the largest score taken off."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)


class Odd(nn.Module):
    """Nothing that torch has: a log of a scaled input."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x) * 0.37 + x.roll(1, -1)


class Narrowing(nn.Module):
    """Gives another shape than it takes."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x)[:, :2].repeat(1, 2)[:, :3].matmul(torch.ones(3, 4))


class Half(nn.Module):
    """A product in half precision that passes 65504."""

    def forward(self, x: Tensor) -> Tensor:
        return (x.half() * x.half()).float()


class Doubled(torch.autograd.Function):
    """x * 2 whose backward divides 0 by 0 at 0."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * 2 * x / x


class Twice(nn.Module):
    """A module around that Function."""

    def forward(self, x: Tensor) -> Tensor:
        return Doubled.apply(x)
