import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Policies(Dataset):
    def __init__(self, n, seed):
        noise = torch.Generator().manual_seed(seed)
        self.factors = torch.randn(n, 6, generator=noise)
        rate = (self.factors @ torch.tensor([0.5, -0.4, 0.3, 0.2, -0.2, 0.1])).tanh() + 1.5
        months = torch.where(torch.rand(n, generator=noise) < 0.5, 1.0, 12.0)
        self.rate = torch.where(months < 6, rate + 3.0 * torch.rand(n, generator=noise), rate)
        self.exposure = months[:, None] / 12

    def __len__(self):
        return len(self.rate)

    def __getitem__(self, index):
        return self.factors[index], self.rate[index], self.exposure[index, 0]


def weighted(loss, weight):
    return (loss * weight).sum() / weight.sum()


torch.manual_seed(0)
loader = DataLoader(Policies(2400, 1), batch_size=48, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.Softplus(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for factors, rate, exposure in loader:
        loss = weighted(nn.functional.huber_loss(model(factors), rate, reduction="none"), exposure)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
full = Policies(600, 2)
settled = full.exposure[:, 0] > 0.5
with torch.no_grad():
    print(f"error of whole years {(model(full.factors) - full.rate)[settled].abs().mean():.3f}")
