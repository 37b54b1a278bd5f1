"""Draws and the product that turns them into sums."""
