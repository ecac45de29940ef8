"""Bad steps without a training around them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from debugtracer.responses.bad_step import BadStep

MODEL = nn.Linear(2, 1)
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)


def a_bad_step(**changes: Any) -> BadStep:
    """A bad step number 50, in which nothing was seen but what is given."""
    return BadStep(**{"step": 50, "iteration": 50, "optimizer": OPTIMIZER, **changes})
