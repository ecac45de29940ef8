"""Every warning is an error from the first line on, and numpy and torch are told to complain about everything too."""
import warnings

warnings.simplefilter("error")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

np.seterr(all="raise")
torch.set_warn_always(True)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
scale = torch.tensor(0.5, requires_grad=True)
half = nn.Linear(4, 1, dtype=torch.complex64)
optimizer = torch.optim.Adam([*model.parameters(), scale, *half.parameters()], lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(torch.randn(12, 4), torch.randn(12, 1)), batch_size=4, shuffle=True):
        h = model(x).expand(4, 3) * scale
        loss = (h - y).pow(2).mean() + half(x.to(torch.complex64)).abs().sum() * 1e-3 + x[:0].sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        single = torch.randn(1).std(correction=0)
        print(epoch, loss.item().hex(), single.item(), np.float32(loss.item()).item().hex())
    scheduler.step()
try:
    warnings.warn("mine", UserWarning, stacklevel=1)
except UserWarning as error:
    print("raised", error)
try:
    torch.randn(1).std()
except UserWarning as error:
    print("raised", str(error)[:30])
print(np.geterr(), [f[0] for f in warnings.filters][:1])
