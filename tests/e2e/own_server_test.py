#!/usr/bin/env python3
"""`cobra-client` without a server: it starts one for the user, two clients get one, another
version's is replaced, and where it must not start one it does not."""
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import programs

CONVNET = os.path.join(programs.SOURCE, "examples", "convnet.py")
QUESTION = ("predict", CONVNET, "--entry", "ConvNet(ConvNetConfig.named('s'))", "--input", "1x3x192x192")
TARGET = "cpu-epyc-genoa-1t"
STARTED = "started a server for this user"


def somebody_listens():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", 50051)) == 0


class OwnServer(unittest.TestCase):
    def setUp(self):
        if somebody_listens():
            print("a server listens at the default address: skipped", file=sys.stderr)
            sys.exit(77)
        self.home = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.home, "run"), 0o700)
        # Programs of its own, so that another version can be made of them.
        self.prefix = os.path.join(self.home, "prefix")
        os.makedirs(os.path.join(self.prefix, "bin"))
        os.makedirs(os.path.join(self.prefix, "share", "cobra"))
        for name in ("cobra-server", "cobra-client", "cobra-reader"):
            shutil.copy2(os.path.join(programs.BIN, name), os.path.join(self.prefix, "bin", name))
        shutil.copytree(
            os.path.join(programs.SOURCE, "model", "pretrained"),
            os.path.join(self.prefix, "share/cobra/model/pretrained"),
        )
        self.environment = dict(os.environ, HOME=self.home, XDG_RUNTIME_DIR=os.path.join(self.home, "run"))
        for name in ("XDG_STATE_HOME", "COBRA_SERVER"):
            self.environment.pop(name, None)

    def tearDown(self):
        for pid in self.servers():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home)

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [os.path.join(self.prefix, "bin", "cobra-client"), *arguments],
            cwd="/",
            env=dict(self.environment, **environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, *arguments, **environment):
        client = self.start(*arguments, **environment)
        out, err = client.communicate(timeout=120)
        return client.returncode, out, err

    def servers(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    command = file.read().split(b"\0")
            except OSError:
                continue
            if command[0] == os.path.join(self.prefix, "bin", "cobra-server").encode():
                found.append(int(pid))
        return found

    def test_a_question_is_a_whole_command(self):
        code, out, err = self.ask(*QUESTION, "--target", TARGET)
        self.assertEqual(code, 0, err)
        self.assertIn(TARGET, out)
        self.assertIn(STARTED, err)
        code, again, err = self.ask(*QUESTION, "--target", TARGET)
        self.assertEqual((code, again, err), (0, out, ""))
        self.assertEqual(self.ask("targets", "--no-start")[0], 0)  # one that runs is asked
        self.assertEqual(len(self.servers()), 1)
        folder = os.path.join(self.home, "run", "cobra")
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        self.assertTrue(os.path.exists(os.path.join(self.home, ".local/state/cobra/cobra.sqlite")))

    def test_without_a_target_all_trained_ones_are_asked(self):
        code, out, err = self.ask(*QUESTION)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"the 10 fastest; \d{3} more: --all")
        code, out, err = self.ask(*QUESTION, "--all")
        self.assertEqual(code, 0, err)
        self.assertIn("cpu-raspberry-pi-5-4t-ncnn", out)
        self.assertIn("gpu-t4-modal-torch-2.5-eager-train", out)

    def test_clients_that_start_at_once_get_one_server(self):
        clients = [self.start("targets", "--name", TARGET) for _ in range(6)]
        answers = [client.communicate(timeout=120) for client in clients]
        self.assertEqual([client.returncode for client in clients], [0] * 6, answers)
        self.assertEqual(sum(STARTED in err for _, err in answers), 1)
        self.assertEqual(len(self.servers()), 1)

    def test_a_server_that_runs_is_not_waited_for(self):
        self.assertEqual(self.ask("targets")[0], 0)
        with open(os.path.join(self.home, "run", "cobra", "lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as a client does that was stopped while it started one
            code, _, err = self.ask("targets")
        self.assertEqual((code, STARTED in err), (0, False), err)

    def test_another_version_is_replaced(self):
        self.assertEqual(self.ask("targets")[0], 0)
        (first,) = self.servers()
        os.utime(os.path.join(self.prefix, "bin", "cobra-server"))
        code, _, err = self.ask("targets")
        self.assertEqual(code, 0, err)
        self.assertIn(STARTED, err)
        deadline = time.time() + 30  # the first one ends when its last calls have
        while first in self.servers() and time.time() < deadline:
            time.sleep(0.02)
        (second,) = self.servers()
        self.assertNotEqual(first, second)
        os.kill(second, signal.SIGKILL)  # its socket stays
        deadline = time.time() + 30
        while self.servers() and time.time() < deadline:
            time.sleep(0.02)
        code, _, err = self.ask("targets")
        self.assertEqual(code, 0, err)

    def test_a_log_that_is_begun_anew_has_no_gap(self):
        """The server before this one still has it open, and writes its last line."""
        self.assertEqual(self.ask(*QUESTION, "--target", TARGET)[0], 0)
        log = os.path.join(self.home, ".local", "state", "cobra", "server.log")
        os.truncate(log, 0)
        (server,) = self.servers()
        os.kill(server, signal.SIGTERM)
        for _ in range(300):
            if os.path.getsize(log) > 0 and not self.servers():
                break
            time.sleep(0.1)
        with open(log, "rb") as file:
            text = file.read()
        self.assertIn(b"stopped", text)
        self.assertNotIn(b"\0", text)

    def test_watching_a_file_outlives_the_server(self):
        net = shutil.copy(CONVNET, self.home)
        client = self.start("predict", net, *QUESTION[2:], "--target", TARGET, "--watch", "-q")
        first = client.stdout.readline()
        self.assertGreater(float(first), 0)
        (server,) = self.servers()
        os.kill(server, signal.SIGKILL)
        with open(net, "a") as file:
            file.write("# the same network\n")
        self.assertEqual(client.stdout.readline(), first)
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(60), 0)
        self.assertEqual(client.communicate(), ("", ""))

    def test_what_must_not_start_does_not(self):
        for arguments, environment in (
            (("--no-start",), {}),
            (("--server", "127.0.0.1:1"), {}),
            ((), {"COBRA_SERVER": "127.0.0.1:1"}),
        ):
            with self.subTest(arguments=arguments, environment=environment):
                code, _, err = self.ask("targets", *arguments, **environment)
                self.assertEqual(code, 3, err)
                self.assertEqual(self.servers(), [])

    def test_a_folder_that_others_may_enter_is_not_used(self):
        os.mkdir(os.path.join(self.home, "run", "cobra"), 0o755)
        os.chmod(os.path.join(self.home, "run", "cobra"), 0o755)
        code, _, err = self.ask("targets")
        self.assertEqual(code, 3, err)
        self.assertIn("is not private to this user", err)

    def test_what_others_planted_is_not_read(self):
        folder = os.path.join(self.home, "run", "cobra")
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        os.mkfifo(os.path.join(folder, "version"))  # whoever opens it waits
        code, _, err = self.ask("targets", "--no-start", "--deadline-s", "2")
        self.assertEqual(code, 3, err)

    def test_a_server_that_cannot_start_says_why(self):
        with open(os.path.join(self.prefix, "share/cobra/model/pretrained/tensors.safetensors"), "ab") as file:
            file.write(b"x")
        code, _, err = self.ask("targets")
        self.assertEqual(code, 3, err)
        self.assertIn("tensors.safetensors", err)

    def test_a_server_that_is_killed_as_it_starts_is_named_so(self):
        with open(os.path.join(self.prefix, "bin", "cobra-server"), "w") as server:
            server.write("#!/bin/sh\nkill -9 $$\n")
        code, _, err = self.ask("targets")
        self.assertEqual(code, 3, err)
        self.assertIn("the server for this user was ended by signal 9 (Killed)", err)

    def test_an_idle_server_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            server = programs.Server(os.path.join(folder, "store.sqlite"), "--idle-exit-minutes", "0.05")
            try:
                for _ in range(8):  # longer than its idle time, but never idle
                    time.sleep(0.6)
                    self.assertIsNone(server.process.poll(), server.log())
                    self.assertEqual(self.ask("targets", "--server", server.address)[0], 0)
                self.assertEqual(server.process.wait(timeout=60), 0)
                self.assertIn("no request for 3s", server.log())
            finally:
                server.stop()


if __name__ == "__main__":
    unittest.main()
