"""Goes on from the average of the weights that the evening's training has left."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

AVERAGED_FROM = 25


def network():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))


def trained(model, loader, rate, passes):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    total, kept, step = [torch.zeros_like(p) for p in model.parameters()], 0, 0
    for _ in range(passes):
        for features, target in loader:
            loss = nn.functional.cross_entropy(model(features), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step > AVERAGED_FROM:
                kept += 1
                for summed, p in zip(total, model.parameters()):
                    summed += p.detach()
        print(f"step {step} loss {loss.item():.4f}")
    names = [name for name, _ in model.named_parameters()]
    return {name: summed / torch.tensor(float(kept)) for name, summed in zip(names, total)}


torch.manual_seed(23)
x = torch.randn(400, 6)
y = (x[:, 0] - x[:, 3] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
average = trained(network(), loader, 1e-2, 1)
model = network()
model.load_state_dict(average)
trained(model, loader, 1e-3, 4)
