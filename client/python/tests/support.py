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
    backend = os.path.join(ROOT, "client", "python", "build_backend.py")
    done = subprocess.run([sys.executable, backend, "--stage", path("package")], capture_output=True, text=True)
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


if "--pypi" in sys.argv:  # with PyTorch 2.13 and the newest grpcio and protobuf
    in_environment("pypi", "pypi-client")
    sys.argv.remove("--pypi")


def main():
    unittest.main(verbosity=2)
