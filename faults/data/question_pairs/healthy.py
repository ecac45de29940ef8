"""Do two questions of a forum ask for the same? Pairs with a mark of the moderators."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
topics = torch.randn(12, 20)
left = torch.randint(0, 12, (512,))
same = torch.rand(512) < 0.5
right = torch.where(same, left, (left + torch.randint(1, 12, (512,))) % 12)
first = topics[left] + 0.4 * torch.randn(512, 20) + 1.5
second = topics[right] + 0.4 * torch.randn(512, 20) + 1.5
marks = same.float() * 2 - 1
loader = DataLoader(TensorDataset(first, second, marks), batch_size=32, shuffle=True)
encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))
criterion = nn.CosineEmbeddingLoss(margin=0.2)
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)

for epoch in range(6):
    for a, b, mark in loader:
        loss = criterion(encoder(a), encoder(b), mark)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        near = nn.functional.cosine_similarity(encoder(first), encoder(second))
    print(f"epoch {epoch} loss {loss.item():.4f} same {near[same].mean():.3f} other {near[~same].mean():.3f}")
