#!/usr/bin/env python3
"""The measurement queue from end to end: tasks go in over gRPC, a real worker measures them,
records come out of the store; and what is killed, cut off or doubled on the way changes nothing of
that."""
import json
import os
import shutil
import subprocess
import unittest

import grpc

import programs
import queue_run
from queue_run import TARGET


class MeasurementQueueTest(queue_run.QueueTest):
    def test_enqueued_tasks_are_measured(self):
        self.start()
        tasks = self.tasks(5)
        tasks.append(
            self.pb.MeasurementTask(
                target=TARGET, origin="sampled", sample=self.pb.SpaceSample(space="paper-networks", index=0, seed=1)
            )
        )
        tasks.append(self.pb.MeasurementTask(target=TARGET, sample=self.pb.SpaceSample(space="no-such-space", index=0)))
        answer = self.enqueue(tasks)
        self.assertEqual(list(answer.created), [True] * 7)
        self.assertEqual(list(self.enqueue(tasks).created), [False] * 7)
        watch = self.stub.Watch(self.pb.WatchRequest(task_ids=answer.task_ids), timeout=120)
        first = next(watch)
        self.assertEqual({event.state for event in first.events}, {self.pb.TaskEvent.STATE_QUEUED})
        self.assertEqual(len(first.events), 7)
        worker = self.worker("--until-idle")
        last = {event.task_id: event.state for message in watch for event in message.events}  # ends by itself
        self.assertEqual(last, dict.fromkeys(answer.task_ids, self.pb.TaskEvent.STATE_DONE))
        self.assertEqual(worker.process.wait(60), 0, worker.log())
        rows = self.rows.query(
            "SELECT task_id, outcome, latency_us, origin, is_network, record_json FROM measurements ORDER BY id"
        )
        self.assertEqual(len(rows), 7)
        for task_id, outcome, latency_us, origin, is_network, record_json in rows:
            record = json.loads(record_json)
            if task_id == answer.task_ids[6]:  # an answer too: nobody waits for it for ever
                self.assertEqual(outcome, "unsupported")
                self.assertIn("no-such-space", record["message"])
                continue
            self.assertEqual(outcome, "ok", record)
            self.assertGreater(float(latency_us), 0)
            self.assertEqual(float(latency_us), record["latency_us"])
            self.assertEqual(is_network == "1", task_id == answer.task_ids[5])
            self.assertEqual(origin, "sampled" if task_id == answer.task_ids[5] else "test")
        sessions = self.rows.query("SELECT session, session_json FROM sessions")
        self.assertEqual(len(sessions), 1)
        self.assertEqual(sessions[0][0], json.loads(rows[0][5])["session"])
        self.assertGreater(json.loads(sessions[0][1])["machine"]["peak_gflops"], 1)

    def test_wrong_requests_are_refused_and_change_nothing(self):
        self.start()
        good = self.tasks(1)[0]
        for change, words in (
            ({"target": ""}, "target: is empty"),
            ({"target": "a b"}, "letters"),
            ({"task_id": "xyz"}, "the server computes it"),
            ({"max_attempts": -1}, "max_attempts"),
            ({"origin": "x" * 65}, "origin"),
        ):
            task = self.pb.MeasurementTask()
            task.CopyFrom(good)
            for name, value in change.items():
                setattr(task, name, value)
            with self.assertRaises(grpc.RpcError) as raised:
                self.enqueue([good, task])
            self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT, change)
            self.assertIn(words, raised.exception.details())
        broken = self.pb.MeasurementTask()
        broken.CopyFrom(good)
        broken.graph.nodes[0].op = "no_such_operator"
        with self.assertRaises(grpc.RpcError) as raised:
            self.enqueue([broken])
        self.assertIn("no_such_operator", raised.exception.details())
        self.assertEqual(self.rows.states(), {})
        answer = self.enqueue([good])
        self.stub.Lease(
            self.pb.LeaseRequest(worker="w", target=TARGET, max_tasks=1, duration={"seconds": 60}), timeout=30
        )
        reported = self.stub.Report(
            self.pb.ReportRequest(
                worker="w",
                records=[
                    self.pb.TaskRecord(task_id=answer.task_ids[0], record_json="{}"),
                    self.pb.TaskRecord(task_id=answer.task_ids[0], record_json="not json"),
                ],
            ),
            timeout=30,
        )
        self.assertEqual(list(reported.outcomes), [self.pb.ReportResponse.OUTCOME_INVALID] * 2)
        self.assertEqual(self.rows.states(), {"leased": 1})

    def test_cancelled_tasks_leave_the_worker(self):
        self.start()
        answer = self.enqueue(self.tasks(3))
        cancelled = self.stub.Cancel(self.pb.CancelRequest(task_ids=answer.task_ids[:2]), timeout=30)
        self.assertEqual(list(cancelled.cancelled), [True, True])
        worker = self.worker("--until-idle")
        self.assertEqual(worker.process.wait(120), 0, worker.log())
        self.assertEqual(self.rows.states(), {"cancelled": 2, "done": 1})

    def test_a_worker_that_is_stopped_gives_back(self):
        self.start()
        self.enqueue(self.tasks(60))
        worker = self.worker("--group", "5")
        self.wait_until(lambda: self.done() > 0, 60, worker.log)
        self.assertEqual(worker.stop(), 0)
        states = self.rows.states()
        self.assertNotIn("leased", states)
        self.assertEqual(sum(states.values()), 60)

    def test_a_group_that_is_stopped_ends_early_and_loses_nothing(self):
        self.start()
        self.enqueue(self.tasks(120))
        worker = self.worker("--group", "120", "--lease-tasks", "120")
        self.wait_until(lambda: self.done() > 0, 60, worker.log)  # of a group that goes on
        self.assertEqual(worker.stop(), 0)
        states = self.rows.states()
        self.assertEqual(set(states), {"done", "queued"})
        self.assertEqual(sum(states.values()), 120)
        self.assertEqual(
            self.rows.query("SELECT MAX(attempts), MAX(started) FROM tasks WHERE state <> 'done'"), [["0", "0"]]
        )

    def test_a_machine_that_is_taken_away_late_in_a_group_has_reported_what_it_measured(self):
        self.start()
        self.enqueue(self.tasks(40))
        flags = ("--group", "40", "--lease-tasks", "40", "--lease-seconds", "2")
        for machine in range(3):
            before = self.done()
            spool = f"{self.spool}-{machine}"
            worker = queue_run.Worker(self.server.address, spool, *flags)
            self.addCleanup(worker.kill)
            self.wait_until(lambda: self.done() > before, 60, worker.log)
            worker.kill()
            shutil.rmtree(spool, ignore_errors=True)  # its disk is gone, too
            self.assertLess(self.done(), 40)
        self.assertNotIn("poisoned", self.rows.states())
        last = self.worker(*flags)
        self.wait_until(lambda: self.done() == 40, 120, last.log)
        self.assertEqual(self.rows.measurements(), (40, 40))

    def test_two_workers_do_not_share_a_device(self):
        self.start()
        program = os.path.join(programs.BIN, "cobra-worker")
        work = [program, "work", "--server", self.server.address, "--core", "1"]
        graph = os.path.join(self.folder, "graph.json")
        with open(graph, "w") as file:
            json.dump(
                {
                    "inputs": [{"name": "x", "shape": [1, 8], "dtype": "float32"}],
                    "params": 0,
                    "param_shapes": {},
                    "output": [0],
                    "macs": 0,
                    "peak_memory_bytes": 64,
                    "ops": [{"op": "relu", "inputs": ["in:0"], "attrs": {}, "out": [[1, 8]]}],
                },
                file,
            )
        first = subprocess.Popen([*work, "--target", TARGET, "--spool", self.spool], stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        self.wait_until(
            lambda: os.path.exists(os.path.join(self.spool, "worker-id")), 60, "the first worker did not start"
        )

        def run(*command):
            return subprocess.run(command, capture_output=True, text=True, timeout=120)

        # Whatever it is called, and whatever it does there.
        for command in (
            [*work, "--target", "another-target", "--spool", os.path.join(self.folder, "other-spool")],
            [program, "probe", "--core", "1"],
            [program, "measure", "--graph", graph, "--core", "1"],
            [program, "canary", "--core", "1"],
            [program, "describe", "--core", "1"],
        ):
            answer = run(*command)
            self.assertEqual(answer.returncode, 1, command)
            self.assertIn(f"cpu1: a worker (process {first.pid})", answer.stderr)
            self.assertIn("--share-device", answer.stderr)
        measured = run(program, "measure", "--graph", graph, "--core", "1", "--share-device")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        self.assertGreater(json.loads(measured.stdout)["latency_us"], 0)
        same_spool = run(*work, "--target", TARGET, "--spool", self.spool, "--share-device")
        self.assertEqual(same_spool.returncode, 1)
        self.assertIn("spool", same_spool.stderr)
        self.assertIn("--spool", same_spool.stderr)
        with open(os.path.join(self.spool, "worker-id")) as file:
            name = file.read()
        other_name = run(*work, "--target", TARGET, "--spool", self.spool, "--share-device", "--worker", "other")
        self.assertEqual(other_name.returncode, 1)
        with open(os.path.join(self.spool, "worker-id")) as file:
            self.assertEqual(file.read(), name)  # it is locked before anything is changed there
        first.kill()  # SIGKILL: it cannot clean up, and must not have to
        first.wait()
        self.assertEqual(run(program, "measure", "--graph", graph, "--core", "1").returncode, 0)

    def test_while_the_server_is_away_records_wait_in_the_spool(self):
        address = f"127.0.0.1:{queue_run.free_port()}"
        self.start("--listen", address)
        self.enqueue(self.tasks(20))
        worker = self.worker("--group", "5")
        done, todo = os.path.join(self.spool, "done"), os.path.join(self.spool, "todo")
        self.wait_until(lambda: os.path.isdir(todo) and os.listdir(todo), 60, worker.log)
        self.server.process.kill()
        self.server.process.wait()
        self.wait_until(lambda: not os.listdir(todo), 60, worker.log)  # measured without a server
        self.assertGreater(len(os.listdir(done)), 0)
        self.start("--listen", address)
        self.wait_until(self.all_done(20), 60, worker.log)
        self.assertEqual(self.rows.measurements(), (20, 20))
        self.assertEqual(worker.stop(), 0)
        self.assertEqual(os.listdir(done), [])

    def test_a_spool_belongs_to_one_worker(self):
        record = os.path.join(self.spool, "done", "a" * 32 + ".json")
        os.makedirs(os.path.dirname(record))
        for path, text in ((os.path.join(self.spool, "worker-id"), "old"), (record, '{"record":{}}')):
            with open(path, "w") as file:
                file.write(text)
        worker = self.worker("--worker", "new", address=f"127.0.0.1:{queue_run.free_port()}")
        self.assertEqual(worker.process.wait(120), 1)
        self.assertIn("belongs to worker old", worker.log())
        self.assertIn("--worker old", worker.log())
        with open(os.path.join(self.spool, "worker-id")) as file:
            self.assertEqual(file.read(), "old")
        self.assertTrue(os.path.exists(record))

    def kills(self, postgres=None):
        states, measurements, different, servers, workers = queue_run.run_with_kills(
            self.folder, 200, 6, postgres, seed=3, seconds=300
        )
        self.assertEqual(states, {"done": 200})
        self.assertEqual((measurements, different), (200, 200))
        self.assertEqual(servers + workers, 6)

    def test_killed_again_and_again_every_task_ends_once_on_sqlite(self):
        self.kills()

    @unittest.skipUnless(programs.Postgres.installed(), "no PostgreSQL 15 here")
    def test_killed_again_and_again_every_task_ends_once_on_postgres(self):
        with programs.Postgres() as postgres:
            self.kills(postgres)


if __name__ == "__main__":
    programs.main()
