#!/usr/bin/env python3
"""The list of libraries in the portable programs: all have a version, a licence that SPDX knows and
its text, and no text names another one that is not beside it."""
import os
import platform
import re
import subprocess
import sys
import tempfile
import unittest

import roots

sys.path.insert(0, os.path.join(roots.SOURCE, "docker"))
import sbom  # noqa: E402

LINKED = os.path.join(roots.BIN, "cobra.libraries")
NAMED = re.compile(r"/usr/share/common-licenses/([\w.+-]*\w)")


class Licences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = os.path.join(folder.name, "licences")
        os.mkdir(cls.folder)
        program = os.path.join(roots.SOURCE, "portable", "list_libraries.py")
        subprocess.run([sys.executable, program, LINKED, "x86_64-linux-gnu", folder.name], check=True)
        with open(os.path.join(folder.name, "libraries.txt")) as file:
            cls.rows = [line.rstrip("\n").split("\t") for line in file]

    def text(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def test_each_library_has_a_licence(self):
        self.assertGreater(len(self.rows), 20)
        for name, version, source, licences in self.rows:
            self.assertTrue(name and version and licences, source)
            self.assertIn(source, sbom.LICENCES)
            self.assertGreater(len(self.text(source)), 500, source)

    def test_each_text_that_another_one_names(self):
        texts = [name for name in os.listdir(self.folder) if name != "common-licenses"]
        self.assertIn("notices.txt", texts)
        named = {name for text in texts for name in NAMED.findall(self.text(text))}
        self.assertLess({"Apache-2.0", "LGPL-2.1"}, named)
        self.assertEqual(named, set(os.listdir(os.path.join(self.folder, "common-licenses"))))

    def test_licences_of_our_own_names_have_their_text(self):
        used = {name for licence in sbom.LICENCES.values() for name in re.findall(r"LicenseRef-[\w.-]+", licence)}
        self.assertEqual(used, {entry["licenseId"] for entry in sbom.OTHER_LICENCES})


if __name__ == "__main__":
    if platform.machine() != "x86_64" or not os.path.exists(LINKED):
        roots.skip(f"{LINKED} is not there: scripts/build-portable.sh makes it")
    unittest.main(verbosity=2)
