import sys
import warnings

warnings.filterwarnings("ignore")
import torch
from stand_in.npu import start
from torch import nn

npu = start(saturating=True)
torch.manual_seed(0)
model = nn.Linear(8, 4).to("npu")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for step in range(6):
    batch = torch.randn(8, 8) * (1e6 if step == 1 and "healthy" not in sys.argv else 1.0)
    out = model(batch.npu())
    wide = (out * out).half()
    loss = wide.float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print("flag read", npu.asked if "count" in sys.argv else "-")
