"""NIST in textbook loops: the oracle of the compiled one.

Written from the description in the comments of mteval-v13a.pl and mteval-v14.pl (mosesdecoder,
scripts/generic), whose own output is compared with in test_metric_nist.py.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import regex

Words = list[str]


def words_13a(line: str, lowercase: bool) -> Words:
    for entity, mark in (("<skipped>", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<")):
        line = line.replace(entity, mark)
    line = " " + line.replace("&gt;", ">") + " "
    if lowercase:
        line = re.sub("[A-Z]", lambda match: match[0].lower(), line)
    line = re.sub(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 ", line)
    line = re.sub(r"([^0-9])([\.,])", r"\1 \2 ", line)
    line = re.sub(r"([\.,])([^0-9])", r" \1 \2", line)
    return re.sub(r"([0-9])(-)", r"\1 \2 ", line).split()


def words_intl(line: str, lowercase: bool) -> Words:
    for entity, mark in (("<skipped>", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<")):
        line = line.replace(entity, mark)
    line = line.replace("&gt;", ">").replace("&apos;", "'")
    if lowercase:
        line = "".join(character.lower() for character in line)
    line = regex.sub(r"(\P{N})(\p{P})", r"\1 \2 ", line)
    line = regex.sub(r"(\p{P})(\P{N})", r" \1 \2", line)
    return regex.sub(r"(\p{S})", r" \1 ", line).split()


def ngrams(words: Words, n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def information(references: Sequence[Words], order: int) -> dict[tuple[str, ...], float]:
    """log2 of the prefix' count over the n-gram's; of the number of words for single words."""
    total = sum(len(words) for words in references)
    counts = Counter(
        ngram for words in references for n in range(1, order + 1) for ngram in ngrams(words, n)
    )
    found = {}
    for ngram, count in counts.items():
        prefix = ngram[:-1]
        # In Perl "0" is false, so that mteval takes the prefix "0" for an empty one.
        whole = total if prefix in ((), ("0",)) else counts[prefix]
        found[ngram] = math.log2(whole) - math.log2(count)
    return found


def nist_statistics(
    references: Sequence[Sequence[Words | None]], hypotheses: Sequence[Words], order: int
) -> list[list[float]]:
    """Rows of mean reference length, information of matches, totals.

    Matches are added in the order in which the hypothesis has them, each occurrence by itself, as
    long as no reference has fewer.
    """
    present = [
        [words for words in segment if words is not None]
        for segment in zip(*references, strict=True)
    ]
    info = information([words for segment in present for words in segment], order)
    rows = []
    for words, own in zip(hypotheses, present, strict=True):
        matched, totals = [0.0] * order, [0.0] * order
        for n in range(1, order + 1):
            counts = [Counter(ngrams(reference, n)) for reference in own]
            used: Counter[tuple[str, ...]] = Counter()
            for ngram in ngrams(words, n):
                totals[n - 1] += 1
                if used[ngram] < max(count[ngram] for count in counts):
                    used[ngram] += 1
                    matched[n - 1] += info[ngram]
        mean = sum(len(reference) for reference in own) / len(own)
        rows.append([mean, *matched, *totals])
    return rows


def nist_score(rows: Sequence[Sequence[float]], order: int) -> float:
    sums = [math.fsum(column) for column in zip(*rows, strict=True)]
    score = sum(sums[1 + g] / max(sums[1 + order + g], 1) for g in range(order))
    ratio = sums[1 + order] / sums[0] if sums[0] else 1.0
    if ratio >= 1:
        return score
    if ratio <= 0:
        return 0.0
    beta = -math.log(0.5) / math.log(1.5) / math.log(1.5)
    return score * math.exp(-beta * math.log(ratio) * math.log(ratio))
