"""Made-up references and systems, the same on every machine and under every library version.

Drawn by a linear congruential generator from words written down here: the random numbers of Python
and NumPy, which may change from version to version, take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WORDS = (
    "the", "a", "of", "to", "in", "and", "is", "was", "for", "with", "river", "bridge", "house",
    "Minister", "parliament", "vote", "budget", "3,200", "1.5", "42%", "U.S.", "well-known",
    "don't", "café", "naïve", "Müller", "Łódź", "Москва", "поезд", "新聞", "東京", "said", "says",
    "new", "old", "green", "quickly", "yesterday", "across", "under", "children", "school", "train",
    "station", "&quot;", "&amp;", "(", ")", ",", ";", "-", "'s",
)  # fmt: skip
ENDINGS = (".", ".", ".", " .", "?", "!", "...", "")
LABELS = ("news", "talk", "web")
ERRORS = {"alpha": 20, "beta": 26, "gamma": 34}  # changed words in a hundred
SYSTEMS = {"alpha": "alpha", "beta": "beta", "gamma": "gamma", "delta": "beta", "echo": "alpha"}
SIZES = {1: 61, 2: 45}


@dataclass
class Numbers:
    """Whole numbers: the generator MMIX in Knuth, "The Art of Computer Programming" 2, 3.3.4."""

    state: int

    def below(self, size: int) -> int:
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return (self.state >> 33) % size


def content(number: int, replicas: int = 0) -> dict[str, Any]:
    """What a request says of test set 1 or 2.

    Two references, the second with gaps; documents, each with one label; and five systems, of
    which `delta` equals `beta` and `echo` differs from `alpha` in every fifth segment of its first
    run. Systems bring hypotheses and scores, or so many replicas and nothing else.
    """
    numbers = Numbers(number)
    first = [_sentence(numbers) for _ in range(SIZES[number])]
    second = [_changed(line, 25, numbers) if numbers.below(4) else None for line in first]
    documents, labels = _documents(len(first), numbers)
    return {
        "references": [first, second],
        "documents": documents,
        "labels": labels,
        "systems": [_system(name, number, first, replicas) for name in SYSTEMS],
    }


def _system(name: str, number: int, lines: list[str], replicas: int) -> dict[str, Any]:
    error = ERRORS[SYSTEMS[name]]
    numbers = Numbers(1000 * number + error)
    rows = [_scores(i, error, numbers) for i in range(len(lines))]
    runs = [[_changed(line, error, numbers) for line in lines] for _ in range(max(1, replicas))]
    if name == "echo":
        for i in range(0, len(lines), 5):
            runs[0][i] = _changed(lines[i], error, numbers)
            rows[i] = _scores(i, error, numbers)
    if replicas:
        return {"name": name, "replicas": runs}
    return {
        "name": name,
        "hypotheses": runs[0],
        "scores": {label: [row[label] for row in rows] for label in rows[0]},
    }


def _sentence(numbers: Numbers) -> str:
    words = [WORDS[numbers.below(len(WORDS))] for _ in range(4 + numbers.below(12))]
    return " ".join(words) + ENDINGS[numbers.below(len(ENDINGS))]


def _changed(line: str, error: int, numbers: Numbers) -> str:
    """The line with some words left out, put twice, exchanged with the one before, or others."""
    words: list[str] = []
    for word in line.split(" "):
        change = numbers.below(100)
        if change >= error:
            words.append(word)
        elif change % 4 == 0:
            words.append(WORDS[numbers.below(len(WORDS))])
        elif change % 4 == 1:
            words += [word, word]
        elif change % 4 == 2:
            words.insert(max(0, len(words) - 1), word)
    return " ".join(words)


def _documents(size: int, numbers: Numbers) -> tuple[list[str], list[str]]:
    """A document and its label for each segment."""
    documents, labels = ["d0"], [LABELS[0]]
    for _ in range(1, size):
        starts = numbers.below(5) == 0
        documents.append(f"d{len(set(documents))}" if starts else documents[-1])
        labels.append(LABELS[numbers.below(len(LABELS))] if starts else labels[-1])
    return documents, labels


def _scores(i: int, error: int, numbers: Numbers) -> dict[str, Any]:
    """Numbers of segment i, by label; better where there are fewer errors."""
    words, wanted = 5 + numbers.below(20), 5 + i % 17
    return {
        "accuracy": int(numbers.below(100) >= error),
        "quality": (numbers.below(100) + 100 - error) / 100,
        "gain": (numbers.below(4000) - 2000 - 20 * error) / 1000,
        "smooth": (numbers.below(10**9) - 10**7 * error) / 999_999_937,  # on no decimal grid
        "weighted": [numbers.below(100 - error) / 10, 1 + numbers.below(9)],
        "edits": [numbers.below(error), wanted],
        "relations": [min(words, wanted) * (100 - error) // 100, words, wanted],
    }
