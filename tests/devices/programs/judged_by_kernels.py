import ctypes
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from where import PLACE

from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.triton_numbers import TritonNumbers
from tests.recorder.watched import Watched


def on_host(value):
    """The same memory as a tensor of the host: the interpreter would copy storages, which this device cannot."""
    if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
        return value
    size = max(value.numel(), 1) * value.element_size()
    return torch.frombuffer((ctypes.c_char * size).from_address(value.data_ptr()), dtype=value.dtype)


if PLACE == "npu":
    from triton.runtime.interpreter import GridExecutor

    GridExecutor._init_args_hst = lambda self, args, kwargs: (list(map(on_host, args)), kwargs)
    GridExecutor._restore_args_dev = lambda self, *given: None


def train(numbers):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(PLACE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with Watched(gate="late", mode="prod", device_numbers=numbers) as watched:
        for step in range(6):
            x = torch.randn(4, 8)
            x[2, 3] = float("nan") if step == 4 else x[2, 3]
            loss = nn.functional.mse_loss(model(x.to(PLACE)), torch.zeros(4, 1).to(PLACE))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    alarms = [[alarm.symptom, alarm.step] for alarm in watched.alarms]
    return [alarms, [[step, values.get("grad_l2"), values.get("loss")] for step, values in watched.points]]


kernels = TritonNumbers({PLACE})
said = [train(kernels), train(DeviceNumbers())]
json.dump({"said": said, "off": kernels.off, "lists": len(kernels.chunks)}, sys.stdout)
