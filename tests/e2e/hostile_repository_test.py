#!/usr/bin/env python3
"""A repository that somebody sent: `cobra-client check` and `diff` run no program that its
configuration names, and fetch nothing. Files of Git LFS are found without its program."""
import hashlib
import os
import shutil
import subprocess

import check_test
import programs

NET = check_test.NET


class HostileRepositoryTest(programs.ServedTest):
    repository = check_test.CheckTest.repository
    suite = check_test.CheckTest.suite
    model = check_test.CheckTest.model
    client = check_test.CheckTest.client
    diff = check_test.CheckTest.diff

    def setUp(self):
        # In place of a program that does harm: it leaves its name, and gives what it was given.
        self.marks = self.path(self.id().split(".")[-1])
        os.mkdir(self.marks)
        self.program = os.path.join(self.marks, "program.sh")
        with open(self.program, "w") as file:
            file.write("#!/bin/sh\ntouch %s/$1\ncase $1 in filter-*) cat ;; esac\n" % self.marks)
        os.chmod(self.program, 0o755)

    def ran(self):
        found = set(os.listdir(self.marks)) - {"program.sh"}
        for name in found:
            os.remove(os.path.join(self.marks, name))
        return found

    def configure(self, repository, **settings):
        for key, name in settings.items():
            repository.git("config", key.replace("__", "."), "%s %s" % (self.program, name))

    def hostile(self, name):
        repository = self.repository(name)
        attributes = "*.py filter=a=b diff=mine text eol=lf\n"
        repository.write(cobra_toml=self.suite(self.model("net")), net_py=NET.replace("WIDTH", "16"))
        repository.write(**{".gitattributes": attributes, "old_py": NET.replace("WIDTH", "8") + "# a\n" * 30})
        repository.commit()
        repository.write(net_py=NET.replace("WIDTH", "64"))
        os.rename(os.path.join(repository.path, "old.py"), os.path.join(repository.path, "new.py"))
        with open(os.path.join(repository.path, ".git", "config"), "a") as file:
            for section, keys in {
                'filter "a=b"': ("clean", "smudge", "process"),
                'diff "mine"': ("command", "textconv"),
                "diff": ("external",),
                "core": ("fsmonitor", "pager", "sshCommand", "alternateRefsCommand"),
            }.items():
                file.write("[%s]\n" % section)
                for key in keys:
                    if key != "process":  # its protocol is another one; git then tries the others
                        file.write("  %s = %s %s-%s\n" % (key, self.program, section.split()[0], key))
            file.write('[filter "a=b"]\n  required = true\n')
        hooks = os.path.join(repository.path, ".git", "hooks")
        os.makedirs(hooks, exist_ok=True)
        for hook in ("post-checkout", "post-index-change", "pre-commit"):
            with open(os.path.join(hooks, hook), "w") as file:
                file.write("#!/bin/sh\ntouch %s/hook-%s\n" % (self.marks, hook))
            os.chmod(os.path.join(hooks, hook), 0o755)
        return repository

    def test_no_program_of_its_configuration_runs(self):
        repository = self.hostile("hostile")
        repository.git("status")
        repository.git("diff", "HEAD")
        os.utime(os.path.join(repository.path, ".gitattributes"))
        repository.git("checkout-index", "--all", "--prefix=%s/out/" % self.marks)
        shutil.rmtree(os.path.join(self.marks, "out"))
        ran = self.ran()  # so the traps are set
        for trap in ("core-fsmonitor", "filter-clean", "filter-smudge", "hook-post-index-change"):
            self.assertIn(trap, ran)

        self.client("check", repository, "--against", "HEAD", code=1)
        self.diff(repository, "net.py", code=1)
        self.diff(repository, "HEAD", "net.py", code=1)
        renamed = self.diff(repository, "HEAD", "new.py")
        self.assertIn("renamed from old.py", renamed.out)
        self.assertEqual(self.ran(), set())

    def test_a_commit_is_what_its_name_says(self):
        repository = self.repository("replaced")
        repository.write(cobra_toml=self.suite(self.model("net")), net_py=NET.replace("WIDTH", "16"))
        repository.commit()
        before = repository.git("rev-parse", "HEAD:net.py").strip()
        repository.write(net_py=NET.replace("WIDTH", "64"))
        after = repository.git("hash-object", "-w", "net.py").strip()
        repository.git("replace", before, after)
        self.assertIn("64", repository.git("show", "HEAD:net.py"))  # so the trap is set
        self.client("check", repository, "--against", "HEAD", code=1)

    def test_a_suite_that_is_a_pipe_is_not_waited_for(self):
        repository = self.repository("pipe")
        repository.write(net_py=NET.replace("WIDTH", "16"))
        repository.commit()
        os.mkfifo(os.path.join(repository.path, "cobra.toml"))
        self.assertIn("is a pipe, not a file", self.client("check", repository, code=2).err)

    def test_no_program_of_a_submodule_runs(self):
        inner = self.hostile("inner")
        outer = self.repository("outer")
        outer.write(net_py=NET.replace("WIDTH", "16") + "# a\n" * 30)
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", inner.path, "sub")
        outer.commit()
        module = os.path.join(outer.path, ".git", "modules", "sub", "config")
        with open(module, "a") as file:
            file.write("[core]\n  fsmonitor = %s fsmonitor\n" % self.program)
        os.rename(os.path.join(outer.path, "net.py"), os.path.join(outer.path, "new.py"))
        outer.git("status")
        self.assertIn("fsmonitor", self.ran())
        self.diff(outer, "HEAD", "new.py")
        self.assertEqual(self.ran(), set())

    def test_nothing_is_fetched(self):
        whole = self.repository("whole")
        whole.write(net_py=NET.replace("WIDTH", "16"))
        whole.commit()
        whole.write(net_py=NET.replace("WIDTH", "64"))
        whole.commit()
        whole.git("config", "uploadpack.allowFilter", "true")
        whole.git("config", "uploadpack.allowAnySHA1InWant", "true")
        part = check_test.Repository(self.path("part"))
        shutil.rmtree(part.path)
        whole.git("clone", "--quiet", "--filter=blob:none", "file://" + whole.path, part.path)
        self.configure(part, remote__origin__uploadpack="upload")
        part.git("config", "protocol.file.allow", "always")
        probe = subprocess.run(["git", "-C", part.path, "show", "HEAD~:net.py"], capture_output=True)
        self.assertNotEqual(probe.returncode, 0)
        self.assertEqual(self.ran(), {"upload"})  # so the trap is set
        answer = self.diff(part, "HEAD~", "net.py", code=2)
        self.assertIn("nothing is fetched here; fetch the contents first: git -C %s archive " % part.path, answer.err)
        self.assertEqual(self.ran(), set())
        part.git("config", "--unset", "remote.origin.uploadpack")
        advice = answer.err.split("fetch the contents first: ")[1].splitlines()[0]
        subprocess.run(advice, shell=True, check=True, stdout=subprocess.DEVNULL)
        self.diff(part, "HEAD~", "net.py", code=1)

    def test_a_file_of_git_lfs(self):
        repository = self.repository("lfs")
        net = programs.client(
            "graph",
            "--arch",
            "nasbench201:|nor_conv_3x3~0|+|skip_connect~0|none~1|+|none~0|none~1|skip_connect~2|",
            "--format",
            "json",
        )
        self.assertEqual(net.code, 0, net.err)
        contents = net.out.encode()
        digest = hashlib.sha256(contents).hexdigest()
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (digest, len(contents))
        # The folder is a model's, as it is with files that are no programs.
        repository.write(**{"net.json": pointer})
        repository.commit()
        repository.write(**{"net.json": net.out})
        question = ("--target", self.target, "--min-confidence", "0")
        missing = self.client("diff", repository, "net.json", *question, code=2)
        self.assertIn("net.json: its contents at", missing.err)
        self.assertIn("git lfs fetch", missing.err)
        objects = os.path.join(repository.path, ".git", "lfs", "objects", digest[:2], digest[2:4])
        os.makedirs(objects)
        with open(os.path.join(objects, digest), "wb") as file:
            file.write(contents)
        self.client("diff", repository, "net.json", *question)


if __name__ == "__main__":
    programs.main()
