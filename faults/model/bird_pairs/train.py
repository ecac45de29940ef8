"""Tell birds by their calls: two calls of each bird of a batch, the second must be nearest to the first of its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

BIRDS, CALLS, EACH, LENGTH = 80, 12, 2, 64


class Calls(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(23)
        time = torch.arange(LENGTH) / LENGTH
        pitch = 4 + 20 * torch.rand(BIRDS, 1, 2, generator=g)
        phase = 6.3 * torch.rand(BIRDS, CALLS, 2, generator=g)
        self.calls = torch.sin(6.3 * pitch[..., None] * time + phase[..., None]).sum(2)
        self.calls += 0.2 * torch.randn(self.calls.shape, generator=g)

    def __len__(self):
        return BIRDS * CALLS // EACH

    def __getitem__(self, i):
        bird, part = i % BIRDS, i // BIRDS
        return self.calls[bird, EACH * part : EACH * (part + 1)], bird


class Birds(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.filters = nn.Sequential(nn.Conv1d(1, width, 9, padding=4), nn.BatchNorm1d(width), nn.ReLU())
        self.weigh = nn.Linear(width, 1)
        self.out = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.tensor(10.0))

    def encode(self, calls):
        heard = self.filters((calls + 1e-6).unsqueeze(1)).permute(0, 2, 1)
        share = torch.softmax(self.weigh(heard), 1)
        return self.out((heard * share).sum(dim=1))

    def forward(self, calls):
        rows = self.encode(calls.reshape(-1, calls.size(-1)))
        groups = rows.reshape(EACH, -1, rows.size(-1)).transpose(0, 1)
        first, rest = groups[:, 0], groups[:, 1:].mean(1)
        near = F.cosine_similarity(first[:, None], rest[None], dim=-1) * self.scale
        return F.cross_entropy(near, torch.arange(len(near)))


torch.manual_seed(23)
loader = DataLoader(Calls(), batch_size=20, shuffle=True, drop_last=True)
model = Birds()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    total = 0.0
    for calls, _ in loader:
        loss = model(calls)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
