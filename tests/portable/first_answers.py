#!/usr/bin/env python3
"""How long it takes in each root file system from the start of installing to the first answer, and
how much of that is ours. Prints a table (docs/installing.md has it); asserts nothing."""
import os
import tempfile

import roots


def row(root, layer, question):
    """What was installed, the seconds that took, and those of the first answer."""
    if root == "empty":
        return
    with roots.Inside(layer, os.path.join(roots.ROOTS, root)) as inside:
        folder, unpacking_s = roots.install(inside, root)
        answer_s = roots.done(inside.run(folder + "/cobra-client", *question, cwd="/work"))
        yield "archive", unpacking_s, answer_s
    if not (roots.has_python(root) and roots.wheel()):
        return
    with roots.Inside(layer, os.path.join(roots.ROOTS, root)) as inside:
        folder, environment_s, pip_s = roots.install_wheel(inside, root)
        answer_s = roots.done(inside.run(folder + "cobra-client", *question, cwd="/work"))
        yield "wheel", environment_s + pip_s, answer_s


def main():
    roots.need_root()
    print("| distribution | what | installing | first answer | together |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as layer:
        question = roots.make_models(os.path.join(layer, "work"))[0]
        for root in roots.names_of_roots():
            for what, installing_s, answer_s in row(root, layer, question):
                seconds = f"{installing_s:.1f} s | {answer_s:.1f} s | {installing_s + answer_s:.1f} s"
                print(f"| {roots.version_of(root)} | {what} | {seconds} |", flush=True)


if __name__ == "__main__":
    main()
