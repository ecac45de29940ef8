import torch

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
w += 1
