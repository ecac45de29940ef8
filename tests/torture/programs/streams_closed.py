"""stdout replaced, reopened in another encoding, huge lines, redirect to a buffer, print redefined, stderr closed before the end."""
import builtins
import contextlib
import io
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def step():
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item().hex()


print(step(), sys.stdout.encoding, sys.stdout.isatty(), sys.stdout.line_buffering)
print("x" * 200_000, step())
held = io.StringIO()
with contextlib.redirect_stdout(held), contextlib.redirect_stderr(held):
    print("inside", step())
print(held.getvalue().strip())
sys.stdout.reconfigure(encoding="latin-1", errors="replace", newline="\n", write_through=True)
print("caf\u00e9 \u2603".encode("latin-1", "replace"), step())
real = builtins.print
builtins.print = lambda *args, **kwargs: real("mine:", *args, **kwargs)
print(step())
builtins.print = real


def print(*args):  # noqa: A001
    sys.stdout.write("|".join(map(str, args)) + "\n")


print(step(), step())
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.close()
print(step(), sys.stderr.closed)
sys.stdout.flush()
sys.stdout.close()
step()
