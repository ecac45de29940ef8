"""Observers of modules, autograd graphs and loss functions."""
