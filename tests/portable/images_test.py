#!/usr/bin/env python3
"""scripts/build-images.sh: what is in the image, and its default command as a container runs it: not
as root, in a root file system that is read-only, with a volume for its state."""
import atexit
import functools
import glob
import gzip
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import roots

SCRIPT = os.path.join(roots.SOURCE, "scripts", "build-images.sh")
LIMIT_BYTES = 60e6
USER = 10001
STATE = "/var/lib/cobra"
LABELS = "org.opencontainers.image."
CA, TOKEN = ("--tls-ca", "credentials/server.pem"), ("--token-file", "credentials/admin.token")
SMALL_NET = """
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
    def forward(self, x):
        return self.conv(x).relu()
"""
QUESTION = ("client", "predict", "/net.py", "--entry", "Net()", "--input", "1x3x64x64", "--target", roots.TARGET)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def version():
    with open(os.path.join(roots.SOURCE, "CMakeLists.txt")) as file:
        return re.search(r"^project\(cobra VERSION ([0-9.]+)", file.read(), re.M)[1]


def commit_time(path):
    with tarfile.open(path) as tar:
        return tar.next().mtime


@functools.lru_cache(maxsize=None)
def archives():
    """That of x86-64, and those of other architectures that are of the same commit."""
    found = [os.path.join(roots.BUILT, f"cobra-{version()}-linux-{name}.tar.xz") for name in ARCHITECTURES]
    if not os.path.exists(found[0]):
        roots.skip(f"{found[0]} has not been built (scripts/build-portable.sh makes it)")
    return [path for path in found if os.path.exists(path) and commit_time(path) == commit_time(found[0])]


def build(folder):
    """What the script prints."""
    command = [SCRIPT, "--source", "https://example.org/cobra", "--out", folder, *archives()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=roots.SOURCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.lru_cache(maxsize=None)
def built():
    """A folder for all tests, and what the script printed."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder, build(folder)


class Layout:
    """An OCI layout with one index."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "index.json"), "rb") as file:
            top = json.load(file)["manifests"]
        self.index = self.json(top[0])
        self.loose = [self.json(descriptor) for descriptor in top[1:]]

    def bytes(self, descriptor):
        digest = descriptor["digest"].split(":")[1]
        with open(os.path.join(self.folder, "blobs", "sha256", digest), "rb") as file:
            content = file.read()
        assert hashlib.sha256(content).hexdigest() == digest and len(content) == descriptor["size"], descriptor
        return content

    def json(self, descriptor):
        return json.loads(self.bytes(descriptor))


class Image:
    def __init__(self, layout, architecture):
        platform = {"architecture": architecture, "os": "linux"}
        self.descriptor = next(each for each in layout.index["manifests"] if each["platform"] == platform)
        manifest = layout.json(self.descriptor)
        document = layout.json(manifest["config"])
        self.architecture, self.config = document["architecture"], document["config"]
        layers = [layout.bytes(layer) for layer in manifest["layers"]]
        self.compressed_bytes = sum(map(len, layers))
        self.tars = [tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) for layer in layers]
        self.members = {member.name: member for tar in self.tars for member in tar}
        self.unpacked_bytes = sum(member.size for member in self.members.values() if member.isfile())

    def unpack(self, folder):
        for tar in self.tars:
            tar.extractall(folder, numeric_owner=True)

    def read(self, name):
        return next(tar.extractfile(name).read() for tar in self.tars if name in tar.getnames())


class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.first, cls.printed = built()
        cls.layout = Layout(os.path.join(cls.first, version()))
        cls.images = {each["platform"]["architecture"]: None for each in cls.layout.index["manifests"]}
        for architecture in cls.images:
            cls.images[architecture] = Image(cls.layout, architecture)

    def test_the_same_archives_give_the_same_bytes(self):
        again = os.path.join(self.work, "again")
        self.assertEqual(build(again), self.printed)
        names = sorted(glob.glob(os.path.join(self.first, "*.tar")))
        self.assertEqual(len(names), len(archives()))
        for name in names:
            with open(name, "rb") as one, open(os.path.join(again, os.path.basename(name)), "rb") as other:
                self.assertEqual(hashlib.sha256(one.read()).digest(), hashlib.sha256(other.read()).digest(), name)

    def test_one_index_has_all_architectures(self):
        built = {path.rsplit("-", 1)[1].split(".")[0] for path in archives()}
        self.assertEqual(set(self.images), {ARCHITECTURES[name] for name in built})
        machines = {"amd64": 62, "arm64": 183}  # EM_X86_64, EM_AARCH64 of ELF
        for name, image in self.images.items():
            self.assertEqual(image.architecture, name)
            self.assertEqual(image.read("usr/bin/cobra")[18], machines[name])

    def test_sizes(self):
        for name, image in self.images.items():
            self.assertLess(image.compressed_bytes, LIMIT_BYTES, name)
            self.assertLess(image.unpacked_bytes, LIMIT_BYTES, name)
            megabytes = f"MB compressed, {image.unpacked_bytes / 1e6:.1f} MB unpacked"
            self.assertRegex(self.printed, f"(?m)^{name} .*{megabytes}$")

    def test_labels(self):
        for image in self.images.values():
            labels = image.config["Labels"]
            self.assertEqual(labels, self.layout.index["annotations"])
            self.assertEqual(labels[LABELS + "version"], version())
            self.assertEqual(labels[LABELS + "licenses"], "Apache-2.0")
            self.assertEqual(labels[LABELS + "source"], "https://example.org/cobra")
            self.assertTrue(labels[LABELS + "title"] and labels[LABELS + "description"])
            show = ["git", "show", "-s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd"]
            date = subprocess.run(
                [*show, labels[LABELS + "revision"]],
                capture_output=True,
                text=True,
                cwd=roots.SOURCE,
                env={**os.environ, "TZ": "UTC"},
            )
            self.assertEqual(date.stdout.strip(), labels[LABELS + "created"], date.stderr)

    def test_the_user_owns_its_state_and_nothing_else(self):
        for image in self.images.values():
            self.assertEqual(image.config["User"], f"{USER}:{USER}")
            self.assertEqual(image.config["Volumes"], {STATE: {}})
            owned = [name for name, member in image.members.items() if (member.uid, member.gid) != (0, 0)]
            self.assertEqual(owned, [STATE[1:]])
            for name, member in image.members.items():
                others = 0o1777 if name == "tmp" else 0o755
                self.assertTrue(member.issym() or member.mode & 0o7777 & ~others == 0, f"{name} {member.mode:o}")
            self.assertIn(f":{USER}:{USER}:".encode(), image.read("etc/passwd"))
            authorities = image.read("etc/ssl/certs/ca-certificates.crt")
            self.assertGreater(authorities.count(b"BEGIN CERTIFICATE"), 100)

    def test_the_bill_of_materials(self):
        bound = {manifest["subject"]["digest"]: manifest for manifest in self.layout.loose}
        validator = shutil.which("pyspdxtools") or os.path.join(roots.SOURCE, "build", "pypi", "bin", "pyspdxtools")
        for image in self.images.values():
            manifest = bound[image.descriptor["digest"]]
            self.assertEqual(manifest["artifactType"], "application/spdx+json")
            text = self.layout.bytes(manifest["layers"][0])
            self.assertEqual(text, image.read("usr/share/doc/cobra/sbom.spdx.json"))
            document = json.loads(text)
            self.assertEqual(document["spdxVersion"], "SPDX-2.3")
            listed = {(part["name"], part["versionInfo"]) for part in document["packages"]}
            rows = image.read("usr/share/doc/cobra/libraries.txt").decode().splitlines()
            self.assertGreater(len(rows), 10)
            self.assertLessEqual({tuple(row.split("\t")[:2]) for row in rows}, listed)
            names = {part["name"] for part in document["packages"]}
            self.assertLessEqual({"cobra", "ca-certificates", "glibc"}, names)
            for part in document["packages"]:
                self.assertNotEqual(part["licenseConcluded"], "NOASSERTION", part["name"])
            if os.path.exists(validator):  # of spdx-tools, which Debian 12 does not have
                path = os.path.join(self.work, "sbom.spdx.json")
                with open(path, "wb") as file:
                    file.write(text)
                checked = subprocess.run([validator, "-i", path], capture_output=True, text=True)
                self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_an_archive_to_load(self):
        for name, image in self.images.items():
            with tarfile.open(os.path.join(self.first, f"cobra-{version()}-{name}.tar")) as tar:
                loaded = json.load(tar.extractfile("manifest.json"))[0]
                self.assertEqual(loaded["RepoTags"], [f"cobra:{version()}", "cobra:latest"])
                self.assertEqual(json.load(tar.extractfile(loaded["Config"]))["config"], image.config)
                self.assertEqual(set(tar.getnames()), {"manifest.json", loaded["Config"], *loaded["Layers"]})


class ContainerTest(unittest.TestCase):
    """What a container of the image does, as cautious as can be."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.work)
        image = Image(Layout(os.path.join(built()[0], version())), "amd64")
        cls.root = os.path.join(cls.work, "root")
        image.unpack(cls.root)
        os.chmod(cls.root, 0o755)
        cls.config = image.config
        cls.environment = dict(line.split("=", 1) for line in cls.config["Env"])

    def setUp(self):
        self.container = roots.Inside(self.root, tmp=None)
        self.addCleanup(self.container.__exit__)
        self.container.volume_at(STATE, owner=USER)
        self.container.write("/net.py", SMALL_NET)
        self.container.write("/etc/hosts", "127.0.0.1 localhost\n")  # as every engine does
        self.container.make_read_only()

    def options(self):
        return {"user": USER, "cwd": self.config["WorkingDir"], "environment": dict(self.environment)}

    def run_inside(self, *words):
        return self.container.run(*self.config["Entrypoint"], *words, **self.options())

    def health(self):
        kind, *check = self.config["Healthcheck"]["Test"]
        self.assertEqual(kind, "CMD")
        return self.container.run(*check, **self.options())

    def start(self, *command):
        log = STATE + "/log"
        pid = self.container.start(*self.config["Entrypoint"], *command, log=log, **self.options())
        serves = roots.wait_for(lambda: self.health().code == 0)
        self.assertTrue(serves, self.container.read(log).decode())
        return pid

    def test_the_default_command(self):
        self.assertNotEqual(self.health().code, 0)
        pid = self.start(*self.config["Cmd"])
        answer = self.health()
        self.assertEqual(answer.out, "SERVING\n", answer.err)
        for host in ("localhost:50051", "127.0.0.1:50051"):
            server = ("--server", host)
            answer = self.run_inside(*QUESTION, *server, *CA, *TOKEN)
            self.assertEqual(answer.code, 0, answer.err)
            self.assertIn(roots.TARGET, answer.out)
            self.assertEqual(self.run_inside("client", "model", *server, *CA).code, 2, "without a token")
            self.assertEqual(self.run_inside("client", "model", *server).code, 3, "without TLS")
        # Metrics are for this container only, until a flag opens them.
        self.assertEqual(self.run_inside("server", "health", "--metrics", "127.0.0.1:9464").code, 0)
        self.assertIn("metrics on http://127.0.0.1:9464", self.container.read(STATE + "/log").decode())
        self.assertEqual(self.container.end(pid), 0)
        self.assertNotEqual(self.health().code, 0)
        # The next start has the same credentials.
        token = self.container.read(STATE + "/credentials/admin.token")
        self.start(*self.config["Cmd"])
        self.assertEqual(self.container.read(STATE + "/credentials/admin.token"), token)

    def test_a_question_without_a_server(self):
        answer = self.run_inside(*QUESTION)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn(roots.TARGET, answer.out)

    @unittest.skipUnless(importlib.util.find_spec("yaml"), "python3-yaml is not installed")
    def test_the_command_of_compose(self):
        import yaml

        with open(os.path.join(roots.SOURCE, "deploy", "compose.yaml")) as file:
            server = yaml.safe_load(file)["services"]["server"]
        pid = self.start(*server["command"])
        answer = self.run_inside("client", "model", "--server", "localhost:50051", *CA, *TOKEN)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("metrics on http://0.0.0.0:9464", self.container.read(STATE + "/log").decode())
        self.assertEqual(self.container.end(pid), 0)
        self.assertEqual(server["healthcheck"]["test"], self.config["Healthcheck"]["Test"])
        self.assertEqual((server["read_only"], server["cap_drop"]), (True, ["ALL"]))
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in server["ports"]), server["ports"])
        for command in (server["command"], self.config["Cmd"]):
            self.assertNotIn("--insecure", command)


if __name__ == "__main__":
    roots.need_root()
    if shutil.which("buildah") is None:
        roots.skip("buildah is not installed")
    archives()
    unittest.main(verbosity=2)
