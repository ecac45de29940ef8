"""Errors of the loop caught and gone on with: an OOM-like RuntimeError halves the batch, a KeyboardInterrupt skips, a MemoryError retries, warnings."""
import contextlib

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
size, tries = 16, 0


def forward(x):
    out = model(x)
    if len(x) > 6:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB (pretended)")
    return out


for step in range(8):
    while True:
        try:
            x = torch.randn(size, 4)
            loss = forward(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            if step == 3 and not tries:
                tries += 1
                raise MemoryError
            if step == 5:
                raise KeyboardInterrupt
            optimizer.step()
        except RuntimeError as error:
            print(step, type(error).__name__, size, error.__traceback__.tb_next.tb_frame.f_code.co_name)
            size //= 2
            continue
        except MemoryError:
            print(step, "again")
            continue
        except KeyboardInterrupt as error:
            print(step, "interrupted", error.__context__, error.__cause__)
        finally:
            model.zero_grad(set_to_none=True)
        break
    with contextlib.suppress(RuntimeError):
        model(torch.ones(2, 9))
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError as error:
        print(step, loss.item().hex(), str(error)[:30])
print([p.double().sum().item().hex() for p in model.parameters()])
