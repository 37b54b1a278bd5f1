"""Approximate randomization, the test of exchangeable labels."""

from __future__ import annotations

from sigtest.significance.counting import NullTest


class ApproximateRandomization(NullTest):
    """Would exchanging labels at random separate two systems this far?

    If either system could have produced either output of a unit, exchanging the two changes
    nothing but chance. Each draw exchanges the outputs of every unit with probability 1/2 and
    scores both mixed outputs; the p-value is the share of draws, the observed labelling among
    them, whose difference goes as far as the observed one. Under that null hypothesis the level is
    kept at any number of units. Systems with equal expected scores whose differences are skewed
    need not be exchangeable; then the test may reject more or less often than alpha says.

    Noreen (1989), "Computer-Intensive Methods for Testing Hypotheses"; Riezler & Maxwell (2005),
    "On Some Pitfalls in Automatic Evaluation and Significance Testing for MT", Figure 1; Graham,
    Mathur & Baldwin (2014), "Randomized Significance Tests in Machine Translation", Figure 2.

    Examples:
        Two of four exchanges separate the systems as far as 1.0, in either direction:

        >>> import numpy as np
        >>> test = ApproximateRandomization()
        >>> observed, draws = np.array([1.0]), np.array([[0.5, -2.0, 1.0, -0.5]])
        >>> test.extreme(observed, draws, np.array([1e-9]), "two-sided").tolist()
        [[False, True, True, False]]
        >>> test.count(observed, draws, np.array([1e-9]), "greater").tolist()
        [1]
    """

    name = "approximate_randomization"
    title = "approximate randomization"
    papers = (
        "noreen-1989-computer",
        "riezler-maxwell-2005-pitfalls",
        "graham-etal-2014-randomized",
    )
    draws = "swaps"
    null = "exchangeable labels"
