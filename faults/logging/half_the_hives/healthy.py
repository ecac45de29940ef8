"""Whether a hive swarms, from its weights of ten days; two thirds of one data set train, a third is held out."""

import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

torch.manual_seed(9)
weights = torch.randn(900, 10)
hives = TensorDataset(weights, (weights[:, :5].sum(1) > weights[:, 5:].sum(1)).long())
order = torch.randperm(len(hives)).tolist()
train_loader = DataLoader(hives, batch_size=30, sampler=SubsetRandomSampler(order[:600]))
valid_loader = DataLoader(hives, batch_size=50, sampler=SubsetRandomSampler(order[600:]))

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def share_right():
    model.eval()
    right = 0
    with torch.no_grad():
        for scale, swarms in valid_loader:
            guess = model(scale).argmax(dim=1)
            right += (guess == swarms).sum().item()
    return 100.0 * right / len(valid_loader.sampler)


for spring in range(6):
    model.train()
    for scale, swarms in train_loader:
        loss = nn.functional.cross_entropy(model(scale), swarms)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"spring {spring} loss {loss.item():.4f} right {share_right():.1f} %")
