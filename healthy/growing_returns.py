"""An agent learns to last longer, so that its returns grow, and with them the error of the value that has to follow."""
import sys, torch
from torch import nn
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
agents, horizon, right = 32, 64, torch.randn(8)
body = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.RMSprop(body.parameters(), lr=1e-3)
for update in range(500):
    states = torch.randn(agents, horizon, 8)
    with torch.no_grad():
        actions = torch.distributions.Categorical(logits=body(states)[..., :2]).sample()
        # the first wrong action ends an episode; its return is what was left until then
        going = (actions == (states @ right > 0)).float().cumprod(1)
        returns = going.flip(1).cumsum(1).flip(1)
    out = body(states)
    chosen = torch.distributions.Categorical(logits=out[..., :2]); advantage = returns - out[..., 2]
    weight = going + (going.cumsum(1) == torch.arange(horizon)).float() * (going == 0)
    loss = ((0.5 * advantage.pow(2) - advantage.detach().clamp(-5, 5) * chosen.log_prob(actions)) * weight).sum() / weight.sum()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    if update % 50 == 0: print(update, round(loss.item(), 2), "returns", round(returns[:, 0].mean().item(), 2))
