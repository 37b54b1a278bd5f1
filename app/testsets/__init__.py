"""Test sets, the systems that arrive over time, and their leaderboards."""
