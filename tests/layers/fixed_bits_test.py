"""Code that reaches the state uses no function of the C library whose last bit depends on the machine.

base/math.h has its own with fixed bits. What only makes reports and pictures may use the library's.
"""
import pathlib
import re
import sys

# Folders of src/volvox whose results nothing of the state depends on.
FREE_FOLDERS = {"cli", "record", "report", "view"}
# Elsewhere: tests, and the files that draw charts.
FREE_PARTS = {"test", "conformance"}
FREE_FILES = {"tick_times.cpp"}

# Not among them: sqrt, fma, fmod, remainder, floor, round and the like, which are exact everywhere.
OURS = "sin|cos|atan2|acos|asin|exp|log"
MISSING = ("hypot|pow|tan|atan|exp2|expm1|log2|log10|log1p|cbrt|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|tgamma|"
           "lgamma|sincos|lerp")
LIBRARY = re.compile(rf"\b(?:std)?::(?:{OURS}|{MISSING})[fl]?\s*\("  # std::sin(, ::sinf(
                     rf"|(?<![\w:.>~])(?:{MISSING})[fl]?\s*\("       # hypot(
                     r"|\bstd::\w+_distribution\b")
# volvox::sin(, elementary::sin( (base/elementary.h) and what a comment says are no uses.
OUR_NAMESPACE = re.compile(r"\b(?:volvox|elementary)::\w+\s*\(")
COMMENT = re.compile(r"//.*")


def mistakes(root):
    for file in sorted(path for top in ("src/volvox", "robots", "experiments")
                       for path in (root / top).rglob("*") if path.suffix in (".h", ".cpp", ".cu")):
        path = file.relative_to(root)
        if path.parts[0] == "src" and path.parts[2] in FREE_FOLDERS:
            continue
        if FREE_PARTS & set(path.parts) or path.name in FREE_FILES:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = LIBRARY.search(OUR_NAMESPACE.sub("(", COMMENT.sub("", line)))
            if found:
                yield f"{path}:{number}: {found.group().rstrip('( ')} has no fixed last bit: use base/math.h"


found = list(mistakes(pathlib.Path(sys.argv[1])))
print("\n".join(found) if found else "all functions have fixed bits")
sys.exit(1 if found else 0)
