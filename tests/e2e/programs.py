"""What the end-to-end tests share: the real programs, started and stopped."""
import atexit
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

SOURCE = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
LIBRARY = "/usr/lib/python3/dist-packages"
# What the build wrote about its programs, for the installed documents (cmake/describe_programs.sh).
SELF = os.path.join(os.path.dirname(BIN), "self")
DESCRIBED = os.path.isdir(SELF)
# A hundred times slower (scripts/test-long.sh aarch64): what looks at seconds is left out.
EMULATED = "COBRA_TESTS_INSECURE_READER" in os.environ
RESNET = os.path.join(LIBRARY, "torchvision", "models", "resnet.py")


def measures_itself():
    """Whether this cobra-worker carries LibTorch; a portable one measures through runners only."""
    described = subprocess.run([os.path.join(BIN, "cobra-worker"), "describe"], capture_output=True, text=True)
    return "carries no LibTorch" not in described.stderr


class Server:
    """A cobra-server with the shipped weights on ports of its own. Use it in a `with`."""

    def __init__(self, store, *flags, files=None, wrapper=()):
        """`files`: where its log goes, if the store is not a file. `wrapper`: a command that starts
        another one."""
        self.store = store
        self.ready = (files or store) + ".ready"
        if os.path.exists(self.ready):
            os.remove(self.ready)
        self.log_path = (files or store) + ".log"
        defaults = {
            "--listen": "127.0.0.1:0",
            "--metrics": "127.0.0.1:0",
            "--model": os.path.join(SOURCE, "model", "pretrained"),
            "--library": LIBRARY,
            "--store": store,
            "--ready-file": self.ready,
        }
        given = [part for flag, value in defaults.items() if flag not in flags for part in (flag, value)]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([*wrapper, os.path.join(BIN, "cobra-server"), *given, *flags], stderr=log)
        deadline = time.time() + 120
        while not os.path.exists(self.ready):
            if self.process.poll() is not None or time.time() > deadline:
                self.process.kill()
                raise RuntimeError("the server did not start:\n" + self.log())
            time.sleep(0.05)
        with open(self.ready) as file:
            addresses = json.load(file)
        self.address, self.metrics_address = addresses["listen"], addresses["metrics"]
        self.http_address = addresses["http"]

    def log(self):
        with open(self.log_path) as file:
            return file.read()

    def stop(self, seconds=60):
        """SIGTERM; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class ServedTest(unittest.TestCase):
    """Tests of one `server`: its first trained `target`, and a `folder` for the store and for
    models."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(cls.path("store.sqlite"))
        cls.target = first_target(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.folder.cleanup()

    @classmethod
    def path(cls, name, text=None):
        """In the folder; `text`: is written there."""
        path = os.path.join(cls.folder.name, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return path


class Answer:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def json(self):
        return json.loads(self.out)


def client(*arguments, timeout=300, cwd=None):
    """Runs cobra-client."""
    return Answer(
        subprocess.run(
            [os.path.join(BIN, "cobra-client"), *arguments], capture_output=True, text=True, timeout=timeout, cwd=cwd
        )
    )


def predict(server, *arguments, **options):
    return client("predict", *arguments, "--server", server.address, "--format", "json", **options)


def stubs():
    """The Python stubs of the published proto, generated here and now: (messages, services)."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    proto = os.path.join(SOURCE, "proto")
    files = [
        os.path.join(proto, "cobra", "v1", name + ".proto")
        for name in ("admin", "cobra", "error", "graph", "measurements", "target")
    ]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            "-I",
            proto,
            f"--python_out={folder.name}",
            f"--grpc_python_out={folder.name}",
            *files,
        ],
        check=True,
    )
    sys.path.insert(0, folder.name)
    return importlib.import_module("cobra.v1.cobra_pb2"), importlib.import_module("cobra.v1.cobra_pb2_grpc")


def measurement_stubs():
    """The same of the measurement queue."""
    stubs()
    return importlib.import_module("cobra.v1.measurements_pb2"), importlib.import_module(
        "cobra.v1.measurements_pb2_grpc"
    )


class Postgres:
    """A real PostgreSQL of a test's own, on a socket in a folder. None of it where it is not
    installed, or cannot run: installed() says so."""

    PROGRAMS = "/usr/lib/postgresql/15/bin"

    @classmethod
    def installed(cls):
        with open("/proc/self/uid_map") as file:
            users = sum(int(line.split()[2]) for line in file)
        # As root it runs as another user, who is not there in some name spaces.
        return os.path.exists(os.path.join(cls.PROGRAMS, "initdb")) and (os.geteuid() != 0 or users > 1)

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cobra-pg-")
        self.as_user = []
        if os.geteuid() == 0:  # it refuses to run as root
            import pwd

            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self.data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", self.data, "-U", "cobra", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.start()
        self.run("createdb", "-h", self.folder, "-U", "cobra", "cobra")
        self.url = f"postgresql://cobra@/cobra?host={self.folder}"

    def run(self, program, *arguments):
        subprocess.run(
            [*self.as_user, os.path.join(self.PROGRAMS, program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c shared_buffers=16MB"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.folder, "log"), "-o", options, "start")

    def stop(self, mode="immediate"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def signal_all(self, number):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            parent = file.readline().strip()
        children = subprocess.run(["pgrep", "-P", parent], capture_output=True, text=True).stdout.split()
        for process in (parent, *children):
            os.kill(int(process), number)

    def freeze(self):
        """From now on it does not answer; its connections stay open."""
        self.signal_all(signal.SIGSTOP)

    def thaw(self):
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            self.signal_all(signal.SIGCONT)

    def query(self, sql):
        return subprocess.run(
            ["psql", "-X", "-A", "-t", self.url, "-c", sql], check=True, capture_output=True, text=True
        ).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def error_detail(error):
    """The ErrorDetail in the trailer of a grpc.RpcError, or None."""
    error_pb2 = importlib.import_module("cobra.v1.error_pb2")
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = error_pb2.RpcStatus.FromString(value)
            for entry in status.details:
                detail = error_pb2.ErrorDetail()
                if entry.Unpack(detail):
                    return detail
    return None


def first_target(server):
    """A trained target of the shipped model."""
    answer = client("targets", "--server", server.address, "--format", "json")
    assert answer.code == 0, answer.err
    return next(t["spec"]["name"] for t in answer.json()["targets"] if not t["calibrated"])


def health(channel):
    """grpc.health.v1 by hand: HealthCheckResponse is one enum, field 1; 1 is SERVING, 2
    NOT_SERVING."""
    reply = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=10)
    return reply[1] if reply else 0


def metric(server, name):
    """-1 if there is none."""
    text = urllib.request.urlopen(f"http://{server.metrics_address}/metrics", timeout=10).read().decode()
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
    return float(match[1]) if match else -1


def resident_mb(process):
    """Of a subprocess, in MB."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def add_token(folder, name, role="ask"):
    """Of a new caller, in `access` of the folder, for --access."""
    path = os.path.join(folder, name + ".token")
    program = [os.path.join(BIN, "cobra-server"), "token", "--name", name, "--role", role, "--out", path]
    with open(os.path.join(folder, "access"), "a", encoding="ascii") as access:
        access.write(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def wait_until(condition, seconds=60):
    deadline = time.time() + seconds
    while not condition():
        if time.time() > deadline:
            raise AssertionError("waited too long")
        time.sleep(0.01)


def main():
    for program in ("cobra-server", "cobra-client"):
        if not os.path.exists(os.path.join(BIN, program)):
            sys.exit(f"{program} is not in {BIN}: build first")
    unittest.main(verbosity=2)
