"""What a source distribution has: the sources of the portable programs and of the Python package.

Of the repository everything is in it but tests, laboratory and measurements. The messages
of proto/cobra/v1 come along as Python, so that the wheel without programs is made from it with
nothing but Python."""
import gzip
import io
import os
import subprocess
import tarfile
import tempfile

LEFT_OUT = (
    ".ci/",
    ".github/",
    "client/python/tests/",
    "data/measurements/",
    "data/public/",
    "docker/",
    "lab/",
    "tests/",
)
KEPT = ("tests/cpp_source.py",)  # with which cmake/unity_groups.py reads C++
METADATA = "PKG-INFO"
GENERATED = "client/python/generated/"


def write(path, folder, contents, time):
    """The archive of `contents` (path -> bytes, is executable) below one folder. The same contents
    give the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (data, is_executable) in sorted(contents.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), time, 0o755 if is_executable else 0o644
            archive.addfile(entry, io.BytesIO(data))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=time) as compressed:
        compressed.write(packed.getvalue())


def contents(root):
    """Of a clone what git knows; of an unpacked source distribution all that is in it."""
    found = {}
    for name in sorted(_tracked(root) if os.path.exists(os.path.join(root, ".git")) else _unpacked(root)):
        path = os.path.join(root, *name.split("/"))
        if name == METADATA or name.startswith(GENERATED) or not os.path.exists(path):
            continue
        if name.startswith(LEFT_OUT) and name not in KEPT:
            continue
        with open(path, "rb") as file:
            found[name] = (file.read(), os.access(path, os.X_OK))
    return found


def _tracked(root):
    """What git has, and what is new and not ignored."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    return os.fsdecode(subprocess.run(command, capture_output=True, check=True).stdout).split("\0")[:-1]


def _unpacked(root):
    for base, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != "__pycache__" and (base, f) != (root, "build")]
        for name in names:
            yield os.path.relpath(os.path.join(base, name), root).replace(os.sep, "/")


def build_programs(root):
    """scripts/build-portable.sh here; the path of its archive. It needs what README's first command
    has installed."""
    # pip's environment for builds is for one Python, and scripts start another one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(os.path.join(root, ".git")):  # the script packs what git has
            environment.update(_repository(root, os.path.join(folder, "git"), environment))
        if not os.path.exists(os.path.join(root, "tests", "CMakeLists.txt")):
            command = ["cmake", "--preset", "release", "-Wno-dev", "-DCOBRA_TESTS=OFF"]
            subprocess.run(command, cwd=root, env=environment, check=True)
        script = os.path.join(root, "scripts", "build-portable.sh")
        done = subprocess.run([script], cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(root, done.stdout.splitlines()[-1])


def _repository(root, folder, environment):
    """Variables of the environment with which git takes all files of an unpacked source
    distribution for tracked; nothing is written there."""
    variables = {"GIT_DIR": folder, "GIT_WORK_TREE": root}
    for who in ("AUTHOR", "COMMITTER"):
        variables.update({f"GIT_{who}_NAME": "cobra", f"GIT_{who}_EMAIL": "cobra@example.org"})
        variables[f"GIT_{who}_DATE"] = f"@{os.environ.get('SOURCE_DATE_EPOCH', '315532800')} +0000"
    for command in ("init --quiet", "add --all", "commit --quiet --message sources"):
        subprocess.run(["git", *command.split()], cwd=root, env={**environment, **variables}, check=True)
    return variables
