"""Pictures of a human evaluation as SVG, each a function of the report."""
