#!/usr/bin/env python3
"""The source distribution, and what build_backend.py refuses. Needs no programs."""
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


class RefusedTest(unittest.TestCase):
    def refused(self, folder, executable, why):
        os.makedirs(os.path.join(support.path(folder), "bin"))
        shutil.copytree(os.path.join(support.ROOT, "data", "devices"), support.path(folder, "share", "cobra", "data"))
        support.write(os.path.join(folder, "bin", "cobra"), "")
        shutil.copyfile(executable, support.path(folder, "bin", "cobra"))
        os.makedirs(support.path(folder, "share", "doc", "cobra"))
        support.write(os.path.join(folder, "share", "doc", "cobra", "libraries.txt"), "none\n")
        with self.assertRaisesRegex(AssertionError, f"^/.*{folder}: {why}"):
            support.build("refused-" + folder, "--portable", support.path(folder))

    def test_an_executable_that_needs_a_c_library(self):
        self.refused(NAME, os.path.realpath("/bin/true"), "bin/cobra needs the loader of a C library")

    def test_what_is_not_for_that_processor(self):
        other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
        name = f"cobra-{build_backend.VERSION}-linux-{other}"
        self.refused(name, os.path.realpath("/bin/true"), f"bin/cobra is for {platform.machine()}")

    def test_what_is_not_there_or_not_called_so(self):
        for name, why in (("cobra-1.0-linux-x86_64", "is not there"), ("cobra.zip", "is not called cobra-VERSION")):
            with self.assertRaisesRegex(AssertionError, f"^/.*{name}: {why}"):
                support.build("refused-" + name, "--portable", support.path(name))


class SourceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.source = support.build("source", "--sdist")
        with tarfile.open(cls.source) as archive:
            cls.names = archive.getnames()
            archive.extractall(support.path("tree"))
        cls.folder = support.path("tree", f"cobra_latency-{build_backend.VERSION}")

    def test_the_same_bytes(self):
        self.assertTrue(support.content(support.build("source-again", "--sdist")) == support.content(self.source))
        backend = os.path.join(self.folder, "client", "python", "build_backend.py")
        os.makedirs(support.path("source-of-it"))
        name = support.run(sys.executable, "-B", backend, "--sdist", support.path("source-of-it")).strip()
        self.assertTrue(support.content(support.path("source-of-it", name)) == support.content(self.source))

    def test_a_wheel_of_it_needs_nothing_but_python(self):
        """pip's hooks, without protoc and without an index."""
        environment = support.Environment("building")
        wheels = support.path("built")
        environment.pip("wheel", "--no-deps", "--wheel-dir", wheels, self.source, PATH="/nowhere")
        (wheel,) = os.listdir(wheels)
        self.assertEqual(support.content(os.path.join(wheels, wheel)), support.content(support.build("pure-of-tree")))

    def test_it_has_what_cmake_reads(self):
        """A build would take a quarter of an hour: of a file that is missing cmake says so at
        once."""
        if shutil.which("cmake") is None:
            self.skipTest("cmake is not installed (scripts/setup.sh)")
        support.run("cmake", "-S", self.folder, "--preset", "release", "-Wno-dev", "-DCOBRA_TESTS=OFF")
        for path in (
            "scripts/build-portable.sh",
            "scripts/setup.sh",
            "portable/main.cc",
            "model/pretrained/manifest.json",
        ):
            self.assertTrue(os.path.exists(os.path.join(self.folder, path)), path)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "data", "measurements")))


class RecipeTest(unittest.TestCase):
    def test_it_is_of_this_version(self):
        recipe = support.content(os.path.join(os.path.dirname(support.BACKEND), "conda", "recipe.yaml")).decode()
        self.assertIn(f'version: "{build_backend.VERSION}"\n', recipe)


class SettingsTest(unittest.TestCase):
    def test_a_setting_that_is_none(self):
        with self.assertRaisesRegex(ValueError, "program: is not a setting; programs=yes"):
            build_backend.build_wheel(support.path(), {"program": "yes"})

    def test_a_time_for_all_files(self):
        os.makedirs(support.path("dated"))
        name = support.run(
            sys.executable, support.BACKEND, support.path("dated"), SOURCE_DATE_EPOCH="1700000000"
        ).strip()
        with zipfile.ZipFile(support.path("dated", name)) as wheel:
            self.assertEqual({entry.date_time for entry in wheel.infolist()}, {(2023, 11, 14, 22, 13, 20)})


if __name__ == "__main__":
    support.require("venv", "ensurepip")
    if shutil.which("protoc") is None:
        support.skip("protoc is not installed")
    support.main()
