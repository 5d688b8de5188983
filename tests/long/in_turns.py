"""A network in a cobra-worker of its own, timed whenever it is asked (cobra-worker measure
--in-turns)."""
import json
import os
import subprocess


class TimedGraph:
    """`graph`: JSON, as cobra-client graph writes it; it is stored at `path`. `flags`: more of the
    worker's."""

    def __init__(self, programs_folder, graph, path, core, *flags):
        with open(path, "w") as file:
            file.write(graph)
        worker = os.path.join(programs_folder, "cobra-worker")
        self.process = subprocess.Popen(
            [worker, "measure", "--graph", path, "--in-turns", "--core", str(core), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def measure(self):
        """Microseconds: the median of a quarter of a second."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("cobra-worker could not measure it")
        return json.loads(answer)["latency_us"]
