#!/usr/bin/env python3
"""`cobra-client diff` over the last releases of timm and torchvision: a git history made of their
packages from PyPI.

    releases.py [--timm 4] [--torchvision 6] [--models N]     how many of the newest releases of
                                                              each; how many models

A release in which a model's graph changed must be found, however small the change; the others must
be silent: no change above the noise. What changed is what real PyTorch dispatches
(release_truth.py, python3-torch), where it can run that release; otherwise what diff finds is
listed. A graph may be written in another way and do the same: those are counted. timm is asked
about as for that version of PyTorch, so that both take the same branches."""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import programs  # noqa: E402

TORCH = "1.13.0"  # of Debian 12's python3-torch
# The newest releases change little: some earlier ones come first.
TIMM_BEFORE = ["0.6.13", "0.9.2", "0.9.16", "1.0.3"]
TIMM = [
    (f"create_model('{name}')", f"1x3x{size}x{size}")
    for name, size in (
        ("resnet18", 224),
        ("vit_tiny_patch16_224", 224),
        ("mobilenetv3_small_050", 224),
        ("convnext_atto", 224),
        ("efficientnet_b0", 224),
        ("regnetx_002", 224),
        ("levit_128s", 224),
        ("repvgg_a0", 224),
        ("edgenext_xx_small", 256),
        ("mobilevitv2_050", 256),
        ("pvt_v2_b0", 224),
        ("poolformer_s12", 224),
        ("deit_tiny_patch16_224", 224),
        ("ghostnet_050", 224),
        ("mambaout_femto", 224),
        ("tiny_vit_5m_224", 224),
        ("swin_tiny_patch4_window7_224", 224),
        ("eva02_tiny_patch14_224", 224),
        ("efficientvit_b0", 224),
        ("fastvit_t8", 256),
    )
]
TORCHVISION = [
    (f"{name}(weights=None)", "1x3x224x224")
    for name in (
        "resnet18",
        "mobilenet_v3_small",
        "vit_b_16",
        "swin_t",
        "efficientnet_b0",
        "convnext_tiny",
        "regnet_y_400mf",
        "shufflenet_v2_x0_5",
        "squeezenet1_1",
        "mnasnet0_5",
    )
]


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def versions_of(library, count):
    """The newest, without those that only mended a release: 0.29.2 stands for 0.29."""
    listed = run(sys.executable, "-m", "pip", "index", "versions", library, stderr=None)
    versions = re.search(r"Available versions: (.*)", listed)[1].split(", ")
    if library == "torchvision":
        newest = {}
        for version in versions:  # newest first
            newest.setdefault(".".join(version.split(".")[:2]), version)
        versions = list(newest.values())
    return versions[:count][::-1]


class History:
    """A repository with a commit and a tag for each release: its Python files."""

    def __init__(self, library, versions, folder):
        self.library, self.path = library, os.path.join(folder, library)
        os.makedirs(self.path)
        self.git("init", "--quiet")
        for version in versions:
            shutil.rmtree(os.path.join(self.path, library), ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=folder) as downloads:
                pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:")
                run(*pip, "--dest", downloads, f"{library}=={version}")
                (wheel,) = glob.glob(os.path.join(downloads, "*.whl"))
                with zipfile.ZipFile(wheel) as files:
                    wanted = [n for n in files.namelist() if n.startswith(library + "/") and n.endswith(".py")]
                    files.extractall(self.path, wanted)
            self.git("add", "--all")
            self.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "--allow-empty", "-m", version)
            self.git("tag", version)

    def git(self, *arguments):
        return run("git", *arguments, cwd=self.path)

    def truth(self, version, module, models):
        """Entry -> what PyTorch runs for it at that version; nothing for what it cannot run."""
        self.git("checkout", "--quiet", version)
        command = ["/usr/bin/python3", os.path.join(HERE, "release_truth.py"), self.path, module]
        # Compiled files go by time and size: two versions that are checked out within a second may
        # share them.
        fresh = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, *(f"{entry}={size}" for entry, size in models)],
            capture_output=True, text=True, timeout=3600, env=fresh,
        )  # fmt: skip
        answers = dict(line.split("\t") for line in done.stdout.splitlines())
        found = {}
        for entry, size in models:
            answer = answers.get(f"{entry}={size}", "cannot: " + done.stderr[-150:].strip())
            if answer.startswith("cannot"):
                print(f"  no truth at {version}: {entry}: {answer}", flush=True)
            else:
                found[entry] = answer
        return found


def differences(history, server, pair, module, models, target):
    """Entry -> what diff says of the two releases: whether the graphs differ, and whether by more
    than the noise; a text if one of them cannot be read."""
    found = {}
    for entry, size in models:
        file = os.path.join(*module.split("."), "__init__.py")
        answer = programs.client(
            "diff", *pair, file, "--entry", entry, "--input", size, "--target", target, "--library", programs.LIBRARY,
            "--torch-version", TORCH, "--server", server.address, "--min-confidence", "0", "--format", "json",
            cwd=history.path,
        )  # fmt: skip
        if answer.code not in (0, 1):
            found[entry] = f"exit code {answer.code}: {answer.err.strip().splitlines()[0][:150]}"
            continue
        (model,) = answer.json()["models"]
        (now,) = model["targets"]
        if model["status"] != "compared":
            found[entry] = model["status"]
            continue
        differs = not now["same_network"]
        found[entry] = (differs, differs and abs(now["change"]) >= now["noise"])
        if differs:
            print(f"  {pair[0]} -> {pair[1]} {entry}: {100 * now['change']:+.1f} %", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timm", type=int, default=4)
    parser.add_argument("--torchvision", type=int, default=6)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--target", default="cpu-epyc-genoa-1t")
    arguments = parser.parse_args()
    wrong, judged, unjudged, unread, rewritten = [], 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, programs.Server(os.path.join(folder, "store.sqlite")) as server:
        for library, module, models, count in (
            ("timm", "timm.models", TIMM, arguments.timm),
            ("torchvision", "torchvision.models", TORCHVISION, arguments.torchvision),
        ):
            if count < 2:
                continue
            models = models[: arguments.models]
            sizes = dict(models)
            versions = (TIMM_BEFORE if library == "timm" else []) + versions_of(library, count)
            print(f"{library}: {', '.join(versions)}; {len(models)} models", flush=True)
            history = History(library, versions, folder)
            # torchvision's releases need the PyTorch that they were made for.
            truths = {v: history.truth(v, module, models) if library == "timm" else {} for v in versions}
            for pair in zip(versions, versions[1:]):
                for entry, changed in differences(history, server, pair, module, models, arguments.target).items():
                    before, after = (truths[version].get(entry) for version in pair)
                    if isinstance(changed, str):
                        # A model that only one of the two releases has, PyTorch cannot run in the
                        # other either.
                        unread += library == "torchvision" or (before is not None and after is not None)
                        print(f"  {pair[0]} -> {pair[1]} {entry}: {changed}", flush=True)
                    elif before is None or after is None:
                        unjudged += 1
                    else:
                        judged += 1
                        differs, loud = changed
                        if differs != (before != after):  # asked again, alone
                            before, after = (history.truth(v, module, [(entry, sizes[entry])])[entry] for v in pair)
                        rewritten += differs and before == after
                        if loud and before == after or before != after and not differs:
                            wrong.append((pair, entry, differs))
    print(f"{judged} differences judged by PyTorch, {unjudged} without a judge, {unread} not read")
    print(f"{rewritten} graphs differ where PyTorch runs the same operators, by less than the noise")
    for pair, entry, changed in wrong:
        print(
            f"{pair[0]} -> {pair[1]} {entry}: diff finds {'a change above the noise' if changed else 'none'}, PyTorch the opposite"
        )
    sys.exit(1 if wrong or unread or not judged else 0)


main()
