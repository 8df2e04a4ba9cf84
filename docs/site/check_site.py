#!/usr/bin/env python3
"""Checks the built site: every link and anchor leads somewhere, nothing is loaded from elsewhere, search knows the pages, and the
pages that errors name are there.

check_site.py SITE REPOSITORY
"""

from __future__ import annotations

import html.parser
import json
import pathlib
import re
import sys
import tempfile
import urllib.parse

# What a browser loads by itself, by element: a link that a reader may follow is no resource.
RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href", "object": "data"}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}  # of <link rel=>
SEARCHED = ["determinism", "snapshot", "dock", "catoms", "mjcf", "gymnasium"]


class Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        self.anchors |= {known[name] for name in ("id", "name") if name in known}
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        wanted = RESOURCES.get(tag)
        if wanted in known and not NOT_LOADED & set(known.get("rel", "").split()):
            self.resources.append(known[wanted])
        self.resources += re.findall(r"url\(['\"]?([^'\")]+)", known.get("style", ""))


def faults_of(site: pathlib.Path) -> list[str]:
    faults: list[str] = []
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}

    def check(path: pathlib.Path, link: str, resource: bool) -> None:
        where = f"{path.relative_to(site)}: {link}"
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("data", "mailto") or (parts.scheme in ("http", "https") and not resource):
            return
        if parts.scheme or parts.netloc:
            faults.append(f"{where} is loaded from elsewhere")
            return
        to = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
        if to.is_dir():
            to = to / "index.html"
        if not to.is_file() or not to.is_relative_to(site):
            if path.name != "404.html":  # its links are from the root of a server
                faults.append(f"{where} leads nowhere")
        elif parts.fragment and to in pages and urllib.parse.unquote(parts.fragment) not in pages[to].anchors | {"__search"}:
            faults.append(f"{where}: there is no such place on that page")

    for path, page in pages.items():
        for link in page.links:
            check(path, link, resource=False)
        for resource in page.resources:
            check(path, resource, resource=True)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for found in re.findall(r"url\(['\"]?(https?:)?//|@import ['\"](https?:)?//", text):
            faults.append(f"{sheet.relative_to(site)} loads from elsewhere: {found}")
    return faults


def search_faults(site: pathlib.Path) -> list[str]:
    index = site / "search/search_index.json"
    if not index.is_file():
        return ["there is no search index"]
    texts = " ".join(each["title"] + " " + each["text"] for each in json.loads(index.read_text(encoding="utf-8"))["docs"]).lower()
    return [f"search does not know '{word}'" for word in SEARCHED if word not in texts]


def named_by_errors(site: pathlib.Path, root: pathlib.Path) -> list[str]:
    """The pages and places of base/help_page.cpp, which errors name and `volvox docs PAGE` opens."""
    source = (root / "src/volvox/base/help_page.cpp").read_text(encoding="utf-8")
    places = set(re.findall(r'\{"[^"]+",\s*"([^"]+)"\}', source)) | {"reference/sdf#dock", "reference/sdf#population"}
    faults = [] if len(places) > 15 else ["the rules of help_page.cpp are not found any more"]
    for place in sorted(places):
        name, _, anchor = place.partition("#")
        found = [page for page in (site / f"docs/{name}.html", site / f"{name}.html") if page.is_file()]
        if not found or anchor and anchor not in Page(found[0].read_text(encoding="utf-8")).anchors:
            faults.append(f"errors name {place}, which is not there")
    return faults


def self_test() -> list[str]:
    """What must be found is found."""
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder).resolve()
        (site / "a.html").write_text('<a href="b.html#x">1</a><a href="b.html#y">2</a><a href="c.html">3</a><a href="https://example.org">4</a>'
                                     '<script src="https://example.org/s.js"></script><img src="//example.org/i.png">')
        (site / "b.html").write_text('<p id="x">')
        (site / "s.css").write_text("body { background: url(https://example.org/i.png) }")
        found = faults_of(site)
    wanted = ["b.html#y: there is no such place", "c.html leads nowhere", "s.js is loaded from elsewhere", "i.png is loaded from elsewhere", "s.css loads"]
    missed = [each for each in wanted if not any(each in fault for fault in found)]
    return [f"check_site.py does not find: {each}" for each in missed] + ([] if len(found) == len(wanted) else [f"check_site.py finds too much: {found}"])


def main() -> int:
    site, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    faults = self_test() + faults_of(site) + search_faults(site) + named_by_errors(site, root)
    for fault in faults[:60]:
        print(fault, file=sys.stderr)
    pages = len(list(site.rglob("*.html")))
    if pages < 50:
        faults.append("pages")
        print(f"only {pages} pages were built", file=sys.stderr)
    print(f"{pages} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
