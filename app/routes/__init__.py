"""Routes: one router each resource, for programs under /v1 and for people."""
