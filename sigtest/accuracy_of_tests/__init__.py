"""Accuracy of tests: how often metrics and significance tests conclude what people conclude."""
