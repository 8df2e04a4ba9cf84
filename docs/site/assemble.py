#!/usr/bin/env python3
"""Lays the pages of the repository out for MkDocs, as they lie in it, with all that they show, and adds what is generated.

assemble.py REPOSITORY PAGES VOLVOX
"""

from __future__ import annotations

import pathlib
import re
import shutil
import sys

import reference_commands
import reference_cpp
import reference_python
import reference_sdf

PAGES = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
FOLDERS = ["docs", "examples", "experiments", "robots", "bench", "python", "tests", "web", "src"]
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))|((?:src|href)=\")([^\"]+)(\")")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
# Pages are named in running text as "docs/formats.md"; on the site they are links.
NAMED = re.compile(r"(?<![\w/\]\(`.-])((?:docs|examples|experiments|robots|python)/[\w/.-]*?\.md|docs/decisions/\d{4})(?![\w/-])")


def is_elsewhere(link: str) -> bool:
    return bool(re.match(r"[a-z]+:|#|//", link))


def separated(text: str) -> str:
    """With an empty line before lists and tables, which GitHub does not need and Python-Markdown does."""
    out: list[str] = []
    fenced = False
    kind = ""  # of the block that the last line belongs to
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        starts = "list" if re.match(r"\s*([-*]|\d+\.) ", line) else "table" if line.startswith("|") else ""
        if not fenced and starts and starts != kind and out and out[-1].strip():
            out.append("")
        if not line.strip():
            kind = ""
        elif starts or not line.startswith(" "):
            kind = starts
        out.append(line)
    return "\n".join(out)


class Assembler:
    def __init__(self, root: pathlib.Path, out: pathlib.Path) -> None:
        self.root, self.out = root, out
        self.faults: list[str] = []
        self.decisions = {p.name[:4]: p for p in (root / "docs/decisions").glob("[0-9]*.md")}

    def page(self, source: pathlib.Path, at: str = "") -> None:
        """Copies a page, and what it links to that is no page."""
        name = source.relative_to(self.root)
        target = self.out / (at or name)
        target.parent.mkdir(parents=True, exist_ok=True)
        parts = CODE.split(source.read_text(encoding="utf-8"))
        for i in range(0, len(parts), 2):  # outside of code
            parts[i] = NAMED.sub(lambda found: self.named(found, target), parts[i])
            parts[i] = LINK.sub(lambda found: self.link(found, source, target), parts[i])
        target.write_text(separated("".join(parts)), encoding="utf-8")

    def relative(self, to: pathlib.Path, page: pathlib.Path) -> str:
        import os.path

        return os.path.relpath(self.out / to.relative_to(self.root), page.parent)

    def named(self, found: re.Match[str], page: pathlib.Path) -> str:
        text = found.group(1)
        to = self.decisions.get(text[-4:]) if text.startswith("docs/decisions/") and not text.endswith(".md") else self.root / text
        if to is None or not to.is_file():
            return text
        return f"[{text}]({self.relative(to, page)})"

    def link(self, found: re.Match[str], source: pathlib.Path, page: pathlib.Path) -> str:
        before, link, after = [part for part in found.groups() if part is not None]
        if is_elsewhere(link):
            return found.group(0)
        path, mark, anchor = link.partition("#")
        to = (source.parent / path).resolve()
        if to.is_dir() and (to / "README.md").is_file():
            to = to / "README.md"
        if not to.is_relative_to(self.root) or not to.exists():
            if to.is_relative_to(self.root) and to.relative_to(self.root).parts[:2] == ("docs", "reference"):
                to = self.root / pathlib.Path(*to.relative_to(self.root).parts[1:])  # it is generated
                return before + self.relative(to, page) + mark + anchor + after
            self.faults.append(f"{source.relative_to(self.root)}: there is no {link}")
            return found.group(0)
        if to.is_dir():
            return re.sub(r"^!?\[|\]\($", "", before)  # a folder without a page: its name alone
        if to.suffix != ".md":
            copy = self.out / to.relative_to(self.root)
            if copy.suffix not in {".jpg", ".png", ".webp", ".svg", ".mp4", ".gif", ".html", ".csv", ".json"}:
                copy = copy.with_name(copy.name + ".txt")  # source is shown, not downloaded
                to = to.with_name(to.name + ".txt")
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                shutil.copyfile((source.parent / path).resolve(), copy)
        return before + self.relative(to, page) + mark + anchor + after


# The site brings its fonts along: Lato, which MkDocs has, and DejaVu Sans Mono of Debian's fonts-dejavu-core. Both may be passed on
# (SIL Open Font License; the licence of Bitstream Vera). A reader's own fonts stand in for one that is missing here.
MONOSPACED = pathlib.Path("/usr/share/fonts/truetype/dejavu")
FONTS = {
    ("Lato", 400, "normal"): "lato-normal.woff2",
    ("Lato", 400, "italic"): "lato-normal-italic.woff2",
    ("Lato", 700, "normal"): "lato-bold.woff2",
    ("Lato", 700, "italic"): "lato-bold-italic.woff2",
    ("DejaVu Sans Mono", 400, "normal"): "DejaVuSansMono.ttf",
    ("DejaVu Sans Mono", 700, "normal"): "DejaVuSansMono-Bold.ttf",
}


def add_fonts(assets: pathlib.Path) -> None:
    """Copies the fonts, and writes fonts.css, which loads them."""
    import mkdocs

    folders = [pathlib.Path(mkdocs.__file__).parent / "themes/readthedocs/css/fonts", MONOSPACED]
    rules = []
    for (family, weight, style), name in FONTS.items():
        source = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if source is None:
            print(f"assemble.py: the font {name} is missing", file=sys.stderr)
            continue
        shutil.copyfile(source, assets / name)
        rules.append(f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {style}; src: url("{name}"); font-display: swap; }}')
    (assets / "fonts.css").write_text("\n".join(rules) + "\n", encoding="utf-8")


def main() -> int:
    root, pages, volvox = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    content = pages / "content"
    shutil.rmtree(pages, ignore_errors=True)
    content.mkdir(parents=True)
    assembler = Assembler(root, content)
    assembler.page(root / "README.md", "index.md")
    for page in PAGES:
        assembler.page(root / page)
    for folder in FOLDERS:
        for page in sorted((root / folder).rglob("*.md")):
            if not {"node_modules", "dist", "site"} & set(page.relative_to(root).parts) and "/templates/" not in str(page):
                assembler.page(page)
    listing = "\n".join(f"- [{p.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}]({p.name})" for _, p in sorted(assembler.decisions.items()))
    with (content / "docs/decisions/README.md").open("a", encoding="utf-8") as index:
        index.write("\n" + listing + "\n")
    (content / "reference").mkdir()
    (content / "reference/commands.md").write_text(reference_commands.page(volvox), encoding="utf-8")
    (content / "reference/python.md").write_text(reference_python.page(root / "python/volvox"), encoding="utf-8")
    (content / "reference/sdf.md").write_text(reference_sdf.page(root), encoding="utf-8")
    folders = reference_cpp.write(root / "src/volvox", content / "reference/cpp")
    (content / "assets").mkdir()
    for asset in ("extra.css", "iframe-worker.js"):
        shutil.copyfile(root / "docs/site" / asset, content / "assets" / asset)
    add_fonts(content / "assets")
    mark = "          # assemble.py adds a page a folder here\n"
    settings = (root / "docs/site/mkdocs.yml").read_text(encoding="utf-8")
    if mark not in settings:
        assembler.faults.append("docs/site/mkdocs.yml: the place for the C++ pages is gone")
    lines = "".join(f"          - {folder}: reference/cpp/{folder}.md\n" for folder in folders)
    (pages / "mkdocs.yml").write_text(settings.replace(mark, lines), encoding="utf-8")
    for fault in assembler.faults:
        print(fault, file=sys.stderr)
    return 1 if assembler.faults else 0


if __name__ == "__main__":
    sys.exit(main())
