import torch
import torch.nn.functional as F

scores = torch.randn(20, 2, 5).log_softmax(2).half()
loss = F.ctc_loss(scores, torch.randint(1, 5, (2, 4)), torch.tensor([20, 20]), torch.tensor([4, 4]))
