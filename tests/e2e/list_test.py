#!/usr/bin/env python3
"""`cobra-client predict --list` beside a real server: many models of all forms, lists that are
damaged, a server that is killed or restarted half way, output that cannot be written."""
import csv
import gzip
import io
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import programs

NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x, scale=1, sizes=None):
        return self.norm(self.conv(x)) * scale
"""
PARAM = """7767517
3 3
Input            data             0 1 data 0=32 1=32 2=3
Convolution      conv             1 1 data conv 0=8 1=3 6=216
ReLU             relu             1 1 conv relu
"""
CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
HEADER = "row,model,entry,inputs,arguments,mode"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class ListTest(programs.ServedTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = folder.name
        self.write("net.py", NET)
        self.write("small.param", PARAM)

    def write(self, name, text):
        path = os.path.join(self.here, name)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return path

    def command(self, path, *flags, target=None, server=None):
        address = (server or self.server).address
        return ("predict", "--list", path, "--target", target or self.target, "--server", address, *flags)

    def asked(self, lines, *flags, code=0, **options):
        """The rows of the output, and what was printed."""
        path = self.write("list.csv", "\n".join(lines) + "\n")
        out = os.path.join(self.here, "pred.csv")
        answer = programs.client(*self.command(path, "--out", out, *flags, **options))
        self.assertEqual(answer.code, code, answer.err)
        return self.rows(out), answer

    def rows(self, path):
        if not os.path.exists(path):
            return None
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    def test_each_row_has_what_predict_says_alone(self):
        onnx = os.path.join(self.here, "net.onnx")
        answer = programs.client(
            "graph",
            os.path.join(self.here, "net.py"),
            "--entry",
            "Net()",
            "--input",
            "1x3x16x16",
            "--format",
            "onnx",
            "--out",
            onnx,
        )
        self.assertEqual(answer.code, 0, answer.err)
        questions = [
            ("net.py", "Net(16)", "2x3x16x16", "scale=2 'sizes=[1, 2]'", "eval"),
            ("net.py", "Net()", "2x3x16x16", "", "train"),
            ("net.py", "", "1x3x8x8", "", ""),
            (programs.RESNET, "resnet18(num_classes=10)", "1x3x64x64", "", ""),
            ("net.onnx", "", "", "", ""),
            ("small.param", "", "", "", ""),
            ("small.param", "", "4x3x32x32", "", ""),
            (CELL, "", "", "", ""),
            (CELL, "", "8x3x32x32", "", "eval"),
        ]
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(HEADER.split(","))
        writer.writerows([f"q{i}", *question] for i, question in enumerate(questions))
        rows, answer = self.asked(text.getvalue().split("\r\n")[:-1], "--library", programs.LIBRARY)
        self.assertIn(f"pred.csv: {len(questions)} of {len(questions)} rows answered\n", answer.err)
        self.assertEqual([row["row"] for row in rows], [f"q{i}" for i in range(len(questions))])
        for row, (model, entry, inputs, arguments, mode) in zip(rows, questions):
            flags = ["--arch", model] if ":" in model else [model]
            flags += ["--entry", entry] if entry else []
            flags += ["--input", inputs] if inputs else []
            flags += ["--arg", "scale=2", "--arg", "sizes=[1, 2]"] if arguments else []
            flags += ["--mode", mode] if mode else []
            flags += ["--library", programs.LIBRARY] if model == programs.RESNET else []
            alone = programs.predict(self.server, *flags, "--target", self.target, cwd=self.here)
            with self.subTest(flags):
                self.assertEqual(alone.code, 0, alone.err)
                prediction = alone.json()["predictions"][0]
                self.assertEqual(row["error"], "")
                for column, key in (("latency_ms", "latency_us"), ("low_ms", "low_us"), ("high_ms", "high_us")):
                    self.assertAlmostEqual(float(row[column]) / (prediction[key] / 1000), 1, delta=1e-8)
                self.assertAlmostEqual(float(row["confidence"]), prediction["confidence"], delta=1e-5)

    def test_a_model_that_cannot_be_read_says_why(self):
        self.write("bad.py", "def f(:\n")
        self.write(
            "odd.py", "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.q()\n"
        )
        rows, answer = self.asked(
            [
                HEADER,
                "1,net.py,Net(),1x3x8x8,,",
                "2,none.py,Net(),1x3,,",
                "3,bad.py,Net(),1x3,,",
                "4,odd.py,,1x3,,",
                "5,net.py,Net(),1x3xq,,",
                "6,net.py,Net(),1x4x8x8,,",
                "7,nasbench201:|x|,,,,",
                "8,net.txt,,,,",
                "9,small.param,,,,train",
                "10,net.py,Net(),1x3x8x8,scale,",
                '11,"a,""b\n.onnx",,,,',
                "12,ncnn:resnet81,,,,",
            ]
        )
        self.assertEqual([row["row"] for row in rows if row["latency_ms"]], ["1"])
        self.assertIn("1 of 12 rows answered; the first without an answer: row 2: none.py: no such file", answer.err)
        for row, words in zip(
            rows[1:],
            (
                "none.py: no such file",
                "bad.py:1:7: syntax error",
                "odd.py:4:16: error: AttributeError",
                "1x3xq",
                "net.py:10",
                "is not an operation of NAS-Bench-201",
                "net.txt: no such file",
                "--mode train: ",
                "--arg scale: is not NAME=EXPRESSION",
                "no such file",
                "ncnn:resnet81: ncnn has no such model in the built-in list",
            ),
        ):
            with self.subTest(words):
                self.assertIn(words, row["error"])
                self.assertNotIn("\n", row["error"])
                self.assertEqual((row["latency_ms"], row["low_ms"], row["high_ms"], row["confidence"]), ("",) * 4)

    def test_no_row_that_is_answered_is_exit_code_4(self):
        rows, _ = self.asked([HEADER, "1,none.py,,,,", "2,none.onnx,,,,"], code=4)
        self.assertEqual(len(rows), 2)

    def test_a_damaged_list_is_refused_before_anything_is_written(self):
        for lines, words in (
            ([HEADER, "1,net.py,Net(),1x3x8x8,,", "2,net.py"], "list.csv line 3: has 2 fields, the header 6"),
            ([HEADER, '1,"net.py,Net(),1x3x8x8,,'], "list.csv line 2: a quoted field does not end"),
            ([HEADER], "list.csv: has no rows\nhint: the first line names the columns: row,model,entry"),
            (["model,entry", "net.py,Net()"], "list.csv line 1: the column row is missing"),
            (["row,model,entri", "1,net.py,Net()"], "entri: no such column\nhint: did you mean entry?"),
            ([HEADER, "1,net.py,Net(),,,", "1,net.py,Net(),,,"], "list.csv line 3: row 1: is that of line 2, too"),
            ([HEADER, "1,net.py,Net(),,,Train"], "list.csv line 2: row 1: mode Train: is neither eval nor train"),
            ([HEADER, "1,net.py,Net(),,sizes=[1,"], "list.csv line 2: row 1: arguments: sizes=[1"),
            ([HEADER, "\x1b[31m,net.py,Net(),,,"], "has control characters"),
            (["\x00\x01\x7fELF", "\x1b[31m"], "line 1: the column row is missing"),
        ):
            with self.subTest(words):
                rows, answer = self.asked(lines, code=2)
                self.assertIn(words, answer.err)
                self.assertNotIn("\x1b", answer.err)
                self.assertIsNone(rows)
                self.assertNotIn("pred.csv.part", os.listdir(self.here))

    def test_what_concerns_all_rows_is_an_error_of_the_command(self):
        lines = [HEADER, "1,net.py,Net(),1x3x8x8,,"]
        self.write("pred.csv", "of yesterday")
        for flags, words in (
            (["--target", "nope"], "nope: no such target\nhint: targets: "),
            (["--model-version", "1999-01-01-abc"], "1999-01-01-abc: this model version does not serve"),
            (["--entry", "Net()"], "--entry: with --list, each row has its own"),
            (["--input", "1x3"], "--input: with --list, each row has its own"),
            (["--mode", "train"], "write it into the column mode of"),
            (["other.py"], "other.py: with --list, each row has its own"),
            (["--budget-ms", "3"], "--budget-ms: is for one model"),
            (["--format", "json"], "--format json: is for one model"),
            (["--breakdown"], "--breakdown: is for one model"),
            (["--library", "nowhere"], None),
        ):
            path = self.write("list.csv", "\n".join(lines) + "\n")
            out = os.path.join(self.here, "pred.csv")
            with self.subTest(flags):
                command = self.command(path, "--out", out, *flags)
                if words is None:  # of each row that needs it
                    self.assertEqual(programs.client(*command).code, 4)
                    continue
                answer = programs.client(*command)
                self.assertEqual(answer.code, 2, answer.err)
                self.assertIn(words, answer.err)
                with open(out) as file:
                    self.assertEqual(file.read(), "of yesterday")
        answer = programs.client("predict", "net.py", "--target", self.target, "--out", "x.csv")
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn("--out requires --list", answer.err)

    def test_output_that_cannot_be_written(self):
        path = self.write("list.csv", f"{HEADER}\n1,net.py,Net(),1x3x8x8,,\n")
        for out, words in (
            (os.path.join(self.here, "no", "pred.csv"), "pred.csv: cannot be written: No such file or directory"),
            (self.here, "cannot be written: Is a directory"),
            ("/dev/full", "--out /dev/full: cannot be written: No space left on device"),
            (path, "list.csv: is a file that this command reads"),
        ):
            with self.subTest(out):
                answer = programs.client(*self.command(path, "--out", out))
                self.assertEqual(answer.code, 2, answer.err)
                self.assertIn(words, answer.err)
        with open(path) as file:
            self.assertTrue(file.read().startswith(HEADER))

    def test_several_targets_have_a_row_each(self):
        answer = programs.client("targets", "--server", self.server.address, "--format", "json")
        names = [t["spec"]["name"] for t in answer.json()["targets"]][:3]
        rows, _ = self.asked([HEADER, "1,net.py,Net(),1x3x8x8,,", "2,none.py,,,,"], target=",".join([*names, names[0]]))
        self.assertEqual([(row["row"], row["target"]) for row in rows], [(r, n) for r in "12" for n in names])
        self.assertEqual([bool(row["latency_ms"]) for row in rows], [True] * 3 + [False] * 3)

    @unittest.skipIf(programs.EMULATED, "looks at seconds")
    def test_lists_that_need_no_file(self):
        """Those that are shipped, and a folder. Int8 files of ncnn are no guess where such were
        timed."""
        board = "cpu-raspberry-pi-5-4t-ncnn"
        answer = programs.client(*self.command("ncnn", target=board))
        self.assertEqual(answer.code, 0, answer.err)
        rows = {row["row"]: row for row in csv.DictReader(io.StringIO(answer.out))}
        self.assertEqual(len(rows), 35)
        for name in ("squeezenet", "squeezenet_int8", "resnet50_int8", "mobilenet_int8"):
            self.assertGreater(float(rows[name]["confidence"]), 0.5, rows[name])  # of a guess it is 0
        answer = programs.client(*self.command(self.here, target=board))
        self.assertEqual(answer.code, 0, answer.err)
        self.assertRegex(answer.out, r"^row,[^\n]*\nsmall.param,[0-9.e-]+,[^\n]*,\n$")
        os.remove(os.path.join(self.here, "small.param"))
        answer = programs.client(*self.command(self.here))
        self.assertEqual(answer.code, 2)
        self.assertIn(f"--list {self.here}: has no file .onnx, .tflite or .param\n", answer.err)
        answer = programs.client(*self.command("torchvision"))
        self.assertEqual(answer.code, 2)
        self.assertIn("--library /usr/lib/python3/dist-packages", answer.err)
        answer = programs.client(*self.command("torchvision", "--library", programs.LIBRARY))
        self.assertEqual(answer.code, 0, answer.err)
        rows = list(csv.DictReader(io.StringIO(answer.out)))
        self.assertEqual((len(rows), [row for row in rows if row["error"]]), (80, []))

    def test_standard_output_and_packed_files(self):
        text = "\ufeff" + f"{HEADER},note\r\n1,net.py,Net(),1x3x8x8,,,mine\r\n"
        path = self.write("list.csv.gz", gzip.compress(text.encode()))
        answer = programs.client(*self.command(path))
        self.assertEqual(answer.code, 0, answer.err)
        self.assertRegex(answer.out, r"^row,latency_ms,low_ms,high_ms,confidence,error\n1,[0-9.e-]+,[^\n]*,\n$")
        self.assertIn("ignored: the columns note\n1 of 1 row answered\n", answer.err)
        out = os.path.join(self.here, "pred.csv.gz")
        self.assertEqual(programs.client(*self.command(path, "--out", out)).code, 0)
        with gzip.open(out, "rt") as file:
            self.assertEqual(file.read(), answer.out)

    def test_source_is_sent_if_the_user_wants_it(self):
        lines = [HEADER, "1,net.py,Net(),1x3x8x8,,", "2,net.py,Net(),1x4x8x8,,", f"3,{CELL},,,,"]
        here, _ = self.asked(lines)
        there, _ = self.asked(lines, "--send", "source")
        self.assertEqual(here, there)

    def long_list(self, count):
        """Architectures whose layers are all new."""
        return self.write(
            "long.csv", "row,model,inputs\n" + "".join(f"{n},{CELL},{n}x3x32x32\n" for n in range(1, count))
        )

    def start(self, path, out, server, *flags):
        process = subprocess.Popen(
            [os.path.join(programs.BIN, "cobra-client"), *self.command(path, "--out", out, *flags, server=server)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        part = out + ".part"
        programs.wait_until(lambda: os.path.exists(part) and os.path.getsize(part) > 5000)
        return process

    @unittest.skipIf(programs.EMULATED, "looks at seconds")
    def test_a_server_that_is_killed_leaves_what_it_has_answered(self):
        out = os.path.join(self.here, "pred.csv")
        with programs.Server(os.path.join(self.here, "store.sqlite")) as server:
            process = self.start(self.long_list(60_000), out, server)
            server.process.kill()
            server.process.wait()
            self.assertEqual(process.wait(60), 3)
        error = process.stderr.read()
        self.assertIn("error: no server answers at " + server.address, error)
        rows = self.rows(out)
        self.assertEqual([row["row"] for row in rows], [str(n) for n in range(1, 60_000)])
        answered = [row for row in rows if row["latency_ms"]]
        self.assertGreater(len(answered), 50)
        self.assertIn(f"{len(answered)} of 59999 rows answered", error)
        for row in rows:
            self.assertEqual(
                row["latency_ms"] == "", row["error"].startswith("not answered: no server answers at"), row
            )

    @unittest.skipIf(programs.EMULATED, "looks at seconds")
    def test_a_server_that_is_restarted_answers_the_rest(self):
        listen = ("--listen", f"127.0.0.1:{free_port()}", "--drain-seconds", "1")
        store = os.path.join(self.here, "store.sqlite")
        out = os.path.join(self.here, "pred.csv")
        server = programs.Server(store, *listen)
        process = self.start(self.long_list(4000), out, server)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        with programs.Server(store, *listen):
            self.assertEqual(process.wait(300), 0, process.stderr.read())
        rows = self.rows(out)
        self.assertEqual([row["row"] for row in rows if row["latency_ms"]], [str(n) for n in range(1, 4000)])

    @unittest.skipIf(programs.EMULATED, "looks at seconds")
    def test_a_client_that_is_killed_leaves_what_it_has_written(self):
        out = self.write("pred.csv", "of yesterday")
        process = self.start(self.long_list(60_000), out, self.server)
        process.kill()
        process.wait()
        with open(out) as file:
            self.assertEqual(file.read(), "of yesterday")
        with open(out + ".part") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines[0], "row,latency_ms,low_ms,high_ms,confidence,error")
        self.assertEqual([line.split(",")[0] for line in lines[1:-1]], [str(n) for n in range(1, len(lines) - 1)])

    def test_a_server_that_falls_silent_is_given_up(self):
        out = os.path.join(self.here, "pred.csv")
        with programs.Server(os.path.join(self.here, "store.sqlite")) as server:
            process = self.start(self.long_list(60_000), out, server, "--deadline-s", "2")
            server.process.send_signal(signal.SIGSTOP)
            self.assertEqual(process.wait(60), 7)
            server.process.send_signal(signal.SIGCONT)
        self.assertIn("within 2s; --deadline-s gives it more time", process.stderr.read())
        rows = self.rows(out)
        self.assertEqual(len(rows), 59_999)
        self.assertTrue(rows[0]["latency_ms"])
        self.assertIn("not answered: no answer from", rows[-1]["error"])

    def test_lists_of_any_size_and_from_a_pipe(self):
        text = "row,model\n" + "".join(f"{n},none{n}.onnx\n" for n in range(50_000)) + f"last,{CELL}\n"
        answer = subprocess.run(
            [os.path.join(programs.BIN, "cobra-client"), *self.command("/dev/stdin")],
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        lines = answer.stdout.splitlines()
        self.assertEqual(len(lines), 50_002)
        self.assertRegex(lines[-1], r"^last,[0-9]")
        path = self.write(
            "list.csv", "row,model\n1," + "x" * 5_000_000 + "\n" + "2,nasbench201:" + "|" * 5_000_000 + "\n"
        )
        answer = programs.client(*self.command(path))
        self.assertEqual(answer.code, 4, answer.err)
        self.assertLess(len(answer.out + answer.err), 10_000)

    def test_nobody_there(self):
        path = self.write("list.csv", f"{HEADER}\n1,net.py,Net(),1x3x8x8,,\n")
        out = os.path.join(self.here, "pred.csv")
        begin = time.time()
        answer = programs.client("predict", "--list", path, "--target", "x", "--out", out, "--server", "127.0.0.1:1")
        self.assertEqual(answer.code, 3, answer.err)
        self.assertLess(time.time() - begin, 30)
        self.assertIsNone(self.rows(out))


if __name__ == "__main__":
    programs.main()
