"""Answers with their headers, and what a reader chooses of them."""
