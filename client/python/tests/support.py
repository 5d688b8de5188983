"""What the tests share: the package as the wheel has it, and the real server.

A test exits with 77, saying why, where something that it needs is not installed."""
import atexit
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(ROOT, "build", "release", "bin")))
SERVER = os.path.join(BIN, "cobra-server")
MODEL = os.path.join(ROOT, "model", "pretrained")
BACKEND = os.path.join(ROOT, "client", "python", "build_backend.py")

os.environ.setdefault("OMP_NUM_THREADS", "1")
_folder = tempfile.TemporaryDirectory()
atexit.register(_folder.cleanup)


def path(*parts):
    """In a folder of this process."""
    return os.path.join(_folder.name, *parts)


def skip(why):
    """Ends the test: it cannot run here."""
    print("skipped: " + why)
    sys.exit(77)


def in_environment(name, beside=None):
    """Runs the test with the Python of build/NAME, and the packages of build/BESIDE; ends it where
    that is not there."""
    folder = os.path.join(ROOT, "build", name)
    python = os.path.join(folder, "bin", "python3")
    if os.environ.get("COBRA_TEST_PYTHON"):  # this Python, whatever it is
        return
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    if not os.path.exists(os.path.join(folder, "requirements.txt")):
        skip(f"build/{name} is not there (scripts/setup.sh, its head says how)")
    if beside:
        packages = os.path.join(ROOT, "build", beside)
        if not os.path.exists(os.path.join(packages, "requirements.txt")):
            skip(f"build/{beside} is not there (scripts/setup.sh --pypi)")
        os.environ["PYTHONPATH"] = packages
    os.execv(python, [python, *sys.argv])


def require(*modules):
    """Ends the test where a module cannot be imported."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as error:
            skip(f"{module} is not installed for {sys.executable} ({error})")


def stage():
    """Puts the package as the wheel has it on the import path."""
    require("grpc", "google.protobuf")
    done = subprocess.run([sys.executable, BACKEND, "--stage", path("package")], capture_output=True, text=True)
    if done.returncode != 0:
        skip(done.stderr.strip().splitlines()[-1])
    sys.path.insert(0, path("package"))


def environment(*folders):
    """That of a program which imports from folders before all others."""
    paths = [*folders, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start(libraries=None):
    """A client of a server of this test's own, at a socket in its folder."""
    if not os.path.exists(SERVER):
        skip(f"cobra-server is not in {BIN}: build first")
    os.makedirs(path("run"), exist_ok=True)
    os.environ.update(XDG_RUNTIME_DIR=path("run"), XDG_STATE_HOME=path("state"))
    import cobra_latency

    client = cobra_latency.local(SERVER, MODEL, libraries)
    atexit.register(client.stop_server)
    return client


def serve(test_class, handler, name):
    """gRPC in this process, until the class is done; its address."""
    import concurrent.futures

    import grpc

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([handler])
    address = "unix:" + path(name)
    server.add_insecure_port(address)
    server.start()
    test_class.addClassCleanup(server.stop, None)
    return address


def write(name, text):
    """A file of the test; its path."""
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


def load(name, text):
    """A module of the test, imported from its file."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, write(name + ".py", text))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- what building and installing the package shares


def build(name, *options):
    """One of the files that build_backend.py writes, in a folder of its own; its path."""
    os.makedirs(path(name))
    command = [sys.executable, BACKEND, *options, path(name)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return os.path.join(path(name), done.stdout.strip())


def content(name):
    """The bytes of a file."""
    with open(name, "rb") as file:
        return file.read()


def run(*command, **environment):
    """What a command says, with a home and a server of the test's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    for variable, name in (("HOME", "home"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state")):
        os.makedirs(path(name), mode=0o700, exist_ok=True)
        kept[variable] = path(name)
    done = subprocess.run(command, capture_output=True, text=True, env={**kept, **environment}, cwd=path())
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Environment:
    """A fresh environment of Python, beside Debian's gRPC."""

    def __init__(self, name):
        self.folder = path(name)
        run(sys.executable, "-m", "venv", "--system-site-packages", self.folder)

    def bin(self, program, *arguments, **environment):
        """What one of its programs says."""
        return run(os.path.join(self.folder, "bin", program), *arguments, **environment)

    def pip(self, *arguments, **environment):
        """pip, without an index."""
        command = ["python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
        return self.bin(*command, PIP_NO_INDEX="1", **environment)

    def files(self):
        """All that is in it, but what Python caches."""
        walked = os.walk(self.folder)
        return sorted(os.path.join(f, name) for f, _, names in walked for name in names if not name.endswith(".pyc"))


if "--pypi" in sys.argv:  # with PyTorch 2.13 and the newest grpcio and protobuf
    in_environment("pypi", "pypi-client")
    sys.argv.remove("--pypi")


def main():
    unittest.main(verbosity=2)
