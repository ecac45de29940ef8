"""Three kinds of call of seal pups, told apart by recordings of different length."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
ROWS, STEPS = 1000, 30


class Pup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(2, 32, batch_first=True)
        self.answer = nn.Linear(32, 3)

    def forward(self, calls: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(calls[order], lengths, batch_first=True)
        _, last = self.layer(packed)
        return self.answer(last[-1])[order.argsort()]


kinds = torch.randint(3, (ROWS,))
lengths = torch.randint(6, STEPS + 1, (ROWS,))
times = torch.arange(STEPS)
waves = torch.sin(torch.tensor([0.3, 0.6, 1.0])[kinds, None] * times + 2 * math.pi * torch.rand(ROWS, 1))
calls = waves[:, :, None] + 0.4 * torch.randn(ROWS, STEPS, 2)
calls[times >= lengths[:, None]] = 0.0
loader = DataLoader(TensorDataset(calls, lengths, kinds), batch_size=40, shuffle=True)
model = Pup()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(6):
    right = 0
    for call, length, kind in loader:
        scores = model(call, length)
        loss = F.cross_entropy(scores, kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((scores.argmax(1) == kind).sum())
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / ROWS:.3f}")
