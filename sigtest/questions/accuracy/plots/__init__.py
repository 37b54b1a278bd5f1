"""Pictures of the accuracy of tests as SVG."""
