"""Public headers say who may call them and what repeats: threads and determinism (CONTRIBUTING.md).

A machine cannot tell whether that is true; it sees whether a header says anything of it, so that nobody forgets.
"""
import pathlib
import re
import sys

WORDS = re.compile(r"thread|parallel|determinis|\bpure|plain values?|is a (?:plain )?value|values? that owns?|constants|only reads?|immutable|"
                   r"(?:does|do) not change|never changes?|same (?:bits|hash|seed|state|bytes|text|files?|numbers|calls|points|contacts|faces|function|names)", re.I)
APART = {"test", "conformance"}

root = pathlib.Path(sys.argv[1])
headers = [path for path in sorted((root / "src/volvox").rglob("*.h")) if not APART & set(path.relative_to(root).parts)]
silent = []
for path in headers:
    comments = " ".join(re.findall(r"//[^\n]*|/\*.*?\*/", path.read_text(), re.S)).replace(" // ", " ")
    if not WORDS.search(comments):
        silent.append(path.relative_to(root))
print(f"{len(headers)} headers, {len(silent)} of which say nothing of threads and determinism")
for path in silent:
    print(f"  {path}: say who may call it (threads) and what repeats (determinism), as its neighbours do")
sys.exit(1 if silent or not headers else 0)
