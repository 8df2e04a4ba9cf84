"""The reference of the public C++ headers: what their comments say, without a parser of C++.

A header is public if it is installed, which all of src/volvox are. It says at its top what it is for, with units, ownership and threads; a
comment above or behind a declaration explains that one. Function bodies and private parts are left out.
"""

from __future__ import annotations

import pathlib
import re

LEFT_OUT = re.compile(r"/(test|conformance)/|^precompiled")  # what is not installed (src/volvox/CMakeLists.txt)
TYPE = re.compile(r"^(?:template <.*> ?)?(class|struct|enum class|enum) (\w+)(?!.*;$)")


def introduction(lines: list[str]) -> str:
    """The comment that begins a file, as paragraphs."""
    if lines and lines[0].startswith("/*"):  # a header for C, too
        comment = "\n".join(lines).split("*/")[0]
        return "\n".join(re.sub(r"^\s*/?\*+ ?", "", line) for line in comment.splitlines()).strip()
    text = []
    for line in lines:
        if not line.startswith("//"):
            break
        text.append(line[2:].removeprefix(" "))
    return "\n".join(text).strip()


def as_markdown(text: str) -> str:
    """A comment as a page shows it: what is indented is code, and nothing else is markup."""
    out, code = [], False
    for line in text.splitlines():
        indented = line.startswith("  ") or (code and not line.strip())
        if indented != code:
            out += ["```", ""] if code else ["", "```cpp"]
            code = indented
        out.append(line[2:] if code else re.sub(r"([\[\]*_`<>#|])", r"\\\1", line))
    return "\n".join(out + (["```"] if code else []))


def shown(lines: list[str]) -> list[str]:
    """The declarations: without includes, private parts and the bodies of functions."""
    out: list[str] = []
    hidden: list[int] = []  # depths at which a private part began
    depth = body = 0
    for line in lines:
        bare = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//.*', "", line)
        opens, closes = bare.count("{"), bare.count("}")
        if re.match(r"#|namespace |}  // namespace|using namespace", line.strip()) or re.match(r"\s*friend ", line):
            continue
        if body:  # within the body of a function
            body += opens - closes
            continue
        if hidden and depth + opens - closes < hidden[-1]:
            hidden.pop()
        if re.match(r"\s*(private|protected):", line):
            hidden.append(depth)
        elif re.match(r"\s*public:", line):
            if hidden and hidden[-1] == depth:
                hidden.pop()
        elif not hidden:
            function = re.search(r"\)\s*(const)?\s*(noexcept)?\s*(override)?\s*(:.*)?\{\s*$", bare) and not re.search(r"= \{$", bare)
            if function and opens > closes:
                out.append(re.sub(r"\s*(:[^:].*)?\{\s*(//.*)?$", r";\2", line))
                body = opens - closes
                continue
            out.append(re.sub(r"(\)(?: const)?(?: noexcept)?(?: override)?) \{ .* \}", r"\1;", line))
        depth += opens - closes
    return out


def tidy(lines: list[str]) -> str:
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines))
    text = re.sub(r"\n *\n( *)\};", r"\n\1};", text)
    return text.strip("\n")


def header(path: pathlib.Path, root: pathlib.Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    about = introduction(lines)
    rest = lines[len(about.splitlines()) if about else 0 :]
    while rest and rest[0].startswith(("//", "/*", " *")):
        rest.pop(0)
    body = tidy(shown(rest))
    name = path.relative_to(root.parent).as_posix()
    code = f"\n```cpp\n{body}\n```\n" if body else ""
    return f"## {name.removeprefix('volvox/')}\n\n`#include <{name}>`\n\n{as_markdown(about) or 'No introduction.'}\n{code}"


def write(source: pathlib.Path, out: pathlib.Path) -> list[str]:
    """Writes a page for each folder, and returns their names."""
    out.mkdir(parents=True)
    folders: dict[str, list[pathlib.Path]] = {}
    for path in sorted(source.rglob("*.h")):
        name = path.relative_to(source).as_posix()
        if not LEFT_OUT.search("/" + name) and "/" in name:
            folders.setdefault(name.split("/")[0], []).append(path)
    index = ["# C++ headers\nGenerated from the headers and their comments, a page a folder; folder = namespace = CMake target. SI units, angles in rad.\n",
             "| folder | what it is | headers |", "|---|---|---|"]
    for folder, headers in folders.items():
        readme = source / folder / "README.md"
        about = next((line for line in readme.read_text(encoding="utf-8").splitlines()[1:] if line.strip()), "") if readme.is_file() else ""
        index.append(f"| [{folder}]({folder}.md) | {re.sub(r'[|]', '/', about)} | {len(headers)} |")
        text = f"# {folder}\n" + "\n".join(header(path, source) for path in headers)
        (out / f"{folder}.md").write_text(text, encoding="utf-8")
    (out / "README.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    return list(folders)
