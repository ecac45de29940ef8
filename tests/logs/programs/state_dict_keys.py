import torch
import torch.nn as nn

torch.manual_seed(0)
import io

file = io.BytesIO()
torch.save(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).state_dict(), file)
file.seek(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
net.load_state_dict(torch.load(file))
