"""The height of the next pull on a long rope from the pulls before it; a recurrent net whose weights the loop moves itself."""

import torch
from torch import nn

torch.manual_seed(17)
pulls = torch.sin(torch.arange(6000) * 0.13) + 0.4 * torch.sin(torch.arange(6000) * 0.71) + 0.1 * torch.randn(6000)
rows = torch.bucketize(pulls, torch.linspace(-1.5, 1.5, 15)).view(20, 300)
WINDOW, RATE, MOST = 30, 8.0, 0.25


class Walk(nn.Module):
    """One step after another, then the height of the next pull."""

    def __init__(self):
        super().__init__()
        self.heights = nn.Embedding(16, 24)
        self.steps = nn.RNN(24, 32, batch_first=True)
        self.next = nn.Linear(32, 16)

    def forward(self, seen, state):
        steps, state = self.steps(self.heights(seen), state)
        return self.next(steps), state


walk = Walk()
for day in range(15):
    state, total = torch.zeros(1, 20, 32), 0.0
    for begin in range(0, 299 - WINDOW, WINDOW):
        seen = rows[:, begin : begin + WINDOW]
        wanted = rows[:, begin + 1 : begin + WINDOW + 1]
        walk.zero_grad()
        said, state = walk(seen, state.detach())
        loss = nn.functional.cross_entropy(said.flatten(0, 1), wanted.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(walk.parameters(), MOST)
        with torch.no_grad():
            for weight in walk.parameters():
                weight -= RATE * weight.grad
        total += loss.item()
    print(f"day {day} loss {total / 9:.4f}")
