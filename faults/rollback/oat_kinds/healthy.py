"""Which of four kinds of oats a plot grows; the best weights by the plots that are held out are kept for the end."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
leaves = torch.randn(1500, 10)
kind = (leaves[:, 0] > 0).long() + 2 * (leaves[:, 1] + leaves[:, 2] > 0).long()
plots = DataLoader(TensorDataset(leaves[:1200], kind[:1200]), batch_size=48, shuffle=True)
held_out = DataLoader(TensorDataset(leaves[1200:], kind[1200:]), batch_size=100)
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()


def evaluate():
    model.eval()
    right, loss = 0, 0.0
    with torch.no_grad():
        for batch, target in held_out:
            scores = model(batch)
            loss += criterion(scores, target).item() * len(batch)
            right += (scores.argmax(1) == target).sum().item()
    model.train()
    return right / 300, loss / 300


best, kept = 0.0, None
for epoch in range(9):
    for batch, target in plots:
        loss = criterion(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    share, held_loss = evaluate()
    if share > best:
        best = share
        kept = copy.deepcopy(model.state_dict())
    print(f"epoch {epoch} held out: loss {held_loss:.3f} right {share:.3f}")
model.load_state_dict(kept)
print(f"kept: right {evaluate()[0]:.3f}")
