"""Code that reaches the state uses no function of the C library whose last bit depends on the machine.

base/math.h has its own with fixed bits. What only makes reports and pictures may use the library's. The sources are searched for
names; and the object files for what they need from the C library, which also finds what headers of others call.
usage: fixed_bits_test.py SOURCES [BUILD]
"""
import pathlib
import re
import subprocess
import sys

TOPS = ("src/volvox", "robots", "experiments", "examples")
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
# Object files that may call it. Poses of sdformat come through the inline functions of its headers, and are rounded to 1e-12 for that
# reason (model/sdf_bridge.h).
FREE_TARGETS = {"model": {"sincos", "sin", "cos"}}
SYMBOL = re.compile(rf"(?:__)?(?P<name>{OURS}|{MISSING})[fl]?(?:_finite)?(?:@.*)?")


def is_free(path):
    """Whether nothing of the state depends on a file below src/volvox, robots, experiments or examples."""
    return path.parts[0] == "src" and path.parts[2] in FREE_FOLDERS or bool(FREE_PARTS & set(path.parts)) or path.name in FREE_FILES


def mistakes(root):
    for file in sorted(path for top in TOPS
                       for path in (root / top).rglob("*") if path.suffix in (".h", ".cpp", ".cu")):
        path = file.relative_to(root)
        if is_free(path):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = LIBRARY.search(OUR_NAMESPACE.sub("(", COMMENT.sub("", line)))
            if found:
                yield f"{path}:{number}: {found.group().rstrip('( ')} has no fixed last bit: use base/math.h"


def mistakes_in_objects(build):
    objects = [path for top in TOPS for path in sorted((build / top).rglob("*.o"))]
    if len(objects) < 100:
        yield f"only {len(objects)} object files under {build}: has the test moved?"
    needs = subprocess.run(["nm", "-u", "-A", *objects], text=True, capture_output=True, check=True).stdout
    for line in needs.splitlines():  # FILE.o:    U symbol
        path, _, symbol = line.rpartition(".o:")
        symbol = SYMBOL.fullmatch(symbol.split()[-1])
        if not symbol:
            continue
        # src/volvox/net/CMakeFiles/volvox_net.dir/radio.cpp.o: the folder of the target, then that of the source.
        folder, _, target = str(pathlib.Path(path).relative_to(build)).partition("/CMakeFiles/")
        source = pathlib.Path(folder, *pathlib.Path(target).parts[1:])
        allowed = FREE_TARGETS.get(source.parts[2] if source.parts[0] == "src" else "", set())
        if not is_free(source) and symbol["name"] not in allowed:
            yield f"{source}: needs {symbol['name']} of the C library, perhaps by a header: use base/math.h"


found = list(mistakes(pathlib.Path(sys.argv[1])))
if len(sys.argv) > 2:
    found += mistakes_in_objects(pathlib.Path(sys.argv[2]))
print("\n".join(found) if found else "all functions have fixed bits")
sys.exit(1 if found else 0)
