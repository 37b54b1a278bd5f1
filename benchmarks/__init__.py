"""Speed, measured next to the peer in the same run and quoted as ratios."""
