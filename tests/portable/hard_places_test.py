#!/usr/bin/env python3
"""The portable programs where something is missing that most machines have: a home, /proc, seccomp,
memory, a new kernel, a place for temporary files. Each place works, or the error says what is
missing."""
import errno
import os
import shutil
import sys
import tempfile
import unittest

import roots

LAYER = tempfile.mkdtemp()
CLIENT = "/opt/cobra/bin/cobra-client"
USER = 4711
MEMORY_BYTES = 512 << 20


def memory_group():
    """A new group that may use 512 MB, or nothing where groups cannot be made."""
    for base in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        folder = os.path.join(base, f"cobra-{os.getpid()}")
        try:
            os.mkdir(folder)
            for name in ("memory.limit_in_bytes", "memory.max"):
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    with open(path, "w") as file:
                        file.write(str(MEMORY_BYTES))
                    return folder
            os.rmdir(folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EROFS, errno.EACCES, errno.EPERM):
                raise
    return None


class HardPlaces(unittest.TestCase):
    def assert_answers(self, inside, questions=slice(0, 2), **options):
        for question, expected in list(zip(QUESTIONS, EXPECTED))[questions]:
            with self.subTest(question=question[1]):
                roots.check(self, inside.run(CLIENT, *question, cwd="/work", **options), expected)

    def assert_says(self, answer, *words):
        self.assertIn(answer.code, (1, 2, 3), answer.err)
        for word in words:
            self.assertIn(word, answer.err)

    def test_home_that_is_read_only(self):
        with roots.Inside(LAYER) as inside:
            inside.folder_at("/home/ada", mode=0o555)
            self.assert_answers(inside, user=USER, environment={"HOME": "/home/ada"})

    def test_home_that_is_not_there(self):
        with roots.Inside(LAYER) as inside:
            self.assert_answers(inside, user=USER, environment={"HOME": "/nonexistent"})

    def test_home_unset(self):
        with roots.Inside(LAYER) as inside:
            self.assert_answers(inside, user=USER, environment={"HOME": None})

    def test_empty_environment(self):
        with roots.Inside(LAYER) as inside:
            self.assert_answers(inside, environment={"HOME": None, "PATH": None})

    def test_without_proc(self):
        with roots.Inside(LAYER, proc=False) as inside:
            self.assert_answers(inside)
            self.assert_answers(inside, user=USER, environment={"HOME": "/tmp"})

    def test_without_devices(self):
        with roots.Inside(LAYER, dev=False) as inside:
            self.assert_answers(inside)

    def test_temporary_folder_without_execution(self):
        with roots.Inside(LAYER, tmp="noexec") as inside:
            self.assert_answers(inside, user=USER, environment={"HOME": "/tmp"})

    def test_temporary_folder_that_is_read_only(self):
        """A home is enough."""
        with roots.Inside(LAYER, tmp=None) as inside:
            inside.folder_at("/tmp", mode=0o555)
            inside.folder_at("/home/ada", owner=USER)
            self.assert_answers(inside, user=USER, environment={"HOME": "/home/ada"})

    def test_no_place_to_write(self):
        with roots.Inside(LAYER, tmp=None) as inside:
            inside.folder_at("/tmp", mode=0o555)
            inside.make_read_only()
            answer = inside.run(CLIENT, *QUESTIONS[1], cwd="/work", user=USER, environment={"HOME": None})
            self.assert_says(answer, "XDG_RUNTIME_DIR")

    def test_read_only_root(self):
        """As a container with a read-only root file system and a /tmp in memory."""
        with roots.Inside(LAYER) as inside:
            inside.folder_at("/home/ada", owner=USER)
            inside.make_read_only()
            self.assert_answers(inside, user=USER, environment={"HOME": "/home/ada"})

    def test_without_user_namespaces(self):
        with roots.Inside(LAYER) as inside:
            self.assert_answers(inside, refused=roots.without_user_namespaces())

    def test_without_seccomp(self):
        """Readers cannot be confined there: a server says so, and reads with --insecure."""
        with roots.Inside(LAYER) as inside:
            answer = inside.run(CLIENT, *QUESTIONS[0], cwd="/work", refused=roots.without_seccomp())
            self.assert_says(answer, "seccomp", "--insecure")

    def test_linux_4_18(self):
        with roots.Inside(LAYER) as inside:
            self.assert_answers(inside, refused=roots.as_linux_4_18())

    def test_512_megabytes(self):
        group = memory_group()
        if group is None:
            self.skipTest("groups with a limit of memory cannot be made here")
        try:
            with roots.Inside(LAYER, cgroup=group) as inside:
                self.assert_answers(inside)
                self.assertEqual(self.killed(group), 0)
                print(f"memory: {self.peak(group) >> 20} MB at most, of 512", file=sys.stderr)
        finally:
            os.rmdir(group)

    @staticmethod
    def peak(group):
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            path = os.path.join(group, name)
            if os.path.exists(path):
                with open(path) as file:
                    return int(file.read())
        return 0

    @staticmethod
    def killed(group):
        for name in ("memory.oom_control", "memory.events"):
            path = os.path.join(group, name)
            if os.path.exists(path):
                with open(path) as file:
                    words = file.read().split()
                return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0
        return 0

    def test_old_processor(self):
        """Without AVX. What is emulated is one process, the server, which predicts. The larger networks
        take minutes there: old_machine.py has them."""
        qemu = shutil.which("qemu-x86_64-static")
        if qemu is None:
            self.skipTest("qemu-x86_64-static is missing (apt install qemu-user-static)")
        with roots.Inside(LAYER) as inside:
            inside.copy(qemu, "/qemu", mode=0o755)
            program = ["/qemu", "-cpu", "Nehalem", "-0", "/opt/cobra/bin/cobra-server", "/opt/cobra/bin/cobra-server"]
            roots.serve(inside, "127.0.0.1:50072", program=program, seconds=300)
            for question, expected in list(zip(QUESTIONS, EXPECTED))[2:]:
                asked = (CLIENT, *question, "--server", "127.0.0.1:50072", "--deadline-s", "300")
                with self.subTest(question=question[1]):
                    roots.check(self, inside.run(*asked, cwd="/work", timeout=400), expected)


roots.archive()
roots.need_root()

if __name__ == "__main__":
    try:
        roots.unpack(LAYER)
        QUESTIONS = roots.make_models(os.path.join(LAYER, "work"))
        EXPECTED = roots.ordinary_answers(QUESTIONS, os.path.join(LAYER, "work"))
        result = unittest.main(exit=False).result
    finally:
        shutil.rmtree(LAYER)
    sys.exit(not result.wasSuccessful())
