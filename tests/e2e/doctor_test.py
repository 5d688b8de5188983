#!/usr/bin/env python3
"""cobra-client doctor on a healthy installation and on broken ones."""
import concurrent.futures
import json
import os
import platform
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

import programs
import terminal

LEVELS = {"ok", "warn", "fail"}


class DoctorTest(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.home)
        os.mkdir(os.path.join(self.home, "run"), 0o700)
        # An installation of its own, to break: links, so that a minute is not spent on copies.
        self.bin = os.path.join(self.home, "prefix", "bin")
        os.makedirs(self.bin)
        self.model = os.path.join(self.home, "prefix", "share", "cobra", "model", "pretrained")
        shutil.copy2(os.path.join(programs.BIN, "cobra-client"), self.bin)
        shutil.copytree(os.path.join(programs.SOURCE, "model", "pretrained"), self.model)
        self.environment = dict(
            os.environ,
            HOME=self.home,
            XDG_RUNTIME_DIR=os.path.join(self.home, "run"),
            XDG_STATE_HOME=os.path.join(self.home, "state"),
        )
        for name in ("COBRA_SERVER", "COBRA_RUNNER_PYTHON"):
            self.environment.pop(name, None)

    def install(self, *names):
        for name in names:
            os.symlink(os.path.join(programs.BIN, name), os.path.join(self.bin, name))

    def stand_in(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def examine(self, *arguments, **environment):
        """Exit code and findings by area; the text for people is looked at, too."""
        command = [os.path.join(self.bin, "cobra-client"), "doctor", *arguments]
        ran = subprocess.run(
            [*command, "--format", "json"],
            capture_output=True,
            text=True,
            timeout=120,
            env=dict(self.environment, **environment),
        )
        self.assertEqual(ran.stderr, "")
        answer = json.loads(ran.stdout)
        self.assertEqual(ran.returncode, 0 if answer["healthy"] else 1)
        found = {}
        for finding in answer["findings"]:
            self.assertIn(finding["health"], LEVELS)
            self.assertTrue(finding["text"])
            if finding["health"] == "ok":
                self.assertEqual(finding["mend"], "")
            found.setdefault(finding["area"], []).append(finding)
        return ran.returncode, found

    def worst(self, found, area):
        return max(found[area], key=lambda f: ["ok", "warn", "fail"].index(f["health"]))

    def test_a_healthy_installation(self):
        self.install("cobra-server", "cobra-reader", "cobra-worker")
        with programs.Server(os.path.join(self.home, "store.sqlite")) as server:
            code, found = self.examine("--server", server.address)
            self.assertEqual(code, 0, found)
            self.assertIn("answers; version", found["server"][0]["text"])
            self.assertIn("the same as next to this program", found["served"][0]["text"])
            self.assertIn("checksum correct", found["weights"][0]["text"])
            self.assertRegex(found["targets"][0]["text"], r"^\d+ trained, 0 calibrated")
            # Tests that run beside this one may measure.
            if "another one is measuring" not in found["worker"][0]["text"]:
                self.assertEqual(found["worker"][0]["health"], "ok", found["worker"])
                self.assertRegex(found["worker"][0]["text"], "^measures cpu-")
            self.assertIn("cobra-client calibrate", found["calibration"][0]["mend"])
            for area in ("disk", "sandbox", "BLAS", "processors", "libraries", "runtimes", "load"):
                self.assertIn(area, found)

    def test_nothing_runs_and_nothing_is_started(self):
        self.install("cobra-server", "cobra-reader")
        code, found = self.examine()
        self.assertEqual(code, 0, found)
        self.assertIn("the next question starts one", found["server"][0]["text"])
        self.assertNotIn("calibration", found)
        self.assertEqual(os.listdir(os.path.join(self.home, "run")), [])
        self.assertIn("cobra-worker is not next to this program", found["worker"][0]["text"])

    def test_a_wrong_address(self):
        code, found = self.examine("--server", "127.0.0.1:1")
        self.assertEqual(code, 1)
        self.assertEqual(found["server"][0]["health"], "fail")
        self.assertIn("Connection refused", found["server"][0]["text"])
        self.assertIn("cobra-server --listen 127.0.0.1:1", found["server"][0]["mend"])
        self.assertEqual(self.examine(COBRA_SERVER="127.0.0.1:1")[0], 1)
        ran = subprocess.run(
            [os.path.join(self.bin, "cobra-client"), "doctor", "--server", "nohost"], capture_output=True
        )
        self.assertEqual(ran.returncode, 2)

    def test_no_server_is_installed(self):
        code, found = self.examine()
        self.assertEqual(code, 1)
        self.assertIn("there is no cobra-server next to this program", found["server"][0]["text"])
        self.assertEqual({f["health"] for f in found["programs"]}, {"warn"})

    def test_a_server_of_another_version(self):
        import grpc

        messages, services = programs.stubs()

        class Other(services.CobraServicer):
            def GetModelInfo(self, request, context):
                return messages.GetModelInfoResponse(version="older", server_version="0.0.7")

            def ListTargets(self, request, context):
                return messages.ListTargetsResponse()

        server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        services.add_CobraServicer_to_server(Other(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            code, found = self.examine("--server", f"127.0.0.1:{port}")
        finally:
            server.stop(None)
        self.assertEqual(code, 0)
        self.assertEqual(found["server"][0]["health"], "warn")
        self.assertIn("version 0.0.7, and this program is", found["server"][0]["text"])
        self.assertIn("same version", found["server"][0]["mend"])
        self.assertIn("not those next to this program", found["served"][0]["text"])

    def test_a_calibration_of_another_machine(self):
        import grpc

        messages, services = programs.stubs()
        here = {"name": "cpu-x-1t", "device": "Some CPU", "runtime": "libtorch-1.13.0+openblas-Haswell", "threads": 1}
        here["peak_gflops"] = 100
        self.stand_in("cobra-worker", "#!/bin/sh\necho '" + json.dumps(here) + "'\n")
        spec = dict(here, name="this-machine")

        class Calibrated(services.CobraServicer):
            def GetModelInfo(self, request, context):
                return messages.GetModelInfoResponse(version="x", server_version="0.1.0")

            def ListTargets(self, request, context):
                response = messages.ListTargetsResponse()
                target = response.targets.add(calibrated=True)
                for field, value in spec.items():
                    setattr(target.spec, field, value)
                target.calibrations.add(version=1, serving=True, created_at=created)
                target.disturbance.timings = 40
                for field, value in disturbance.items():
                    setattr(target.disturbance, field, value)
                return response

        server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        services.add_CobraServicer_to_server(Calibrated(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(server.stop, None)
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        quiet = {"typical_ratio": 1.01, "low_ratio": 1.0, "high_ratio": 1.04}
        loud = {"typical_ratio": 1.18, "low_ratio": 1.02, "high_ratio": 1.31}
        for change, created, health, word in (
            ({}, soon, "ok", "this-machine: Some CPU"),
            ({"disturbance": loud}, soon, "warn", "networks took 1.18 times their undisturbed time"),
            ({"device": "Old CPU"}, soon, "warn", "was calibrated of Old CPU, and this is Some CPU"),
            ({"runtime": "onnxruntime-1"}, soon, "warn", "in onnxruntime-1, and it is libtorch"),
            ({"peak_gflops": 40}, soon, "warn", "at 40 GFLOPS, and it has 100 now"),
            ({"peak_gflops": 40, "threads": 4}, soon, "ok", "this-machine"),  # not of the same number of threads
            ({}, "2020-01-01T00:00:00Z", "warn", "days ago"),
        ):
            with self.subTest(change=change, created=created):
                disturbance = change.pop("disturbance", quiet)
                spec = {**here, "name": "this-machine", **change}
                finding = self.examine("--server", f"127.0.0.1:{port}")[1]["calibration"][0]
                self.assertEqual(finding["health"], health, finding)
                self.assertIn(word, finding["text"])
                self.assertEqual("cobra-client calibrate" in finding["mend"], health == "warn")

    def test_damaged_weights(self):
        with open(os.path.join(self.model, "tensors.safetensors"), "ab") as file:
            file.write(b"x")
        code, found = self.examine()
        self.assertEqual(code, 1)
        self.assertIn("the file is damaged", found["weights"][0]["text"])
        os.remove(os.path.join(self.model, "tensors.safetensors"))
        self.assertEqual(self.examine()[1]["weights"][0]["health"], "fail")
        with open(os.path.join(self.model, "manifest.json"), "w") as file:
            file.write("[]")
        self.assertIn("is not the manifest", self.examine()[1]["weights"][0]["text"])

    def test_a_state_folder_that_cannot_be_written(self):
        blocked = os.path.join(self.home, "file")
        open(blocked, "w").close()
        code, found = self.examine(XDG_STATE_HOME=blocked)  # below a file; root may write to folders that are read-only
        self.assertEqual(code, 1)
        self.assertEqual(found["folders"][0]["health"], "fail")
        self.assertIn("XDG_STATE_HOME", found["folders"][0]["mend"])

    def test_a_folder_that_others_may_enter(self):
        self.install("cobra-server", "cobra-reader")
        folder = os.path.join(self.home, "run", "cobra")
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        code, found = self.examine()
        self.assertEqual(code, 1)
        self.assertIn("is not private to this user", self.worst(found, "server")["text"])
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o755)  # it is the user's to mend

    def test_a_server_can_start_where_doctor_has_looked(self):
        """Socket and store may share a folder, as without a home: what doctor makes is private."""
        environment = {"XDG_STATE_HOME": os.path.join(self.home, "run")}
        self.examine(**environment)
        folder = os.path.join(self.home, "run", "cobra")
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        os.chmod(folder, 0o755)
        code, found = self.examine(**environment)
        self.assertEqual(code, 1)
        self.assertIn("is not private to this user", self.worst(found, "folders")["text"])

    def test_a_worker_without_libtorch(self):
        for torch, health, words in (
            ({"version": "2.13.0"}, "ok", "measures through python3: torch 2.13.0 (calibrate --runner NAME)"),
            ({"missing": "python3 has no module torch"}, "warn", "cannot be measured: python3 has no module torch"),
        ):
            answer = json.dumps({"python": "python3", "runtimes": [dict(torch, name="torch")]})
            refusal = "cobra-worker: error: describe: this cobra-worker carries no LibTorch"
            self.stand_in(
                "cobra-worker",
                "#!/bin/sh\nif [ $1 = runtimes ]; then echo '%s'; else echo '%s' >&2; exit 2; fi\n" % (answer, refusal),
            )
            code, found = self.examine()
            self.assertEqual(found["worker"][0]["health"], health)
            self.assertIn(words, found["worker"][0]["text"])
            self.assertNotIn("BLAS", found)

    def test_a_worker_that_does_not_run(self):
        self.stand_in(
            "cobra-worker", "#!/bin/sh\necho 'error while loading shared libraries: libtorch.so' >&2\nexit 127\n"
        )
        found = self.examine()[1]
        self.assertEqual(found["worker"][0]["health"], "fail")
        self.assertIn("ends with code 127: error while loading shared libraries", found["worker"][0]["text"])
        self.assertNotIn("BLAS", found)

    @unittest.skipUnless(platform.machine() == "x86_64", "elsewhere OpenBLAS chooses by itself")
    def test_the_kernels_of_the_linear_algebra(self):
        for runtime, health, word in (
            ("libtorch-1.13.0+blas", "warn", "libopenblas"),
            ("libtorch-1.13.0+openblas-Prescott", "warn", "OPENBLAS_CORETYPE"),
            ("libtorch-1.13.0+mkl", "ok", "MKL"),
        ):
            self.stand_in(
                "cobra-worker", "#!/bin/sh\necho '" + json.dumps({"runtime": runtime, "name": "cpu-x"}) + "'\n"
            )
            finding = self.examine()[1]["BLAS"][0]
            self.assertEqual(finding["health"], health, finding)
            self.assertIn(word, finding["text"] + finding["mend"])

    def test_it_wraps_on_a_terminal_and_nowhere_else(self):
        command = [os.path.join(self.bin, "cobra-client"), "doctor"]
        kept = {k: self.environment[k] for k in ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
        with terminal.Terminal(command, columns=70, **kept) as client:
            self.assertEqual(client.end(), 1)
            self.assertIn("\033[31mfail\033[0m", client.text)
            for line in client.lines:
                self.assertTrue(len(line) <= 70 or len(line.split()[-1]) > 40, line)  # a long path is not cut
        ran = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        self.assertNotIn("\033", ran.stdout)
        for line in ran.stdout.splitlines():
            self.assertIn(line.split()[0], LEVELS)


if __name__ == "__main__":
    unittest.main()
