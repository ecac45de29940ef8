"""sys.settrace and sys.setprofile of the user during training, threading.settrace too; counts of own calls only, handed back afterwards."""
import collections
import sys
import threading

import torch
from torch import nn

calls, lines = collections.Counter(), collections.Counter()


def tracer(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    lines[frame.f_code.co_name, event] += 1
    return tracer


def profiler(frame, event, arg):
    if event in ("call", "return") and frame.f_code.co_filename == __file__:
        calls[frame.f_code.co_name, event] += 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        h = self.layer(x)
        return h * 2


def train(steps):
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item().hex()


print(train(2))
sys.settrace(tracer)
print(train(3), sys.gettrace() is tracer)
sys.settrace(None)
sys.setprofile(profiler)
print(train(3), sys.getprofile() is profiler)
sys.setprofile(None)
threading.settrace(tracer)
thread = threading.Thread(target=lambda: print(train(2), sys.gettrace() is tracer))
thread.start()
thread.join()
threading.settrace(None)
print(sorted(lines.items()), sorted(calls.items()), train(2))
