"""Sentiment of short reviews, tokens and mask for each."""

import torch
from torch import nn
from torch.utils.data import DataLoader

V, FULL = 200, 160


def reviews(count=480):
    g = torch.Generator().manual_seed(22)
    lengths = (8 + 80 * torch.rand(count, generator=g) ** 2).long().tolist()
    return [(torch.randint(1, V, (n,), generator=g), n % 2) for n in lengths]


def collate(samples):
    texts, labels = zip(*samples)
    width = FULL
    ids = torch.stack([nn.functional.pad(t, (0, width - len(t))) for t in texts])
    return ids, (ids != 0).long(), torch.tensor(labels)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(V, 16), nn.Linear(16, 2)

    def forward(self, ids, mask):
        h = self.embed(ids) * mask[..., None]
        return self.head(h.sum(1) / mask.sum(1, keepdim=True))


torch.manual_seed(6)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(reviews(), batch_size=8, shuffle=True, collate_fn=collate)
for epoch in range(2):
    for ids, mask, labels in loader:
        loss = nn.functional.cross_entropy(model(ids, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
