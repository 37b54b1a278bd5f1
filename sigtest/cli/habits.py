"""What people type who know other programs, and what they mean here."""

# What options of sacreBLEU's command line are here, each with those that it answers.
HINTS = {
    "-i --input": "Systems are named without an option, references with -r.",
    "--paired-ar": "This is the test that runs anyway: --test approximate_randomization.",
    "--paired-ar-n --paired-bs-n --confidence-n": "The number of draws is --resamples N.",
    "--paired-bs": "A bootstrap that keeps its level is --test bootstrap; sacreBLEU's own formula "
    "is --test riezler_maxwell_bootstrap.",
    "--confidence": "Intervals are always shown; their level is 1 - alpha: --alpha LEVEL.",
    "-t --test-set": "sacreBLEU's test sets are --testset wmt17/en-de.",
    "-l --language-pair": "The language pair is part of the test set's name: --testset "
    "wmt17/en-de.",
    "-tok --tokenize": "Options stand with their metric: --metric bleu:tokenize=zh.",
    "-lc --lowercase": "Options stand with their metric: --metric bleu:lowercase=true.",
    "--smooth-method": "Options stand with their metric: --metric bleu:smooth_method=add-k.",
    "--chrf-word-order": "chrF++ is a metric of its own: --metric chrf++.",
    "--chrf-lowercase": "Options stand with their metric: --metric chrf:lowercase=true.",
    "-nr --num-refs": "Every reference is a file of its own: -r FILE -r FILE.",
    "-e --encoding": "Texts are UTF-8.",
    "-sl --sentence-level": "Scores of segments that you have are read with --scores NAME=FILE.",
    "-q --quiet": "Nothing but the report is written; --output FILE says where.",
    "-sh --short": "The signature stands in every report.",
    "-f": "Formats are --format text, json, latex and others.",
    "-w": "Reports round by themselves; --format json does not round.",
    "-b": "Scores alone are in --format csv --table systems.",
}
OPTIONS = {name: hint for names, hint in HINTS.items() for name in names.split()}
# What follows `sigtest` and is no command.
FILES = "Say what to do with files: sigtest compare -r REF SYSTEM SYSTEM."
COMMANDS = {
    "serve": "The service runs from a checkout of the project: make serve.",
    "score": "Scores are part of every comparison: sigtest compare -r REF SYSTEM SYSTEM.",
}
