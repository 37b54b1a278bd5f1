"""Reports to text and pictures: one module a look, each by the name that options take."""
