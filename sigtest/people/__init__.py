"""Human evaluations: from people's judgements of systems to conclusions about them."""
