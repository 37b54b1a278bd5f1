"""Pages for people: HTML of what the renderers make, at addresses that answer JSON as well."""
