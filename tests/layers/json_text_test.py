"""JSON becomes text through to_json_text (base/json_text.h) alone: dump() throws at a byte that is not UTF-8, and a run would end without results."""
import pathlib
import re
import sys

# The same by other names: a stream, and to_string of the library.
OTHERS = re.compile(r"\.dump\(|<<\s*(?:\w+_)?json\b(?!_)|nlohmann::to_string")
ALLOWED = {"src/volvox/base/json_text.h"}

root = pathlib.Path(sys.argv[1]).resolve()
found = []
for top in ["src", "robots", "experiments", "examples", "bench"]:
    for file in sorted([*(root / top).rglob("*.h"), *(root / top).rglob("*.cpp")]):
        path = str(file.relative_to(root))
        if path in ALLOWED or "test" in file.parts:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if OTHERS.search(line.split("//")[0]):
                found.append(f"{path}:{number}: {line.strip()}\n  fix: to_json_text(json) of volvox/base/json_text.h")
print("\n".join(found) if found else "all JSON is written by to_json_text")
sys.exit(1 if found else 0)
