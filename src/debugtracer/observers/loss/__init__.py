"""Observers of loss functions, their terms and their targets."""
