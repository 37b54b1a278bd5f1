"""Requests that no program means: generated from the OpenAPI document, mutated, and broken."""
