"""Prints, for every case, what the kernels say beside torch's own operators, on PLACE. Run by Triton's interpreter
where that is the host."""

import json
import math
import os
import sys

import torch

from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.triton_numbers import TritonNumbers

PLACE = os.environ.get("PLACE", "cpu")
G = torch.Generator().manual_seed(0)
INF = math.inf


def drawn(*sizes, dtype=torch.float32, scale=1.0):
    return [scale * torch.randn(size, generator=G).to(PLACE, dtype) for size in sizes]


def holding(tensors, at, value):
    tensors[at].flatten()[-1] = value
    return tensors


BASE = torch.randn(70_003, generator=G).to(PLACE)
CASES = {
    "one": (drawn(5), []),
    "many": (drawn(5, 40_000, 1024, 70_001, (33, 7)), [1.5, 2.5]),
    "hundred": (drawn(*[17] * 100), [0.25]),
    "nan": (holding(drawn(5, 40_000), 1, math.nan), [1.0]),
    "inf": (holding(drawn(32_768, 9), 0, -INF), []),
    "loss": (drawn(8), [1.0, INF]),
    "loss nan": (drawn(8), [math.nan]),
    "half": (drawn(40_000, 7, dtype=torch.float16, scale=100.0), []),
    "half inf": (holding(drawn(40_000, 7, dtype=torch.float16), 0, INF), []),
    "bfloat16": (drawn(40_000, 7, dtype=torch.bfloat16), []),
    "double": (drawn(40_000, 7, dtype=torch.float64, scale=1e200), []),
    "dtypes": (drawn(300) + drawn(300, dtype=torch.bfloat16) + drawn(300, dtype=torch.float64), [3.0]),
    "empty among": ([torch.empty(0, device=PLACE), *drawn(6)], []),
    "tiny": ([torch.full((10,), 1e-42, device=PLACE)], []),
    "largest": ([torch.full((4,), 3e38, device=PLACE)], []),
    "strided": ([BASE[:60_000].reshape(300, 200).t(), BASE[::7]], []),
    "channels last": ([drawn((4, 6, 5, 3))[0].to(memory_format=torch.channels_last)], []),
    "unaligned": ([BASE[1:], BASE[3:40_000]], []),
    "complex": ([torch.view_as_complex(BASE[:2000].reshape(1000, 2))], []),
    "sparse": ([torch.sparse_coo_tensor([[1, 4]], [3.0, 4.0], (9,), device=PLACE)], []),
}

kernels, stock, said = TritonNumbers({PLACE}), DeviceNumbers(), {}
for name, (tensors, losses) in CASES.items():
    given = [torch.tensor(loss, dtype=torch.float64, device=PLACE) for loss in losses]
    beside = torch.tensor(7.0, device=PLACE)
    ours, theirs = (one.judged(tensors, given, beside, True) for one in (kernels, stock))
    again = kernels.judged(tensors, given, beside, True)
    said[name] = [[*one.numbers.tolist(), one.flag.item(), str(one.numbers.dtype)] for one in (ours, theirs, again)]
said["nothing"] = [kernels.judged([], [], None, True) is None, kernels.l2([]) is None, kernels.off]
said["l2"] = [kernels.l2([torch.tensor([3.0, 4.0], device=PLACE)]).item()]
json.dump(said, sys.stdout)
