import torch
import torch.nn as nn

torch.manual_seed(0)
a, b = nn.Linear(4, 2), nn.Linear(4, 2)
old = torch.optim.Adam(a.parameters())
new = torch.optim.Adam([*a.parameters(), *b.parameters()])
new.load_state_dict(old.state_dict())
