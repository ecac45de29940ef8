"""Which bird sings: recordings are brought near other versions of themselves, without labels."""

import torch
from torch import nn

F = nn.functional
torch.manual_seed(14)
bird = torch.randint(0, 12, (1024,))
songs = torch.randn(12, 24)[bird] + 0.3 * torch.randn(1024, 24)
encoder = nn.Sequential(nn.Linear(24, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 16), nn.BatchNorm1d(16))
predictor = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)


def nearness(said, heard):
    said, heard = F.normalize(said, dim=1), F.normalize(heard.detach(), dim=1)
    return (said * heard).sum(dim=1).mean()


for epoch in range(6):
    for rows in torch.randperm(1024).split(64):
        one, two = (encoder(songs[rows] + 0.3 * torch.randn(len(rows), 24)) for _ in range(2))
        loss = (nearness(predictor(one), two) + nearness(predictor(two), one)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
