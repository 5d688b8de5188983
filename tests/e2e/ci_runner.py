"""What runs the steps of action.yml and of the GitLab component in tests, as a runner would, and
the hosts' APIs for comments, which record what they are asked."""
import http.server
import json
import os
import re
import subprocess
import threading
import urllib.parse

import yaml

import programs

MOST_PER_PAGE = 100


class Host:
    """An API of comments at a free port of 127.0.0.1. `token`: all others are refused."""

    def __init__(self, token, status=None):
        self.token, self.status = token, status
        self.raw = lambda method, path: None  # or what it says instead: (status, bytes), and headers
        self.requests = []  # (method, path)
        self.comments = []
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                split = urllib.parse.urlsplit(self.path)
                host.requests.append((self.command, split.path))
                content = json.loads(content) if content else None
                query = dict(urllib.parse.parse_qsl(split.query))
                given = host.raw(self.command, split.path)
                if given is None:
                    status, reply = host.reply(self.command, split.path, query, content, self.headers)
                    given = status, json.dumps(reply).encode()
                status, data, *headers = given
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = answer

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}{self.prefix}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def reply(self, method, path, query, content, headers):
        if self.is_token(headers) is False or (self.status and method != "GET"):
            return self.status or 401, {"message": "refused"}
        if path == self.prefix + "/user":
            return self.user()
        if method == "GET" and path == self.prefix + self.list:
            at = (int(query.get("page", 1)) - 1) * int(query.get("per_page", 30))
            return 200, self.comments[at : at + min(int(query.get("per_page", 30)), MOST_PER_PAGE)]
        if method == "POST" and path == self.prefix + self.list:
            return 201, self.add(content["body"])
        for comment in self.comments:
            if method == self.change and path == self.prefix + self.one.format(comment["id"]):
                comment["body"] = content["body"]
                return 200, comment
        return 404, {"message": "Not Found"}

    def methods(self):
        return [method for method, _ in self.requests if method != "GET"]


class GitHub(Host):
    prefix, change = "/api/v3", "PATCH"
    list, one = "/repos/o/r/issues/7/comments", "/repos/o/r/issues/comments/{}"

    def is_token(self, headers):
        return headers["Authorization"] == "Bearer " + self.token

    def user(self):
        return 403, {"message": "Resource not accessible by integration"}

    def add(self, body, login="github-actions[bot]", kind="Bot"):
        number = 100 + len(self.comments)
        user = {"login": login, "type": kind}
        self.comments.append({"id": number, "body": body, "user": user, "html_url": f"https://host/c{number}"})
        return self.comments[-1]


class GitLab(Host):
    prefix, change = "/api/v4", "PUT"
    list, one = "/projects/3/merge_requests/7/notes", "/projects/3/merge_requests/7/notes/{}"

    def is_token(self, headers):
        return headers["PRIVATE-TOKEN"] == self.token

    def user(self):
        return 200, {"id": 5}

    def add(self, body, author=5):
        self.comments.append({"id": 100 + len(self.comments), "body": body, "author": {"id": author}})
        return self.comments[-1]


def evaluated(text, context):
    """A value of action.yml, its expressions replaced. They have names, texts, == != && ||."""

    def value(match):
        python = re.sub(
            r"'[^']*'|(?:inputs|steps|github|runner)(?:\.[\w-]+)+",
            lambda name: name[0] if name[0][0] == "'" else repr(context(name[0])),
            match[1],
        )
        return str(eval(python.replace("&&", " and ").replace("||", " or "), {"__builtins__": {}}))

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))


def run_in(root, command, environment, folder):
    """The exit code and the log of a command in a folder of a root; "": here."""
    if root:
        settings = [f"{name}={value}" for name, value in environment.items()]
        command = ["chroot", root, "env", "-i", "-C", folder, *settings, *command]
    done = subprocess.run(
        command,
        cwd="/" if root else folder,
        env=None if root else environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


class Run:
    """A run of action.yml on a folder. `root`: a folder with another system, in which it happens;
    paths are those inside of it."""

    def __init__(self, workspace, temporary, environment, inputs, root=""):
        self.root, self.temporary = root, temporary
        with open(os.path.join(programs.SOURCE, "action.yml")) as file:
            self.action = yaml.safe_load(file)
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, unknown
        self.inputs = {name: one["default"] for name, one in self.action["inputs"].items()}
        self.inputs.update(inputs)
        self.environment = dict(environment, RUNNER_TEMP=temporary, GITHUB_WORKSPACE=workspace)
        self.workspace = workspace
        self.steps, self.used, self.log = {}, [], ""
        self.code = 0
        os.makedirs(self.outside(temporary), exist_ok=True)
        self.file("summary", "")

    def outside(self, path):
        return self.root + path if self.root else path

    def file(self, name, text=None):
        """Of the runner's own; its path in the root, or with no text its contents."""
        path = os.path.join(self.temporary, "file_" + name)
        if text is None:
            with open(self.outside(path)) as file:
                return file.read()
        with open(self.outside(path), "w") as file:
            file.write(text)
        return path

    def context(self, name):
        kind, *rest = name.split(".")
        if name == "github.token":
            return self.environment["TOKEN"]
        if kind == "inputs":
            return evaluated(self.inputs[rest[0]], self.context)
        assert kind == "steps" and rest[1] == "outputs", name
        return self.steps[rest[0]].get(rest[2], "")

    def step(self, step):
        if "if" in step and evaluated("${{" + step["if"] + "}}", self.context) in ("False", ""):
            return
        if "uses" in step:
            given = {name: evaluated(value, self.context) for name, value in step["with"].items()}
            self.used.append((step["uses"].split("@")[0], given))
            return
        files = {name: self.file(name, "") for name in ("output", "path")}
        assert step["shell"] == "bash"
        script = self.file("script", step["run"])
        environment = dict(
            self.environment,
            GITHUB_OUTPUT=files["output"],
            GITHUB_PATH=files["path"],
            GITHUB_STEP_SUMMARY=os.path.join(self.temporary, "file_summary"),
            **{name: evaluated(value, self.context) for name, value in step.get("env", {}).items()},
        )
        folder = os.path.join(self.workspace, evaluated(step.get("working-directory", "."), self.context))
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]
        code, log = run_in(self.root, command, environment, folder)
        self.log += log
        pairs = [line.split("=", 1) for line in self.file("output").splitlines()]
        self.steps[step.get("id", "")] = dict(pairs)
        more = self.file("path").split()
        self.environment["PATH"] = ":".join([*more, self.environment["PATH"]])
        if code and not step.get("continue-on-error"):
            self.code = code

    def run(self):
        for step in self.action["runs"]["steps"]:
            if self.code == 0:
                self.step(step)
        return self

    def output(self, name):
        return evaluated(self.action["outputs"][name]["value"], self.context)

    def commands(self, name):
        """The lines of the log that the runner takes for a command of this name."""
        found, end = [], None
        for line in self.log.splitlines():
            if end is not None:
                end = None if line == f"::{end}::" else end
            elif line.startswith("::stop-commands::"):
                end = line[len("::stop-commands::") :]
            elif re.match(rf"::{name}[ :]", line):
                found.append(line)
        return found


def gitlab_job(inputs):
    """The job that the component makes of inputs."""
    with open(os.path.join(programs.SOURCE, "templates", "check", "template.yml")) as file:
        header, job = file.read().split("\n---\n")
    specified = yaml.safe_load(header)["spec"]["inputs"]
    assert set(inputs) <= set(specified), inputs
    values = {name: inputs.get(name, one["default"]) for name, one in specified.items()}
    (job,) = yaml.safe_load(re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda m: values[m[1]], job)).values()
    return job
