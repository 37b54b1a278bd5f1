"""Statistics of two samples, of pairs, and of agreement; plain numbers in, plain numbers out."""
