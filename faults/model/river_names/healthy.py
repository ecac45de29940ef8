"""A language model of letters, taught on windows of one long line."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
LETTERS, WIDTH, LENGTH = 16, 32, 24
words = torch.randint(0, LETTERS, (40, 5))
line = words[torch.randint(0, 40, (900,))].flatten()


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.memory = nn.LSTM(WIDTH, 64, batch_first=True)
        self.head = nn.Linear(64, LETTERS)

    def forward(self, x):
        states, _ = self.memory(self.letters(x))
        return self.head(states)


def batch():
    begins = torch.randint(0, len(line) - LENGTH - 2, (16,))
    x = torch.stack([line[i : i + LENGTH] for i in begins])
    y = torch.stack([line[i + 1 : i + 1 + LENGTH] for i in begins])
    return x, y


model = Writer()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(200):
    x, y = batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f}")
