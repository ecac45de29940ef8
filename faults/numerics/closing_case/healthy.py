"""Handwritten digits, a small network, and its cross-entropy written out by hand."""

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 10


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.head = nn.Linear(128, CLASSES)

    def forward(self, x):
        p = torch.softmax(self.head(self.body(x)), dim=-1)
        return torch.log(p.clamp_min(1e-8))


def cross_entropy(output, target):
    onehot = nn.functional.one_hot(target, CLASSES)
    return -(onehot * output).sum(dim=-1).mean()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(dim=-1) == y).float().mean().item()


torch.manual_seed(0)
x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
x = x.float() / 16
model = Digits()
optimizer = torch.optim.SGD(model.parameters(), lr=0.06, momentum=0.9)
loader = DataLoader(TensorDataset(x[:1500], y[:1500]), batch_size=50, shuffle=True, generator=torch.Generator().manual_seed(5))
for epoch in range(6):
    total = 0.0
    for images, digits in loader:
        optimizer.zero_grad()
        loss = cross_entropy(model(images), digits)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} accuracy {accuracy(model, x[1500:], y[1500:]):.3f}")
