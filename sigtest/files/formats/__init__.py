"""One module for each format, or family of formats, that is read."""
