"""Streaming event model: hidden state carried from chunk to chunk, detached (truncated backpropagation through time)."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

STREAMS, CHUNK = 6, 8


class Stream(Dataset):
    def __init__(self, chunks=30):
        g = torch.Generator().manual_seed(13)
        self.gaps = torch.rand(STREAMS, chunks * CHUNK + 1, generator=g) + 0.05
        self.gaps[4, 17 * CHUNK + 3] = 0.0

    def __len__(self):
        return (self.gaps.shape[1] - 1) // CHUNK

    def __getitem__(self, i):
        piece = self.gaps[:, i * CHUNK : (i + 1) * CHUNK + 1]
        return piece[:, :-1], piece[:, 1:]


class Events(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(1, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, gaps, state):
        frequency = 1.0 / gaps.clamp_min(0.05)
        h, state = self.cell(torch.tanh(frequency.unsqueeze(-1) / 10) * frequency.unsqueeze(-1), state)
        return self.out(h).squeeze(-1), state


torch.manual_seed(22)
model = Events()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
state = torch.zeros(1, STREAMS, 16)
for step, (x, y) in enumerate(DataLoader(Stream(), batch_size=None)):
    pred, state = model(x, state)
    state = state.detach()
    loss = (pred - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 5 == 0:
        print(f"chunk {step} loss {loss.item():.4f}")
