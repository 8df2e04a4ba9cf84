"""Files that asan and tsan compile as one keep their names apart: what two of them call the same in their unnamed namespace does not compile there,
and no other build would tell.

Of the unnamed namespaces, it reads types, constants and functions at their outermost level; functions may share a name if they take other types.
"""
import collections
import pathlib
import re
import sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n\\]|\\.)*', re.S | re.M)
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(\w+)\s*(?:final\s*)?(?::[^:]|$)")
ALIAS = re.compile(r"^\s*(?:using|namespace)\s+\w+\s*=|^\s*using\s+[\w:]+$")
FUNCTION = re.compile(r"\b(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:const)?\s*(?:noexcept)?\s*$")
SKIPPED = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|INSTANTIATE_\w+|using namespace|static_assert|friend|extern)\b")


def names_of(statement):
    """What a statement of a namespace, up to its brace or semicolon, declares; `=` and what follows it are cut."""
    if SKIPPED.match(statement):
        return
    if ALIAS.search(statement):  # may stand twice if it says the same
        yield f"{re.sub(r'=.*', '', statement.rstrip(), flags=re.S).split()[-1].split('::')[-1]} {' '.join(statement.split())}"
        return
    statement = re.sub(r"\btemplate\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>", " ", statement)
    kind = TYPE.search(statement)
    if kind and "(" not in statement:
        yield kind[1]
        return
    head = re.sub(r"=[^,()]*(?=[,)])", "", statement).split("=")[0].strip()  # without default arguments and a value
    function = FUNCTION.search(head)
    if function and not re.search(r"\bconstexpr\b.*\bconst\b", head[: function.start()]):
        if function.start() > 0:  # with no type before it, it is a macro
            takes = [re.sub(r"\s*\b\w+$", "", part.split("=")[0].strip()) if re.search(r"[\s&*]\w+$", part.split("=")[0].strip()) else part.strip()
                     for part in re.sub(r"<[^<>]*>", lambda found: found[0].replace(",", "|"), function[2]).split(",")]
            yield f"{function[1]}({', '.join(takes)})"
    elif "=" in statement or "constexpr" in statement:
        for part in re.sub(r"[({\[<][^(){}\[\]<>]*[)}\]>]", "", statement).split(","):
            name = re.search(r"(\w+)\s*(?:=|$)", part.strip())
            if name:
                yield name[1]


def hidden_names(text):
    """Pairs of an enclosing namespace and a name, of what stands in unnamed namespaces."""
    text = TOKEN.sub(lambda found: "" if found[0].lstrip()[:1] in "/#" else '""', text)
    spaces, depth, statement = [], 0, ""  # a namespace's name, "" when unnamed; braces that are none, below the innermost
    for piece in re.split(r"([{};])", text):
        if piece == "{":
            opened = re.search(r"\bnamespace\s*([\w:]*)\s*$", statement)
            if depth == 0 and opened:
                spaces.append(opened[1])
                statement = ""
            else:
                depth += 1
                statement += "{" if depth == 1 else ""
        elif piece == "}":
            if depth == 0:
                if spaces:
                    spaces.pop()
                statement = ""
            else:
                depth -= 1
                body = statement.split("{")[0]
                # A function's body ends its statement; after that of a type or a value, a semicolon comes.
                if depth == 0 and ")" in body and "=" not in re.sub(r"\([^()]*\)", "", body):
                    if "" in spaces:
                        yield from (("::".join(filter(None, spaces)), name) for name in names_of(body.strip()))
                    statement = ""
        elif depth == 0 and piece == ";":
            if "" in spaces:
                whole = re.sub(r"\{", " ", statement).strip()
                yield from (("::".join(filter(None, spaces)), name) for name in names_of(whole))
            statement = ""
        elif depth == 0:
            statement += piece


def clashes(batch):
    where = collections.defaultdict(dict)
    for file in batch:
        for space, name in hidden_names(pathlib.Path(file).read_text()):
            word, _, alias = name.partition(" ") if "using" in name or "namespace" in name else (name, "", "")
            where[space, word][file] = alias or file
    return {name: sorted(files) for name, files in where.items() if len(set(files.values())) > 1}


EXAMPLE = """namespace a::b {
namespace {
constexpr double g = 9.81, mu{0.3};  // struct Ring {
struct Ring { int of = 2; };
enum class Kind : int { one };
double sum(const std::vector<int>& all, double start = 0) { return start; }
const std::map<int, int> table = {{1, 2}, {3, 4}};
}
struct Seen { };
TEST(A, B) { int inner = 3; }
}"""
assert {name for _, name in hidden_names(EXAMPLE)} == {"g", "mu", "Ring", "Kind", "sum(const std::vector<int>&, double)", "table"}, list(hidden_names(EXAMPLE))

if __name__ == "__main__":
    lines = [line.split(";") for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    found = 0
    for target, *batch in lines:
        for (space, name), files in sorted(clashes([file for file in batch if pathlib.Path(file).exists()]).items()):
            found += 1
            print(f"{target}: {name} of {space} stands in {' and '.join(files)}; fix: give it another name in one, or move it to a header both include")
    names = sum(len(set(hidden_names(pathlib.Path(file).read_text()))) for _, *batch in lines for file in batch if pathlib.Path(file).exists())
    print(f"{len(lines)} batches with {names} hidden names, {found} of them twice")
    sys.exit(1 if found or names < 1000 else 0)
