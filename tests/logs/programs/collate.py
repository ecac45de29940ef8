import torch

torch.manual_seed(0)
from torch.utils.data import DataLoader

data = [(torch.zeros(n), n % 2) for n in (5, 5, 7, 5)]
for x, y in DataLoader(data, batch_size=4):
    print(x.shape)
