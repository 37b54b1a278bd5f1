"""Runnable examples of requests; a test sends each."""

from __future__ import annotations

from typing import Any

COMPARISONS: dict[str, dict[str, Any]] = {
    "two systems": {
        "summary": "All defaults: BLEU, approximate randomization.",
        "value": {
            "references": [["The cat sat on the mat .", "It is raining .", "We go home ."]],
            "systems": [
                {
                    "name": "A",
                    "hypotheses": ["The cat sat on the mat .", "It rains .", "We go home ."],
                },
                {
                    "name": "B",
                    "hypotheses": ["A cat was on a mat .", "It is raining .", "We are home ."],
                },
            ],
        },
    },
    "against a baseline": {
        "summary": "Two metrics, two tests, one-sided, scores computed elsewhere.",
        "value": {
            "references": [["a b c d e", "f g h i j", "k l m n o", "p q r s t"]],
            "systems": [
                {
                    "name": "new",
                    "hypotheses": ["a b c d e", "f g h i", "k l m n o", "p q r s"],
                    "scores": {"comet": [0.91, 0.82, 0.95, 0.7]},
                },
                {
                    "name": "baseline",
                    "hypotheses": ["a b c d", "f g h", "k l m n o", "p q s t"],
                    "scores": {"comet": [0.9, 0.78, 0.95, 0.61]},
                },
            ],
            "metrics": ["chrf", {"name": "ter", "normalized": True}, "scores:of=comet"],
            "tests": ["approximate_randomization", "bootstrap"],
            "alternative": "greater",
            "pairs": {"baseline": "baseline"},
            "resamples": 999,
            "seed": 1,
            "documents": ["d1", "d1", "d2", "d2"],
        },
    },
    "several test sets": {
        "summary": "Each by itself, all together, and one correction over all.",
        "value": {
            "testsets": [
                {
                    "name": "news",
                    "references": [["The cat sat on the mat .", "It is raining ."]],
                    "systems": [
                        {"name": "A", "hypotheses": ["The cat sat on the mat .", "It rains ."]},
                        {"name": "B", "hypotheses": ["A cat was on a mat .", "It is raining ."]},
                    ],
                },
                {
                    "name": "talk",
                    "references": [["We go home .", "So I said to them , go ."]],
                    "systems": [
                        {"name": "A", "hypotheses": ["We go home .", "I said to them , go ."]},
                        {"name": "B", "hypotheses": ["We are home .", "So I told them to go ."]},
                    ],
                },
            ],
            "metrics": ["chrf"],
        },
    },
}
TESTSETS: dict[str, dict[str, Any]] = {
    "test set": {
        "summary": "A reference, two metrics, all other settings as they are by default.",
        "value": {
            "name": "nightly",
            "references": [["The cat sat on the mat .", "It is raining .", "We go home ."]],
            "documents": ["d1", "d1", "d2"],
            "metrics": ["bleu", "chrf"],
            "resamples": 999,
        },
    },
}
OUTPUTS: dict[str, dict[str, Any]] = {
    "hypotheses": {
        "summary": "One line a segment.",
        "value": {"hypotheses": ["The cat sat on the mat .", "It rains .", "We go home ."]},
    },
}
ENVELOPES: dict[str, dict[str, Any]] = {
    "title and tags": {
        "summary": "What it is called, and what to find it by.",
        "value": {"title": "Nightly run", "tags": ["nightly", "en-de"]},
    },
}
