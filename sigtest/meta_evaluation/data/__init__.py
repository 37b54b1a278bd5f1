"""What people bring: human and metric scores of the same systems, aligned by name and segment."""
