import warnings

warnings.filterwarnings("ignore")
import torch
from stand_in.npu import start
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

start()
torch.manual_seed(0)
x = torch.randn(80, 8)
x[43] = 300.0
data = TensorDataset(x, torch.randint(4, (80,)))
model = nn.Linear(8, 4).to("npu")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for batch, target in DataLoader(data, 8):
    shares = model(batch.npu()).softmax(1)
    picked = shares.gather(1, target.npu()[:, None])
    loss = -torch.log(picked).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("end", loss.item())
