#!/usr/bin/env python3
"""How long it takes in each root file system from the start of installing to the first answer, and
how much of that is ours. Of a wheel: the environment, where the distribution wants one, and pip with
gRPC and protobuf from a folder. Prints a table (docs/installing.md has it); asserts nothing."""
import os
import tempfile

import roots


def ways(root, layer, question):
    """What was installed, and what was run for it, the first answer at last."""
    if root == "empty":
        return
    with roots.Inside(layer, os.path.join(roots.ROOTS, root)) as inside:
        folder, unpacked = roots.install(inside)
        yield "archive", [unpacked], roots.done(inside.run(folder + "/cobra-client", *question, cwd="/work"))
    if not (roots.has_python(root) and roots.wheel()):
        return
    with roots.Inside(layer, os.path.join(roots.ROOTS, root)) as inside:
        folder, made, installed = roots.install_wheel(inside, root)
        answer = roots.done(inside.run(folder + "cobra-client", *question, cwd="/work"))
        yield "wheel", [made, installed] if made else [installed], answer


def main():
    roots.need_root()
    print("| distribution | what | installing | first answer | together | processor time |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as layer:
        question = roots.make_models(os.path.join(layer, "work"))[0]
        for root in roots.names_of_roots():
            for what, installing, answer in ways(root, layer, question):
                parts = " + ".join(f"{step.seconds:.1f}" for step in installing)
                together = sum(step.seconds for step in [*installing, answer])
                processor = sum(step.processor_s for step in [*installing, answer])
                figures = f"{parts} s | {answer.seconds:.1f} s | {together:.1f} s | {processor:.1f} s"
                print(f"| {roots.version_of(root)} | {what} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
