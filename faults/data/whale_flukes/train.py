"""Photographs of whale flukes as vectors: those of one animal shall lie together."""

import torch
from torch import nn

torch.manual_seed(5)
ANIMALS, EACH, WIDTH = 24, 12, 20
faces = torch.randn(ANIMALS, WIDTH)
animal = torch.arange(ANIMALS).repeat_interleave(EACH)
photos = faces[animal] + 0.9 * torch.randn(len(animal), WIDTH)
known, new = animal < 16, animal >= 16

model = nn.Sequential(nn.Linear(WIDTH, 48), nn.ReLU(), nn.Linear(48, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.TripletMarginLoss(margin=0.5)


def triplets(labels, count):
    """Draw an anchor, one of the same animal and one of another."""
    anchor = torch.randint(len(labels), (count,))
    same = labels[anchor, None] == labels
    return anchor, torch.multinomial(same.float(), 1)[:, 0], torch.multinomial((~same).float(), 1)[:, 0]


def precision(vectors, labels, k):
    """The share of right animals among the k most similar photographs."""
    vectors = nn.functional.normalize(vectors, dim=1)
    nearest = (vectors @ vectors.T).topk(k, dim=1).indices
    return (labels[nearest] == labels[:, None]).float().mean().item()


for epoch in range(12):
    model.train()
    for _ in range(16):
        anchor, same, other = triplets(animal[known], 64)
        vectors = model(photos[known])
        loss = criterion(vectors[anchor], vectors[same], vectors[other])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        vectors = model(photos[new])
    found = [precision(vectors, animal[new], k) for k in (1, 5)]
    print(f"epoch {epoch} loss {loss.item():.4f} P@1 {found[0]:.3f} P@5 {found[1]:.3f}")
