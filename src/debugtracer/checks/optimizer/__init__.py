"""Questions about the update: order of calls, parameters, learning rate, the loss over time."""
