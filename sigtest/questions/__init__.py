"""What is asked besides comparisons, a folder a kind: question, computation, report, pictures."""
