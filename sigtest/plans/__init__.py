"""Plans: which differences a test set of another size would show, from a pilot."""
