"""What is kept in Redis or Valkey, and how."""
