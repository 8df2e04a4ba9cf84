"""Dependencies between the folders of src/volvox point one way (ARCHITECTURE.md draws them)."""
import pathlib
import re
import sys

# Every folder may include itself and those of the layers before its own.
LAYERS = [["base"], ["cluster", "model"], ["rays"], ["physics", "net", "scan"], ["lattice", "particles"], ["world"], ["exchange", "meld", "mixed"], ["mind"],
          ["sim"], ["record", "report"], ["evolve"], ["view", "device"], ["plugin"], ["mujoco3", "ros"], ["cli"]]
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}
# What a folder may not use although its layer lies before: minds hear and see through exchange/ alone. (Their tests may.)
CLOSED = {"mind": {"net", "rays"}}
# Outside src/volvox: the highest layer that may be used. What tests a folder may use what it may.
OUTSIDE = {"robots": "mind", "experiments": "report"}
# "volvox/..." is ours; robots/ and experiments/ are known by the headers that they offer.
OFFERED = {"behaviors.h": "robots", "experiments.h": "experiments"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def paper_of(root, file):
    """The folder of experiments/ that a file lies in; "" for what all of them share."""
    parts = file.resolve().relative_to((root / "experiments").resolve()).parts
    return parts[0] if len(parts) > 1 else ""


def shared_papers(root):
    """Every paper stands alone: what two of them need lies in experiments/ itself."""
    for file in sorted([*root.glob("experiments/**/*.h"), *root.glob("experiments/**/*.cpp")]):
        for name in INCLUDE.findall(file.read_text()):
            for found in (file.parent / name, root / "experiments" / name):
                if found.is_file() and paper_of(root, found) not in ("", paper_of(root, file)):
                    yield f"{file.relative_to(root)} includes {name}, which is another paper's: move what both need to experiments/"


def mistakes(root):
    for file in sorted([*root.glob("src/volvox/**/*.h"), *root.glob("src/volvox/**/*.cpp"),
                        *root.glob("robots/**/*.h"), *root.glob("robots/**/*.cpp"),
                        *root.glob("experiments/**/*.h"), *root.glob("experiments/**/*.cpp")]):
        path = file.relative_to(root)
        owner = path.parts[2] if path.parts[0] == "src" else path.parts[0]
        limit = RANK.get(OUTSIDE.get(owner, owner))
        if limit is None:
            yield f"{path}: the folder '{owner}' has no layer; give it one in {pathlib.Path(__file__).name}"
            continue
        for name in INCLUDE.findall(file.read_text()):
            used = name.split("/")[1] if name.startswith("volvox/") else OFFERED.get(name, "")
            if not used or used == owner:
                continue
            if used in OUTSIDE:
                # Only the command brings robots and experiments together with the rest.
                if owner not in ("cli", used) and not (owner == "experiments" and used == "robots"):
                    yield f"{path} includes {name}: only cli may use {used}"
            elif used in CLOSED.get(owner, ()) and "test" not in path.parts:
                yield f"{path} includes {name}: {owner} may not include {used}; exchange/ has what it needs"
            elif used not in RANK:
                yield f"{path} includes {name}: the folder '{used}' has no layer"
            elif RANK[used] > limit or (RANK[used] == limit and owner not in OUTSIDE):
                yield f"{path} includes {name}: {owner} may not depend on {used}"


root = pathlib.Path(sys.argv[1]).resolve()
found = [*mistakes(root), *shared_papers(root)]
print("\n".join(found) if found else "every include points down")
sys.exit(1 if found else 0)
