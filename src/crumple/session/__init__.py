"""Simulations under one's own control."""
