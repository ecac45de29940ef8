import torch
import torch.nn as nn

torch.manual_seed(0)
rnn = nn.GRU(3, 5, batch_first=True)
h = torch.zeros(1, 2, 5)
opt = torch.optim.Adam(rnn.parameters(), 1e-3)
for step in range(4):
    out, h = rnn(torch.randn(2, 6, 3), h)
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
