"""`sigtest-admin usage`, as an operator runs it."""

from commanded import told
from service import synthetic


def test_usage_tells_what_each_caller_has_unfinished_and_holds(jobs, settings):
    for seed, caller in enumerate(["bob", "ann", "ann"]):
        jobs.submit(synthetic(seed, segments=5), caller)
    lines = told(settings, "usage")
    assert lines[0].split() == ["caller", "unfinished", "predicted", "seconds", "bytes"]
    assert [line.split()[:2] for line in lines[1:3]] == [["ann", "2"], ["bob", "1"]]
    assert float(lines[1].split()[2]) > 0
    ann, bob = (int(line.split()[3].replace(",", "")) for line in lines[1:3])
    assert ann > bob > 1000
    assert lines[3].endswith("; 0 workers")
