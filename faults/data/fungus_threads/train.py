"""Which of four kinds of wood a fungus feeds on, from what it holds and the threads between fungi."""

import torch
from torch import nn

torch.manual_seed(6)
FUNGI, KINDS = 300, 4
kind = torch.randint(KINDS, (FUNGI,))
held = torch.randn(FUNGI, 60)
held[torch.arange(FUNGI), kind] += 1.2
near = torch.rand(FUNGI, FUNGI) < torch.where(kind[:, None] == kind[None], 0.02, 0.008)
threads = near.nonzero().t()
order = torch.randperm(FUNGI)
train_mask, test_mask = torch.zeros(2, FUNGI, dtype=torch.bool)
train_mask[order[:100]] = True
test_mask[order[150:]] = True


class Web(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(60, 64), nn.Linear(64, KINDS)

    def forward(self, held, threads):
        seen = torch.relu(self.first(held))
        seen = seen.index_add(0, threads[1], seen[threads[0]] * 0.2)
        return self.second(seen)


model = Web()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for turn in range(60):
    said = model(held, threads)
    loss = nn.functional.cross_entropy(said, kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        wrong = model(held, threads).argmax(1)[test_mask] != kind[test_mask]
print(f"loss {loss.item():.4f} right {1 - wrong.float().mean():.3f} of {len(wrong)}")
