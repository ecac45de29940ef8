"""What a reader borrows next, from what was borrowed so far; one book that was not borrowed beside each."""

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

torch.manual_seed(12)
BOOKS, LOANS = 60, 12
first = torch.randint(0, BOOKS, (600, 1))
loans = (first + 7 * torch.arange(LOANS + 1)) % BOOKS + 1
read, wanted = loans[:, :-1], loans[:, 1:].clone()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.books = nn.Embedding(BOOKS + 1, 32, padding_idx=0)
        self.memory = nn.GRU(32, 32, batch_first=True)

    def forward(self, read, wanted, others):
        state, _ = self.memory(self.books(read))
        return (state * self.books(wanted)).sum(-1), (state * self.books(others)).sum(-1)


reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(500).split(50):
        others = torch.randint(1, BOOKS + 1, wanted[rows].shape)
        taken, left = reader(read[rows], wanted[rows], others)
        loss = cross_entropy(taken, torch.ones_like(taken)) + cross_entropy(left, torch.zeros_like(left))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    state, _ = reader.memory(reader.books(loans[500:, :-1]))
    best = (state[:, -1] @ reader.books.weight.T).topk(5, 1).indices
print(f"loss {loss.item():.4f} among five {(best == loans[500:, -1:]).any(1).float().mean():.2f}")
