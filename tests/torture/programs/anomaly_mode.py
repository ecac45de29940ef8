"""Anomaly detection by the user: global switch, healthy context, check_nan=False, and a NaN in the backward that raises and is caught."""
import warnings

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
torch.autograd.set_detect_anomaly(True)
for step in range(4):
    x = torch.randn(5, 3)
    loss = model(x).pow(2).mean()
    if step == 2:
        loss = loss + torch.sqrt(model(x).sum() * 0).sum()
    optimizer.zero_grad()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            loss.backward()
        except RuntimeError as error:
            print(step, error, len(caught), "torch.sqrt(model(x)" in str(caught[0].message))
            optimizer.zero_grad()
            continue
    optimizer.step()
    print(step, loss.item().hex(), torch.is_anomaly_enabled(), len(caught))
torch.autograd.set_detect_anomaly(False)
with torch.autograd.detect_anomaly(check_nan=False):
    bad = torch.sqrt(model(torch.ones(1, 3)) * 0).sum()
    bad.backward()
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled(), model[2].bias.grad.tolist())
print(torch.is_anomaly_enabled(), [p.double().sum().item().hex() for p in model.parameters()])
