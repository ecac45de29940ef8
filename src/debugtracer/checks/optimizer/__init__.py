"""Questions about the update: order of calls, parameters, learning rate, the course of the loss."""
