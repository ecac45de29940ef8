"""atexit functions, an own sys.excepthook, unraisablehook and threading.excepthook, then an uncaught exception that ends the program."""
import atexit
import sys
import threading

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def hook(kind, value, trace):
    names = []
    while trace:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    print("hook:", kind.__name__, value, names[-2:])
    with torch.no_grad():
        print("last", model.weight.double().sum().item().hex())


class Noisy:
    def __del__(self):
        raise ValueError("in del")


def last_words():
    loss = model(torch.ones(1, 3)).sum()
    loss.backward()
    optimizer.step()
    print("at exit", loss.item().hex())


sys.excepthook = hook
sys.unraisablehook = lambda args: print("unraisable:", args.exc_value)
threading.excepthook = lambda args: print("thread:", args.exc_type.__name__, args.exc_value)
atexit.register(last_words)
atexit.register(print, "registered last, runs first")


def inner(step):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex())
    if step == 3:
        raise LookupError("the end")


thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
noisy = Noisy()
del noisy
for step in range(5):
    inner(step)
