"""Every Python file of the tree compiles, and imports nothing that it does not use."""

import ast
import os
import sys

import sources


def unused_imports(tree):
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                imported[(alias.asname or alias.name).split(".")[0]] = node.lineno
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {name: line for name, line in imported.items() if name not in used}


def check(path):
    with open(os.path.join(sources.ROOT, path), encoding="utf-8") as f:
        text = f.read()
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        return [f"{path}:{error.lineno}: {error.msg}"]
    return [f"{path}:{line}: {name} is imported but not used"
            for name, line in unused_imports(tree).items()]


def main():
    paths = sources.files(("tools", "tests"), (".py",))
    return sources.report([problem for path in paths for problem in check(path)])


if __name__ == "__main__":
    sys.exit(main())
