#!/usr/bin/env python3
"""The wheel that carries the portable programs, installed as pip installs it. Needs what
scripts/build-portable.sh makes for this machine."""
import base64
import functools
import glob
import hashlib
import json
import os
import platform
import shutil
import sys
import tarfile
import unittest
import zipfile

import support

sys.path.insert(0, os.path.dirname(support.BACKEND))
import build_backend  # noqa: E402

NAME = f"cobra-{build_backend.VERSION}-linux-{platform.machine()}"
PORTABLE = os.path.join(support.ROOT, "build", "portable", NAME + ".tar.xz")
INFO = f"cobra_latency-{build_backend.VERSION}.dist-info"
DATA = f"cobra_latency-{build_backend.VERSION}.data"
MOST_BYTES = 30_000_000
NET = os.path.join(support.ROOT, "examples", "convnet.py")
ENTRY, INPUT, TARGET = "ConvNet(ConvNetConfig.named('s'))", "1x3x192x192", "cpu-epyc-genoa-1t"


@functools.lru_cache()
def the_wheel():
    return support.build("wheel", "--portable", PORTABLE)


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheel = the_wheel()
        cls.archive = zipfile.ZipFile(cls.wheel)
        cls.addClassCleanup(cls.archive.close)

    def test_the_same_bytes(self):
        folder = support.path("unpacked")
        with tarfile.open(PORTABLE) as archive:
            archive.extractall(folder)
        for name, programs in (("again", PORTABLE), ("of-folder", os.path.join(folder, NAME))):
            built = support.build(name, "--portable", programs)
            self.assertTrue(support.content(built) == support.content(self.wheel), programs)
        self.assertLess(os.path.getsize(self.wheel), MOST_BYTES)

    def test_its_name_says_what_it_needs(self):
        name = os.path.basename(self.wheel)[: -len(".whl")]
        machine = platform.machine()
        platforms = f"manylinux2014_{machine}.manylinux_2_17_{machine}.musllinux_1_1_{machine}"
        self.assertEqual(name, f"cobra_latency-{build_backend.VERSION}-py3-none-{platforms}")
        said = self.archive.read(f"{INFO}/WHEEL").decode()
        self.assertIn("Root-Is-Purelib: false\n", said)
        for tag in platforms.split("."):
            self.assertIn(f"Tag: py3-none-{tag}\n", said)

    def test_the_list_of_its_files(self):
        listed = self.archive.read(f"{INFO}/RECORD").decode().splitlines()
        self.assertEqual([line.rpartition(",")[0].rpartition(",")[0] for line in listed], self.archive.namelist())
        for line in listed[:-1]:
            path, digest, size = line.rsplit(",", 2)
            data = self.archive.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), ("sha256=" + expected, len(data)), path)

    def test_its_files(self):
        modes = {entry.filename: entry.external_attr >> 16 for entry in self.archive.infolist()}
        executable = f"{DATA}/scripts/cobra-client"
        self.assertEqual({path for path, mode in modes.items() if mode != 0o100644}, {executable})
        self.assertEqual(modes[executable], 0o100755)
        wanted = {"model/pretrained/manifest.json", "data/devices/gpus.csv", "worker/runners/runner_loop.py"}
        self.assertEqual({path for path in wanted if f"{DATA}/data/share/cobra/{path}" not in modes}, set())
        with zipfile.ZipFile(support.build("pure")) as pure:
            ours = set(pure.namelist())
            self.assertEqual(pure.read(f"{INFO}/METADATA"), self.archive.read(f"{INFO}/METADATA"))
        self.assertLessEqual(ours, set(modes))
        self.assertNotIn(f"{INFO}/entry_points.txt", ours)  # they would hide a cobra-server of the machine
        more = {path for path in set(modes) - ours if not path.startswith((f"{DATA}/", f"{INFO}/licenses/"))}
        self.assertEqual(more, {f"{INFO}/entry_points.txt"})

    def test_licences_of_what_is_linked_into_it(self):
        libraries = self.archive.read(f"{INFO}/licenses/libraries.txt").decode()
        for line in libraries.splitlines():
            self.assertTrue(self.archive.read(f"{INFO}/licenses/licences/{line.split(chr(9))[2]}"), line)
        self.assertIn("glibc", libraries)


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pure = support.build("index")
        cls.wheels = os.path.dirname(cls.pure)
        shutil.copy(the_wheel(), cls.wheels)
        cls.environment = support.Environment("env")
        cls.before = cls.environment.files()
        # Of two wheels of one version pip takes the one that is for fewer machines.
        cls.environment.pip("install", "--find-links", cls.wheels, "cobra-latency")
        cls.program = (
            "import cobra_latency as c; client = c.local(libraries=[]);"
            f"answer = client.predict(c.Source({NET!r}, {ENTRY!r}), {INPUT!r}, {TARGET!r});"
            "print(client.was_started, answer.ms)"
        )
        cls.addClassCleanup(cls.stop_server)

    @classmethod
    def stop_server(cls):
        cls.environment.bin("python", "-c", "import cobra_latency; cobra_latency.local(libraries=[]).stop_server()")

    def test_programs(self):
        for command in (["cobra-client"], ["python", "-m", "cobra_latency"], ["cobra-server"], ["cobra-worker"]):
            with self.subTest(command):
                self.assertEqual(self.environment.bin(*command, "--version").split()[-1], build_backend.VERSION)
        file = support.content(os.path.join(self.environment.folder, "bin", "cobra-client"))
        self.assertEqual(file[:4], b"\x7fELF")  # it starts without Python

    def test_one_server_answers_the_client_and_python(self):
        answers = []
        question = ["predict", NET, "--entry", ENTRY, "--input", INPUT, "--target", TARGET, "--format", "json"]
        for command in (["cobra-client"], ["python", "-m", "cobra_latency"]):
            said = self.environment.bin(*command, *question)
            answers.append(json.loads(said)["predictions"][0]["latency_us"] / 1000)
        was_started, answer = self.environment.bin("python", "-c", self.program).split()
        self.assertEqual(was_started, "False")
        self.assertEqual({round(float(ms), 3) for ms in answers}, {round(float(answer), 3)})

    def test_a_machine_without_proc(self):
        """The model is read in a confined process of the server, which limits its own memory."""
        unshared = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        try:
            support.run(*unshared, "true")
        except (AssertionError, FileNotFoundError) as error:
            self.skipTest(f"/proc cannot be hidden here: {error}")
        folder = support.path("without-proc")
        os.makedirs(folder, mode=0o700)
        python = os.path.join(self.environment.folder, "bin", "python")
        program = f"try:\n    {self.program}\nfinally:\n    client.stop_server()"
        hidden = support.run(*unshared, python, "-c", program, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder)
        started, answer = hidden.split()
        self.assertEqual((started, answer), ("True", self.environment.bin("python", "-c", self.program).split()[1]))

    def test_other_ways_to_install(self):
        wheel = the_wheel()
        target, prefix = support.path("target"), support.path("prefix")
        self.environment.pip("install", "--no-deps", "--target", target, wheel)
        self.environment.pip("install", "--no-deps", "--ignore-installed", "--prefix", prefix, wheel)
        home = support.path("user")
        pip = [sys.executable, "-m", "pip", "--quiet", "install", "--user", "--break-system-packages"]
        support.run(*pip, "--no-index", "--no-deps", "--ignore-installed", wheel, HOME=home, XDG_STATE_HOME="")
        program = "from cobra_latency import programs; print(programs.find('cobra-server').file)"
        (libraries,) = glob.glob(os.path.join(prefix, "**", "*-packages"), recursive=True)
        for folder, environment in (
            (target, {"PYTHONPATH": target}),
            (prefix, {"PYTHONPATH": libraries}),
            (home, {"HOME": home}),
        ):
            with self.subTest(folder):
                file = support.run(sys.executable, "-c", program, PATH="/usr/bin:/bin", **environment).strip()
                self.assertTrue(file.startswith(os.path.realpath(folder) + os.sep), file)
                self.assertEqual(support.run(file, "--version").split()[-1], build_backend.VERSION)

    def test_the_other_wheel_over_it_and_back(self):
        environment = support.Environment("changing")
        before = environment.files()
        for wheel, has_programs in ((the_wheel(), True), (self.pure, False), (the_wheel(), True)):
            environment.pip("install", "--no-deps", "--force-reinstall", wheel)
            found = [
                os.path.exists(os.path.join(environment.folder, "bin", f"cobra-{name}"))
                for name in ("client", "server")
            ]
            self.assertEqual(found, [has_programs] * 2, wheel)
            environment.bin("python", "-c", "import cobra_latency")
        environment.pip("uninstall", "--yes", "cobra-latency")
        self.assertEqual(environment.files(), before)
        self.assertFalse(os.path.exists(os.path.join(environment.folder, "share", "cobra")))


if __name__ == "__main__":
    if not os.path.exists(PORTABLE):
        support.skip(f"build/portable/{NAME}.tar.xz is not there (scripts/build-portable.sh)")
    support.require("grpc", "google.protobuf", "venv", "ensurepip")
    support.main()
