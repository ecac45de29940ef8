import hashlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from where import PLACE


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, rows):
        shares = self.body(rows).softmax(1)
        return torch.log(shares)


torch.manual_seed(0)
x = torch.randn(96, 8)
if "healthy" not in sys.argv:
    x[43] = 900.0
data = TensorDataset(x, torch.randint(4, (96,)))
model = torch.compile(Scores().to(PLACE))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
for epoch in range(2):
    for batch, target in DataLoader(data, 8):
        loss = nn.functional.nll_loss(model(batch.to(PLACE)), target.to(PLACE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
print(hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest())
