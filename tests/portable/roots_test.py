#!/usr/bin/env python3
"""The portable archive and the wheel in other distributions: unpacked or installed there with what
the distribution has, asked, compared byte for byte with the ordinary build. A root that
scripts/portable-roots.sh has not made is not tried."""
import os
import shutil
import sys
import tempfile
import unittest

import roots

ARCHIVE = roots.archive()
LAYER = tempfile.mkdtemp()
SERVED = "cobra-client: started a server"


class Root:
    """One file system; the name of the class's test is the root's."""

    name = ""

    def enter(self, **conditions):
        return roots.Inside(LAYER, os.path.join(roots.ROOTS, self.name), **conditions)

    def assert_same_answers(self, inside, client, **options):
        for question, expected in zip(QUESTIONS, EXPECTED):
            with self.subTest(question=question[1]):
                roots.check(self, inside.run(*client, *question, cwd="/work", **options), expected)

    def test_archive(self):
        with self.enter() as inside:
            if self.name == "empty":
                folder = "/opt/cobra/bin"
            else:
                folder = roots.install(inside)[0]
            self.assert_same_answers(inside, [folder + "/cobra-client"])
            self.assert_same_answers(inside, [folder + "/cobra", "client"])

    def test_relative_path(self):
        """As somebody calls it who has just unpacked it."""
        with self.enter() as inside:
            answer = inside.run(
                "bin/cobra-client", "predict", "/work/net.onnx", "--target", roots.TARGET, cwd="/opt/cobra"
            )
            self.assertEqual(
                (answer.code, answer.out_bytes), (0, EXPECTED[1].replace(b"net.onnx", b"/work/net.onnx")), answer.err
            )

    def test_nobody(self):
        """A user of whom the system knows nothing, without a locale, without files of time zones."""
        with self.enter() as inside:
            inside.folder_at("/tmp/home", owner=4711)
            environment = {"HOME": "/tmp/home", "LANG": "xx_YY.UTF-8", "TZ": "Europe/Nowhere"}
            self.assert_same_answers(inside, ["/opt/cobra/bin/cobra-client"], user=4711, environment=environment)

    def test_worker(self):
        with self.enter() as inside:
            for program in ("cobra-worker", "cobra-server", "cobra-reader"):
                answer = inside.run("/opt/cobra/bin/" + program, "--version")
                self.assertEqual(answer.code, 0, answer.err)
            answer = inside.run("/opt/cobra/bin/cobra-worker", "describe")
            self.assertEqual(answer.code, 2, answer.err)
            self.assertIn("--runner", answer.err)  # it measures with the user's own PyTorch


class PythonRoot(Root):
    def test_wheel(self):
        if roots.wheel() is None:
            self.skipTest("no platform wheel in " + roots.BUILT)
        with self.enter() as inside:
            folder = roots.install_wheel(inside, self.name)[0]
            self.assert_same_answers(inside, [folder + "cobra-client"])
            for program in ("cobra-server", "cobra-worker"):
                answer = inside.run(folder + program, "--version")
                self.assertEqual(answer.code, 0, answer.err)
            program = (
                "import cobra_latency\n"
                "with cobra_latency.local() as client:\n"
                "    source = cobra_latency.Source('/work/examples/gpt.py', 'GPT(GPTConfig(layers=6))')\n"
                "    ms = client.predict(source, '1x256:int64', 'cpu-epyc-genoa-1t').ms\n"
                "print(f'predicted {ms:.3f} ms')\n"
            )
            answer = inside.run(folder + "python3", "-c", program)
            self.assertEqual(answer.code, 0, answer.err)
            self.assertIn(answer.out.strip().encode(), EXPECTED[0])
            answer = inside.run(folder + "python3", "-m", "cobra_latency", *QUESTIONS[1], cwd="/work")
            roots.check(self, answer, EXPECTED[1])


def add_cases():
    for name in roots.names_of_roots():
        base = PythonRoot if roots.has_python(name) else Root
        label = name.title().replace("-", "")
        globals()[label] = type(label, (base, unittest.TestCase), {"name": name})


roots.need_root()
add_cases()

if __name__ == "__main__":
    try:
        roots.unpack(LAYER)
        QUESTIONS = roots.make_models(os.path.join(LAYER, "work"))
        EXPECTED = roots.ordinary_answers(QUESTIONS, os.path.join(LAYER, "work"))
        result = unittest.main(exit=False).result
    finally:
        shutil.rmtree(LAYER)
    sys.exit(not result.wasSuccessful())
