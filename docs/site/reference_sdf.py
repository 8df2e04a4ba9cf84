"""The reference of the SDF elements: the rules by which files are checked, and the places in docs/formats.md that explain them."""

from __future__ import annotations

import pathlib
import re

INTRODUCTION = """# SDF elements
Generated from the rules that the reader itself uses (model/schema.cpp). An element or attribute that is not here is an error with file,
line and a suggestion. [File formats](../docs/formats.md) explains each with an example.

| element | stands in | attributes |
|---|---|---|
"""


def words_of(text: str, constants: dict[str, str]) -> str:
    parts = re.findall(r'"([^"]*)"|\b([a-z_]+)\b', text)
    return "".join(quoted or constants.get(name, "") for quoted, name in parts)


def page(root: pathlib.Path) -> str:
    source = (root / "src/volvox/model/schema.cpp").read_text(encoding="utf-8")
    constants = dict(re.findall(r'constexpr std::string_view (\w+) = "([^"]*)";', source))
    table = re.search(r"ElementRule rules\[\] = \{(.*?)\n\};", source, re.DOTALL)
    if table is None:
        raise SystemExit("reference_sdf.py: model/schema.cpp has no table of rules any more: read what is there instead")
    rows = []
    placed: set[str] = set()
    for entry in re.findall(r"\{((?:[^{}])*)\}", table.group(1)):
        name, parents, attributes, *rest = re.split(r",\s*(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", entry.strip())
        known = " ".join(f"`{word}`" for word in words_of(attributes, constants).split())
        if "true" in "".join(rest):
            known += " and parameters of its type"
        homes = ", ".join(f"`<{word}>`" for word in words_of(parents, constants).split())
        element = words_of(name, constants)
        # Errors lead here (base/help_page.h). An element may stand in several rows; a place has one.
        place = "" if element in placed else f'<span id="{element}"></span>'
        placed.add(element)
        rows.append(f"| {place}`<volvox:{element}>` | {homes} | {known or '-'} |")
    if len(rows) < 20:
        raise SystemExit(f"reference_sdf.py: only {len(rows)} elements were found in model/schema.cpp")
    return INTRODUCTION + "\n".join(rows) + "\n"
