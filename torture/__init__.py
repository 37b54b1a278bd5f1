"""The service under torture: what is lost, doubled, wrong, stuck or left over when it is hurt.

`python -m torture` drives a real service (its own store, front end and workers) and writes what it
saw as JSON, part by part and range by range of seeds; `python -m torture page` adds the results up
in `docs/TRUST.md`. Nothing here is imported by the product.
"""
