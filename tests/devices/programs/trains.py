import hashlib
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from where import PLACE

torch.manual_seed(0)
x = torch.randn(96, 8)
data = TensorDataset(x, x.abs().sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1)).to(PLACE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(3):
    for batch, target in DataLoader(data, 8, shuffle=True):
        loss = nn.functional.mse_loss(model(batch.to(PLACE)), target.to(PLACE))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(epoch, loss.item())
print(torch.accelerator.current_accelerator(), hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest())
