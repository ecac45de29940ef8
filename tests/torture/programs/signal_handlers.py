"""Signal handlers in use: SIGUSR1 that asks for a checkpoint, an interval timer (SIGALRM), SIGTERM that ends the loop gently, SIGINT counted."""
import io
import os
import signal

import torch
from torch import nn

wanted, stopping, ticks = [], [], []
print([signal.getsignal(s) in (signal.SIG_DFL, signal.default_int_handler) for s in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGALRM)])
signal.signal(signal.SIGUSR1, lambda number, frame: wanted.append(frame.f_code.co_filename is not None))
signal.signal(signal.SIGTERM, lambda number, frame: stopping.append(number))
signal.signal(signal.SIGINT, lambda number, frame: wanted.append("int"))
signal.signal(signal.SIGALRM, lambda number, frame: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(100):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    if step in (2, 5):
        os.kill(os.getpid(), signal.SIGUSR1)
    loss.backward()
    if step == 6:
        signal.raise_signal(signal.SIGINT)
    optimizer.step()
    if step == 8:
        os.kill(os.getpid(), signal.SIGTERM)
    if wanted:
        torch.save(model.state_dict(), io.BytesIO())
        print(step, "saved", wanted.pop())
    if stopping:
        print(step, "stopping", stopping)
        break
    print(step, loss.item().hex())
while not ticks:
    signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print(bool(ticks), signal.getsignal(signal.SIGUSR1).__name__, signal.getitimer(signal.ITIMER_REAL))
