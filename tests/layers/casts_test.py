"""Conversions say why they are safe: by typed indices and the names of base/index.h, rather than by static_cast.

A cast hides a number that does not fit; narrow, truncated, real, low_word and number_of check it, or say what is meant. Some casts are right
(void*, an enumerator from a number), so they are counted: physics/native, tests and benchmarks apart.
"""
import collections
import pathlib
import sys

MOST = 300
TOPS = ["src", "robots", "experiments", "examples"]
APART = {"native", "test", "tests", "bench"}

root = pathlib.Path(sys.argv[1]).resolve()
counts = collections.Counter()
for top in TOPS:
    for file in sorted(path for path in (root / top).rglob("*") if path.suffix in (".h", ".cpp")):
        path = file.relative_to(root)
        if not APART & set(path.parts):
            counts[str(path)] += file.read_text().count("static_cast<")

total = counts.total()
print(f"{total} static_casts in {sum(n > 0 for n in counts.values())} of {len(counts)} files, of at most {MOST}")
if total > MOST or not counts:
    print("fix: typed indices, or a conversion of base/index.h, in the files with most of them:")
    print("\n".join(f"  {path}: {n}" for path, n in counts.most_common(20)))
    sys.exit(1)
