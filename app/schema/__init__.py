"""The OpenAPI document: models of requests and answers, examples."""
