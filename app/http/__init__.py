"""What every route shares: errors, authentication, negotiation, waiting."""
