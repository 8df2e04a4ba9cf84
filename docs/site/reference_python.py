"""The reference of the Python package: its docstrings and types, read from the source without importing it."""

from __future__ import annotations

import ast
import inspect
import pathlib
import re

PARTS = [
    ("__init__.py", "The package"),
    ("world.py", "Worlds"),
    ("events.py", "Events"),
    ("behavior.py", "Behaviours"),
    ("_core.pyi", "What a behaviour gets"),
    ("population.py", "Many worlds"),
    ("recording.py", "Recordings"),
    ("report.py", "Results"),
    ("world_spec.py", "Worlds in code"),
    ("robot_spec.py", "Robots in code"),
    ("mjcf.py", "MJCF"),
    ("notebook.py", "Notebooks"),
    ("errors.py", "Errors"),
    ("envs/__init__.py", "Learning environments"),
    ("envs/tasks.py", "Tasks"),
    ("envs/more_tasks.py", "Further tasks"),
    ("envs/reconfigure.py", "Reconfiguration"),
    ("envs/single.py", "Gymnasium"),
    ("envs/vector.py", "Many environments"),
    ("envs/parallel.py", "PettingZoo"),
    ("envs/sb3.py", "Stable-Baselines3"),
    ("envs/episode.py", "Episodes"),
]
FROM_CORE = {"Agent", "Message"}


def signature(function: ast.FunctionDef, method: bool) -> str:
    arguments = ast.unparse(function.args)
    if method:
        arguments = arguments.removeprefix("self").removeprefix("cls").lstrip(", ")
    returns = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    return f"({arguments}){returns}"


def decorators(function: ast.FunctionDef) -> str:
    return " ".join(ast.unparse(each) for each in function.decorator_list)


def described(node: ast.AST) -> str:
    text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) else ""
    return re.sub(r"^::\n", "", inspect.cleandoc(text or ""), flags=re.MULTILINE).replace("::\n", ":\n")


def attributes(body: list[ast.stmt]) -> list[str]:
    """Assignments with a string after them, which is what they mean."""
    out = []
    for this, following in zip(body, body[1:]):
        if not (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant) and isinstance(following.value.value, str)):
            continue
        if isinstance(this, ast.AnnAssign):
            name = ast.unparse(this.target).removeprefix("self.")
            if not name.startswith("_"):
                out.append(f"- **`{name}`**: `{ast.unparse(this.annotation)}`: {inspect.cleandoc(following.value.value)}")
    return out


def members(owner: ast.ClassDef) -> list[str]:
    out: list[str] = []
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            out += attributes(node.body)
    out += attributes(owner.body)
    for node in owner.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or "overload" in decorators(node) and node.name in " ".join(out):
            continue
        text = " ".join(described(node).split("\n\n")[0].split()) if "property" in decorators(node) else described(node)
        if "property" in decorators(node):
            kind = ast.unparse(node.returns) if node.returns is not None else ""
            out.append(f"- **`{node.name}`**: `{kind}`: {text}")
        else:
            indented = text.replace("\n", "\n    ")
            out.append(f"- **`{node.name}{signature(node, True)}`**\n\n    {indented}\n")
    return out


def section(path: pathlib.Path, title: str) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    out = [f"## {title}", described(tree) if path.suffix == ".py" else ""]
    public = {name for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for name in ast.literal_eval(node.value)}
    out += attributes(tree.body)
    for node in tree.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
            continue
        if path.name == "_core.pyi" and node.name not in FROM_CORE or public and node.name not in public:
            continue
        if isinstance(node, ast.FunctionDef):
            out.append(f"### {node.name}\n\n`{node.name}{signature(node, False)}`\n\n{described(node)}")
        else:
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            out.append(f"### {node.name}\n\n`class {node.name}({bases})`\n\n{described(node)}\n")
            out += members(node)
    return "\n\n".join(part for part in out if part) + "\n"


def public_names(path: pathlib.Path) -> list[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def page(package: pathlib.Path) -> str:
    out = ["# The Python package\nGenerated from its source. [Volvox from Python](../docs/python.md) is the guide. SI units, angles in rad, quaternions w, x, y, z.\n"]
    out += [section(package / name, title) for name, title in PARTS if (package / name).is_file()]
    text = "\n".join(out)
    for module in ("__init__.py", "envs/__init__.py"):
        for name in public_names(package / module):
            if not name.startswith("__") and f"### {name}\n" not in text and f"**`{name}`**" not in text:
                raise SystemExit(f"reference_python.py: {name} of {module} is not in the reference: add its file to PARTS")
    return text
