"""What keeps a machine computing: worker processes, and who looks after them."""
