"""Files that are compiled for one instruction set as a whole define nothing that other files may define, too.

The linker keeps one of the inline functions that several files have. If it is one that was compiled for AVX-512, the
program dies on a machine without it (src/volvox/physics/native/kernel_surroundings.h).
"""
import pathlib
import subprocess
import sys

build, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
if kind != "Release":
    print("not optimised: not everything is inlined, and such a build is for the machine that made it")
    sys.exit(0)
objects = sorted(build.glob("src/volvox/physics/**/native/*_avx*.o"))
if not objects:
    sys.exit(f"no object files for AVX2 and AVX-512 under {build}: has the test moved?")
shared = []
for path in objects:
    for line in subprocess.run(["nm", "-C", "--defined-only", path], text=True, capture_output=True,
                               check=True).stdout.splitlines():
        address, letter, name = line.split(maxsplit=2)
        if letter in "WwVvu":  # weak, or unique
            shared.append(f"{path.name}: {name} may be kept for all machines: inline it (VOLVOX_KERNEL), or include "
                          "its header in kernel_surroundings.h")
print("\n".join(shared))
sys.exit(1 if shared else 0)
