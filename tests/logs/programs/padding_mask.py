"""A padding mask with positions first."""

import torch

attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.ones(3, 5, 8)
attention(x, x, x, key_padding_mask=torch.zeros(5, 3, dtype=torch.bool))
