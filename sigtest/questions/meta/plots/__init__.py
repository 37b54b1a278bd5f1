"""Pictures of metric evaluations as SVG, each a function of the report and what of it to show."""
