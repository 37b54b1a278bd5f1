"""What callers ask while the service is hurt, and what they must be answered."""
