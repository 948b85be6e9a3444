"""Which files the checks look at, by the top folders of the source tree."""

import os

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CPP_FOLDERS = ("app", "lib", "tests")


def files(folders, endings):
    """Paths relative to ROOT, sorted."""
    found = []
    for folder in folders:
        for path, folder_names, names in os.walk(os.path.join(ROOT, folder)):
            folder_names[:] = [n for n in folder_names if not n.startswith((".", "__"))]
            found += [os.path.relpath(os.path.join(path, n), ROOT) for n in names
                      if n.endswith(endings)]
    return sorted(found)


def cpp_files(folders=CPP_FOLDERS):
    return files(folders, (".h", ".cc"))


def report(problems):
    """Prints them; the exit code for the check."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
