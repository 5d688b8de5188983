#!/usr/bin/env python3
"""Where the server of a user is: this package and cobra-client say the same for each environment,
or they would not find one server. Nothing of it is in /tmp unless there is no other place."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import support

support.stage()

OTHERS = "/" if os.geteuid() != 0 else support.path("of-another-user")
ASK = "from cobra_latency import places; print(places.runtime_folder()); print(places.state_folder())"
NOBODY = 65534


class PlacesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        client = os.path.join(support.BIN, "cobra-client")
        if not os.path.exists(client):
            support.skip(f"cobra-client is not in {support.BIN}: build first")
        # Without the programs beside it `doctor` looks at nothing but places.
        cls.client = shutil.copy(client, support.path())
        os.chmod(support.path(), 0o755)
        os.makedirs(support.path("of-another-user"), exist_ok=True)
        if os.geteuid() == 0:
            os.chown(support.path("of-another-user"), NOBODY, NOBODY)

    def setUp(self):
        self.home, self.run_folder = support.path(self.id(), "home"), support.path(self.id(), "run")
        os.makedirs(self.home)
        os.makedirs(self.run_folder, mode=0o700)
        self.user = os.geteuid()
        self.temporary = f"/tmp/cobra-{self.user}"

    def start(self, command, environment, **options):
        if self.user != os.geteuid():
            command = ["setpriv", f"--reuid={self.user}", f"--regid={NOBODY}", "--clear-groups", *command]
        environment = {name: value for name, value in environment.items() if value is not None}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, **options)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def of_python(self, environment, folder):
        known = {"PYTHONPATH": support.environment(support.path("package"))["PYTHONPATH"]}
        return self.start([sys.executable, "-c", ASK], {**environment, **known}, cwd=folder).splitlines()

    def of_client(self, environment, folder):
        """The folder of its socket, and that of the store, if it could be made."""
        command = [self.client, "doctor", "--server", "own", "--format", "json"]
        findings = json.loads(self.start(command, environment, cwd=folder))["findings"]
        said = {finding["area"]: finding["text"] for finding in findings}
        runtime = re.search("(/[^:]*?)(/socket|: )", said["server"])  # one runs, none runs, it is not private
        state = re.search(" in (/[^,]*)", said["disk"])  # and the size of the store that is there
        self.assertTrue(runtime and state, said)
        return [runtime[1], state[1]]

    def check(self, environment, runtime, state, folder="/"):
        """`folder`: where they are started."""
        for program in (self.of_python, self.of_client):
            known = [path for path in (state, runtime) if os.path.exists(path)]
            with self.subTest(environment, program=program.__name__):
                self.assertEqual(program(environment, folder), [runtime, state])
            for path in (state, runtime):  # the client has tried to write there
                if path not in known and os.path.exists(path):
                    os.rmdir(path)

    def test_home(self):
        state = os.path.join(self.home, ".local", "state", "cobra")
        self.check({"HOME": self.home}, self.temporary, state)
        self.check({"HOME": self.home, "XDG_RUNTIME_DIR": self.run_folder}, self.run_folder + "/cobra", state)
        self.check({"HOME": self.home, "XDG_STATE_HOME": self.home + "/s"}, self.temporary, self.home + "/s/cobra")
        self.check({"XDG_STATE_HOME": self.home + "/s"}, self.temporary, self.home + "/s/cobra")

    def test_without_a_home_the_store_is_beside_the_socket(self):
        for home in (None, "", ".", "relative", "~"):
            environment = {"HOME": home, "XDG_RUNTIME_DIR": self.run_folder}
            self.check(environment, self.run_folder + "/cobra", self.run_folder + "/cobra", folder=self.home)
            self.check({"HOME": home}, self.temporary, self.temporary, folder=self.home)
        self.assertEqual(os.listdir(self.home), [])  # nothing where they were started

    def test_variables_that_do_not_count(self):
        """Paths that are not absolute, folders that are not there or another user's."""
        state = os.path.join(self.home, ".local", "state", "cobra")
        for value in ("", ".", "relative", OTHERS, self.home + "/absent", self.client):
            self.check({"HOME": self.home, "XDG_RUNTIME_DIR": value}, self.temporary, state, folder=self.home)
        for value in ("", ".", "relative"):
            self.check({"HOME": self.home, "XDG_STATE_HOME": value}, self.temporary, state, folder=self.home)
        self.assertEqual(os.listdir(self.home), [".local"])

    def test_the_state_of_another_user(self):
        """As su leaves the environment."""
        if os.geteuid() != 0:
            self.skipTest("only root can make folders of another user")
        os.makedirs(self.home + "/.local/state/cobra")
        os.chown(self.home + "/.local/state/cobra", NOBODY, NOBODY)
        environment = {"HOME": self.home, "XDG_RUNTIME_DIR": self.run_folder}
        self.check(environment, self.run_folder + "/cobra", self.run_folder + "/cobra")

    def test_homes_that_cannot_be_written(self):
        """By a user who is not root."""
        if os.geteuid() == 0:
            self.user = NOBODY
            self.temporary = f"/tmp/cobra-{NOBODY}"
            os.chown(self.run_folder, NOBODY, NOBODY)
            os.chmod(support.path(self.id()), 0o755)
        os.chmod(self.home, 0o777)
        state = os.path.join(self.home, ".local", "state", "cobra")
        self.check({"HOME": self.home}, self.temporary, state)
        shutil.rmtree(self.home + "/.local")
        os.chmod(self.home, 0o555)
        for home in (self.home, "/nonexistent"):
            self.check({"HOME": home}, self.temporary, self.temporary)
            environment = {"HOME": home, "XDG_RUNTIME_DIR": self.run_folder}
            self.check(environment, self.run_folder + "/cobra", self.run_folder + "/cobra")


if __name__ == "__main__":
    support.main()
