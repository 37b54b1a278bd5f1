"""Webhooks: who is told of what happens, and how."""
