"""Observers of autograd graphs: how far backward reaches, and what is held."""
