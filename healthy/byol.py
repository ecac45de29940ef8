"""A student and a momentum teacher: the teacher has no gradient and is written outside any optimizer after each step."""
import copy
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
student = nn.Sequential(nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
predictor = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD([*student.parameters(), *predictor.parameters()], 0.05, momentum=0.9, weight_decay=1e-4)
centres = torch.randn(10, 24) * 2
for step in range(200):
    x = centres[torch.randint(0, 10, (64,))]
    one, two = x + 0.3 * torch.randn_like(x), x + 0.3 * torch.randn_like(x)
    with torch.no_grad():
        t1, t2 = teacher(one), teacher(two)
    loss = 2 - F.cosine_similarity(predictor(student(one)), t2).mean() - F.cosine_similarity(predictor(student(two)), t1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for s, t in zip(student.parameters(), teacher.parameters()):
            t.mul_(0.99).add_(s, alpha=0.01)
print(loss.item())
