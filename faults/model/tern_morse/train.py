"""Which letters a tern is said to tap: six letters of a noisy line, aligned by CTC."""

import torch
from torch import nn

torch.manual_seed(3)
LETTERS, TAPS, FRAMES = 8, 6, 6
shapes = torch.randn(LETTERS, 16)


def lines(count):
    letters = torch.randint(1, LETTERS, (count, TAPS))
    return shapes[letters].repeat_interleave(FRAMES, 1) + 0.5 * torch.randn(count, TAPS * FRAMES, 16), letters


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.GRU(16, 48, batch_first=True, bidirectional=True)
        self.out = nn.Linear(96, LETTERS)

    def forward(self, line):
        return self.out(self.read(line)[0])


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CTCLoss(blank=0)
for step in range(120):
    line, letters = lines(16)
    scores = model(line).transpose(0, 1)
    frames, taps = torch.full((16,), len(scores)), torch.full((16,), TAPS)
    loss = criterion(scores, letters, frames, taps)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step} loss {loss.item():.3f}")
