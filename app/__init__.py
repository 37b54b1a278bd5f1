"""The service's front end: the only code that speaks HTTP."""
