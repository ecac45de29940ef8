"""Distillation: soft targets that sum to one, a teacher in eval mode, a sum of losses with temperature."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
teacher = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
student = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 10))
opt = torch.optim.SGD(student.parameters(), 0.05, momentum=0.9, nesterov=True)
for step in range(200):
    x = torch.randn(64, 16)
    with torch.no_grad():
        soft = teacher(x) * 4
    out = student(x)
    loss = 0.7 * F.kl_div(F.log_softmax(out / 2, 1), F.softmax(soft / 2, 1), reduction="batchmean") * 4 + 0.3 * F.cross_entropy(out, F.softmax(soft, 1), label_smoothing=0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
