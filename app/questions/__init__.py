"""Questions as resources: asked for, followed, read, drawn, deleted; the same for every kind."""
