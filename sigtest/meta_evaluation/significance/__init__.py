"""Whether one metric agrees with people better than another: Williams' test and permutations."""
