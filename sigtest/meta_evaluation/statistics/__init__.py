"""How a metric agrees with people: correlations and shares of pairs ordered alike."""
