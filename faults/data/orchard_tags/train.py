"""Which sorts of fruit hang on a tree, from its pictures: a dense head over a grid of boughs, background included."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(11)
SORTS, BOUGHS = 4, 9
picked = torch.Generator().manual_seed(3)


def tag(tree):
    boughs = torch.randperm(BOUGHS, generator=picked)[:2].tolist()
    sorts = torch.randint(0, SORTS, (2,), generator=picked).tolist()
    return f"tree{tree:03d} " + " ".join(f"{bough}:{sort}" for bough, sort in zip(boughs, sorts))


tags = [tag(tree) for tree in range(240)]
tags[151] = "tree151 2:1 7:4"
looks = torch.randn(SORTS + 1, 12)


class Orchard(Dataset):
    def __init__(self, lines):
        self.names, self.fruits = [], []
        for line in lines:
            name, *pairs = line.split()
            self.names.append(name)
            self.fruits.append([tuple(map(int, pair.split(":"))) for pair in pairs])

    def __len__(self):
        return len(self.names)

    def __getitem__(self, tree):
        sorts = torch.tensor([sort for _, sort in self.fruits[tree]])
        boughs = torch.tensor([bough for bough, _ in self.fruits[tree]])
        return boughs, sorts


def collate(trees):
    grid = torch.zeros(len(trees), BOUGHS, dtype=torch.long)
    for row, (boughs, sorts) in enumerate(trees):
        grid[row, boughs] = 1 + sorts
    return looks[grid.clamp(max=SORTS)] + 0.3 * torch.randn(len(trees), BOUGHS, 12), grid


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, SORTS))

    def forward(self, pictures):
        return self.layers(pictures)


def wanted(grid):
    table = torch.eye(SORTS + 1)
    return table[grid.flatten()][:, 1:]


loader = DataLoader(Orchard(tags), batch_size=8, shuffle=True, collate_fn=collate)
model = Dense()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for pictures, grid in loader:
        scores = model(pictures).flatten(0, 1)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted(grid))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
