"""From bodies to what is asked for. Nothing is stored here."""
