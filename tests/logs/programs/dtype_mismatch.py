import torch
import torch.nn as nn

torch.manual_seed(0)
import numpy as np

net = nn.Linear(4, 2)
data = np.random.default_rng(0).standard_normal((10, 4))
loss = net(torch.from_numpy(data)).mean()
loss.backward()
