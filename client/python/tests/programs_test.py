#!/usr/bin/env python3
"""Which programs the package finds, and how it becomes them: with a script in place of the
executable that wheels carry. wheel_test.py has the real one."""
import hashlib
import os
import shutil
import subprocess
import sys
import unittest

import support

support.stage()
import cobra_latency  # noqa: E402
from cobra_latency import programs  # noqa: E402

# Says by which name it was started, with what, and which signals it ignores.
ECHO = """#!/bin/sh
echo "$0 $*"
grep SigIgn /proc/self/status
exit 5
"""
SIGPIPE_AND_SIGXFSZ = 1 << 12 | 1 << 24


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = support.path(self.id())
        self.package = os.path.join(self.folder, "lib", "python3", "site-packages")
        shutil.copytree(support.path("package"), self.package)

    def install(self, path, listed="../../../bin/cobra-client"):
        """The script, and the list of files that an installer writes."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(ECHO)
        os.chmod(path, 0o755)
        if listed:
            info = os.path.join(self.package, f"cobra_latency-{cobra_latency.__version__}.dist-info")
            os.makedirs(info)
            with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as file:
                file.write("Metadata-Version: 2.1\nName: cobra-latency\nVersion: 1\n")
            with open(os.path.join(info, "RECORD"), "w", encoding="utf-8") as file:
                file.write(f"{listed},sha256={hashlib.sha256(ECHO.encode()).hexdigest()},{len(ECHO)}\n")
        return path

    def start(self, *arguments, path="/usr/bin:/bin", **options):
        environment = {**support.environment(self.package), "PATH": path}
        return subprocess.run(
            [sys.executable, *arguments], env=environment, cwd="/", capture_output=True, text=True, **options
        )

    def carried(self):
        done = self.start("-c", "from cobra_latency import programs; print(programs.carried())")
        return os.path.realpath(done.stdout.strip()), done.stderr

    def test_becomes_the_client(self):
        path = self.install(os.path.join(self.folder, "bin", "cobra-client"))
        done = self.start("-m", "cobra_latency", "predict", "a net.py", "--help")
        self.assertEqual(done.returncode, 5, done.stderr)
        said, signals = done.stdout.splitlines()
        self.assertEqual(said, f"{path} predict a net.py --help")
        self.assertEqual(int(signals.split()[1], 16) & SIGPIPE_AND_SIGXFSZ, 0)

    def test_becomes_the_server_of_its_own_wheel_only(self):
        program = "import sys; from cobra_latency import programs; sys.argv[0] = 'cobra-server'; programs.server()"
        self.install(os.path.join(self.folder, "elsewhere", "cobra-server"), listed=None)
        done = self.start("-c", program, "--version", path=os.path.join(self.folder, "elsewhere"))
        self.assertEqual(done.returncode, 127)
        self.assertIn("cobra-server: the program cobra-client of this installation is gone", done.stderr)
        self.install(os.path.join(self.folder, "bin", "cobra-client"))
        self.assertEqual(self.start("-c", program, "--version").returncode, 5)

    def test_the_installers_list_says_where_it_is(self):
        path = self.install(os.path.join(self.folder, "bin", "cobra-client"))
        self.assertEqual(self.carried(), (path, ""))

    def test_of_another_size_it_is_not_ours(self):
        path = self.install(os.path.join(self.folder, "bin", "cobra-client"))
        with open(path, "a", encoding="utf-8") as file:
            file.write("# changed\n")
        self.assertEqual(os.path.basename(self.carried()[0]), "None")

    def test_pip_target_has_moved_it(self):
        path = self.install(os.path.join(self.package, "bin", "cobra-client"), listed="../../bin/cobra-client")
        self.assertEqual(self.carried(), (path, ""))

    def test_on_path_without_programs_of_its_own(self):
        path = self.install(os.path.join(self.folder, "elsewhere", "cobra-client"), listed=None)
        done = self.start("-m", "cobra_latency", "targets", path=f"{os.path.dirname(path)}:/usr/bin:/bin")
        self.assertEqual(done.stdout.splitlines()[0], f"{path} targets")

    def test_nothing_is_found(self):
        done = self.start("-m", "cobra_latency", "check", path="/nowhere")
        self.assertEqual(done.returncode, 127)  # not one of cobra-client's: a check did not fail
        self.assertRegex(
            done.stderr, "^cobra-client: is not on PATH, and this installation .* carries no programs\nhint: "
        )
        done = self.start("-c", "import cobra_latency; cobra_latency.local()", path="/nowhere")
        self.assertIn("ServerUnavailable: cobra-server: is not on PATH, and this installation", done.stderr)

    def test_what_cannot_run_is_an_error_that_names_it(self):
        path = self.install(os.path.join(self.folder, "bin", "cobra-client"))
        with open(path, "r+", encoding="utf-8") as file:  # of the same size, for no processor
            file.write("\x7fELF")
        done = self.start("-m", "cobra_latency")
        self.assertEqual(done.returncode, 126)
        self.assertRegex(done.stderr, f"^{path}: cannot be started: .*\nhint: ")

    def test_programs_need_no_other_package(self):
        """As `pip install --no-deps` leaves it, and as they start without importing gRPC."""
        self.install(os.path.join(self.folder, "bin", "cobra-client"))
        for module, code in (("cobra_latency", 5), ("cobra_latency.comment", 0)):
            program = (
                "import runpy, sys; sys.modules.update({'grpc': None, 'google.protobuf': None, 'torch': None});"
                f"sys.argv[1:] = ['--help']; runpy.run_module({module!r}, run_name='__main__')"
            )
            done = self.start("-c", program)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_windows_imports_it_too(self):
        done = self.start("-c", "import sys; sys.modules['fcntl'] = None; import cobra_latency; cobra_latency.local")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_hints_for_other_systems(self):
        self.assertIn("--force-reinstall", programs.where_to_get_them("Linux", "aarch64"))
        self.assertIn("aarch64.whl", programs.where_to_get_them("Linux", "aarch64"))
        self.assertIn("Client(", programs.where_to_get_them("Linux", "riscv64"))
        self.assertIn("Client(", programs.where_to_get_them("Windows", "AMD64"))


if __name__ == "__main__":
    support.main()
