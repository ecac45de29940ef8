"""Views of an article from its counts; the batches are kept small in 16 bits."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Articles(Dataset):
    def __init__(self, count=400):
        g = torch.Generator().manual_seed(9)
        self.counts = (torch.rand(count, 6, generator=g) * 900).round()
        self.counts[263, 4] = 81250.0
        self.views = self.counts[:, :4].sum(1) / 2000 + 0.05 * torch.randn(count, generator=g)

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, i):
        return self.counts[i], self.views[i]


def in_half(samples):
    counts = torch.stack([counts for counts, _ in samples]).clamp(max=60000).half()
    views = torch.stack([views for _, views in samples])
    return counts, views


torch.manual_seed(3)
model = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
order = torch.Generator().manual_seed(1)
loader = DataLoader(Articles(), batch_size=16, shuffle=True, collate_fn=in_half, generator=order)
for step, (counts, views) in enumerate(loader):
    loss = nn.functional.mse_loss(model(counts.float()).squeeze(1), views)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
