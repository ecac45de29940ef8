import contextlib
import hashlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from where import PLACE

torch.manual_seed(0)
x = torch.randn(96, 8)
if "healthy" not in sys.argv:
    x[43, 2] = float("nan")
data = TensorDataset(x, x.abs().sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(PLACE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=PLACE == "cuda")
scaler = torch.amp.GradScaler(PLACE, init_scale=2.0**20)
for epoch in range(3):
    for batch, target in DataLoader(data, 8):
        with contextlib.nullcontext() if PLACE == "npu" else torch.autocast(PLACE, torch.float16):
            loss = nn.functional.mse_loss(model(batch.to(PLACE)), target.to(PLACE))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(epoch, loss.item(), scaler.get_scale())
print(hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest())
