import torch
import torch.nn as nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
q = nn.Linear(8, 8)
x = torch.randn(2, 5, 8)
scores = q(x) @ x.transpose(1, 2)
keep = torch.ones(2, 5, 5, dtype=torch.bool)
keep[1] = False
att = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=-1)
loss = (att @ x).mean()
loss.backward()
