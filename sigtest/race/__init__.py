"""Races: differences of systems under scores that arrive item by item, valid at every look."""
