#!/usr/bin/env python3
"""The first question at a terminal offers the minute of calibration, once; nowhere else is anything
asked."""
import os
import shutil
import subprocess
import unittest

import own_server_test
import programs
import terminal

QUESTION = own_server_test.QUESTION
OFFER = r"Calibrate this machine now\? It takes about a minute\. \[y/N\] "
# The minute of measuring is not what is tested here: what a real worker has measured is printed
# again.
WORKER = """#!/bin/sh
cat {probe}
"""


class CalibrationOffer(unittest.TestCase):
    setUp = own_server_test.OwnServer.setUp
    tearDown = own_server_test.OwnServer.tearDown
    servers = own_server_test.OwnServer.servers

    def worker(self, text):
        path = os.path.join(self.prefix, "bin", "cobra-worker")
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def at_terminal(self, *arguments, **options):
        command = [os.path.join(self.prefix, "bin", "cobra-client"), *(arguments or QUESTION)]
        environment = {k: self.environment[k] for k in ("HOME", "XDG_RUNTIME_DIR")}
        return terminal.Terminal(command, cwd="/", XDG_STATE_HOME=self.state, **environment, **options)

    @property
    def state(self):
        return os.path.join(self.home, "state")

    def assert_answered(self, client):
        self.assertEqual(client.end(120), 0, client.text)
        self.assertIn("predicted ms", client.text)

    def test_a_no_is_remembered(self):
        self.worker("#!/bin/sh\nexit 1\n")
        with self.at_terminal() as client:
            client.wait_for(OFFER)
            client.type("n\n")
            self.assert_answered(client)
            self.assertIn("the 10 fastest", client.text)
        with self.at_terminal() as client:
            self.assert_answered(client)
            self.assertNotRegex(client.text, OFFER)

    def test_a_yes_calibrates_and_answers_for_this_machine(self):
        self.worker(WORKER.format(probe=os.path.join(self.home, "probe.json")))
        shutil.copy(os.path.join(os.path.dirname(__file__), "probe_of_few_networks.json"), self.home + "/probe.json")
        with self.at_terminal() as client:
            client.wait_for(OFFER)
            client.type("y\n")
            code = client.end(120)
            self.assertEqual(code, 0, client.text)
            self.assertRegex(client.text, r"(?m)^this-machine +[\d.]+ ")
            self.assertNotIn("cpu-raspberry-pi", client.text)

    def test_a_worker_that_fails_costs_no_answer(self):
        self.worker("#!/bin/sh\necho no such luck >&2\nexit 1\n")
        with self.at_terminal() as client:
            client.wait_for(OFFER)
            client.type("y\n")
            self.assert_answered(client)
            self.assertIn("no such luck", client.text)
            self.assertIn("goes to the trained targets instead", client.text)

    def test_where_nothing_is_asked(self):
        self.worker("#!/bin/sh\nexit 1\n")
        with programs.Server(os.path.join(self.home, "store.sqlite")) as server:
            for arguments in (
                (*QUESTION, "-q"),
                (*QUESTION, "--format", "json"),
                (*QUESTION, "--server", server.address),
                (*QUESTION, "--target", own_server_test.TARGET),
            ):
                with self.subTest(arguments=arguments[-2:]), self.at_terminal(*arguments) as client:
                    self.assertEqual(client.end(120), 0, client.text)
                    self.assertNotRegex(client.text, OFFER)
        # No terminal at one of the two ends.
        command = [os.path.join(self.prefix, "bin", "cobra-client"), *QUESTION]
        environment = dict(self.environment, XDG_STATE_HOME=self.state)
        piped = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, cwd="/"
        )
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertNotRegex(piped.stderr, OFFER)
        self.assertFalse(os.path.exists(os.path.join(self.state, "cobra", "asked-to-calibrate")))
        # Without a worker there is nothing to offer.
        os.remove(os.path.join(self.prefix, "bin", "cobra-worker"))
        with self.at_terminal() as client:
            self.assert_answered(client)
            self.assertNotRegex(client.text, OFFER)


if __name__ == "__main__":
    unittest.main()
