#!/usr/bin/python3
"""Trained weights that a library would fetch from a hub: the network is read as without them."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
# As timm is built, in a few lines: what is fetched goes through a filter, and is loaded whole.
BUILDER = """
import torch
def fetched(name):
    raise OSError("there is no network")
def _resolve_pretrained_source(config):
    return ("hf-hub", config["hub"]) if config.get("hub") else ("", "")
def load_pretrained(model, pretrained_cfg=None, num_classes=1000, in_chans=3, filter_fn=None, strict=True):
    model.load_state_dict({name[1:]: value for name, value in fetched(pretrained_cfg["hub"]).items()}, strict=strict)
class Net(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3)
        self.head = torch.nn.Linear(8, classes)
    def forward(self, x):
        return self.head(self.stem(x).mean((2, 3)))
def create_model(classes=10, pretrained=False, hub="timm/net", hf=""):
    model = Net(classes)
    if pretrained:
        config = {"hub": hub, "hf_hub_id": hf, "architecture": "net"}
        load_pretrained(model, pretrained_cfg=config, num_classes=classes)
    return model
"""


class PretrainedTest(unittest.TestCase):
    def read(self, entry, builder=BUILDER):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {
                "lib/timm/__init__.py": "from timm.models._builder import create_model\n",
                "lib/timm/models/__init__.py": "",
                "lib/timm/models/_builder.py": builder,
                "model.py": "import timm\n",
            }.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
            command = [BIN + "/read_model", folder + "/model.py", entry, "1x3x16x16", "--library", folder + "/lib"]
            answer = subprocess.run(command, capture_output=True, text=True).stdout
            return json.loads(answer.replace(folder, ""))

    def test_the_network_is_that_without_weights(self):
        plain, trained = (
            self.read(f"timm.create_model(classes=7, pretrained={pretrained})") for pretrained in (False, True)
        )
        self.assertNotIn("error", plain)
        self.assertEqual([call["op"] for call in plain["ops"]], ["conv2d", "mean", "linear"])
        self.assertEqual(trained, plain)

    def test_the_package_of_the_hub_need_not_be_there(self):
        found = self.read("timm.create_model(pretrained=True, hub='', hf='timm/net')")
        self.assertNotIn("error", found)

    def test_a_network_of_which_there_are_none_is_the_error_of_the_library(self):
        error = self.read("timm.create_model(pretrained=True, hub='')")["error"]
        self.assertIn("No pretrained weights exist for net", error)

    def test_what_a_library_calls_otherwise_stays(self):
        error = self.read("timm.create_model(pretrained=True)", BUILDER.replace("load_pretrained", "load"))["error"]
        self.assertIn("there is no network", error)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
