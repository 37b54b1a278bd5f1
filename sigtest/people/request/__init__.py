"""What is asked: choices, judgements that fit them, and how a request becomes both."""
