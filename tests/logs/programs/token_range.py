import torch
import torch.nn as nn

torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset

ids = torch.randint(0, 40, (64, 7))
ids[50, 3] = 1000
emb = nn.Embedding(100, 8)
head = nn.Linear(8, 2)
opt = torch.optim.SGD([*emb.parameters(), *head.parameters()], 0.1)
for step, (x,) in enumerate(DataLoader(TensorDataset(ids), batch_size=16)):
    loss = head(emb(x).mean(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step} loss {loss.item():.4f}")
