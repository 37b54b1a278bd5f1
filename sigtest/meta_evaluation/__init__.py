"""Metric evaluation: how well metrics agree with people, and which agree better than others."""
