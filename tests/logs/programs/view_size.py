import torch

x = torch.randn(4, 8, 5, 5)
x.view(4, 128).mean()
