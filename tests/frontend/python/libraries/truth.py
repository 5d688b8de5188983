#!/usr/bin/env python3
"""What real PyTorch runs for a library's models, on meta tensors: shapes without values.

    truth.py LIBRARY --list                  a JSON object a line: name, file, entry, and how to make its inputs
    truth.py LIBRARY --out FOLDER            reads names from standard input; writes FOLDER/NAME.json.gz for each and prints NAME, or NAME and a tab
                                             and why PyTorch itself cannot build or run it

LIBRARY: timm, transformers. Run by the Python of `scripts/setup.sh --pypi` (build/pypi/bin/python3)."""
import argparse
import gzip
import json
import os
import sys
import warnings

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "torch")]
import make_goldens  # noqa: E402  sets PYTORCH_JIT before torch is there
import torch  # noqa: E402

import torchvision_operators  # noqa: E402,F401
import torchvision_suite  # noqa: E402

IMAGE = [3, 224, 224]


class Timm:
    """Each name of list_models(), at its default size, with a batch of one and of three."""

    def cases(self):
        import timm

        for name in timm.list_models():
            for batch in (1, 3):
                yield {"name": f"{name}@{batch}", "model": name, "batch": batch}

    def complete(self, case, model):
        config = model.pretrained_cfg
        size = list(config.get("input_size") or IMAGE)
        return {
            "file": "timm/models/__init__.py",
            "entry": "create_model('%s')" % case["model"],
            "inputs": [[case["batch"], *size]],
        }

    def build(self, case):
        import timm

        return timm.create_model(case["model"])


class Transformers:
    """Each base model of the library's own mapping, at its default configuration. Inputs are what the model takes: the first of some sets with which
    PyTorch runs it."""

    def cases(self):
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
        from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

        for kind, model in MODEL_MAPPING_NAMES.items():
            model = model if isinstance(model, str) else model[0]
            yield {"name": kind, "model": model, "config": CONFIG_MAPPING_NAMES[kind]}

    def build(self, case):
        import transformers

        return getattr(transformers, case["model"])(getattr(transformers, case["config"])())

    def complete(self, case, model):
        why = None
        for named in self.inputs(model):
            try:
                with torch.no_grad():
                    model(**{name: tensor_of(spec, model) for name, spec in named.items()})
            except Exception as error:
                why = why or error
                continue
            return {
                "file": "transformers/__init__.py",
                "entry": "%s(%s())" % (case["model"], case["config"]),
                "inputs": [],
                "named": named,
            }
        raise why

    @staticmethod
    def inputs(model):
        """Sets of inputs, the likeliest first."""
        configs = [model.config]
        for part in (
            "vision_config",
            "image_config",
            "text_config",
            "audio_config",
            "backbone_config",
            "encoder",
            "decoder",
        ):
            if getattr(model.config, part, None) is not None:
                configs.append(getattr(model.config, part))

        def setting(*names, default):
            for config in configs:
                for name in names:
                    if isinstance(getattr(config, name, None), (int, list, tuple)):
                        return getattr(config, name)
            return default

        size = setting("image_size", default=224)
        height, width = (size, size) if isinstance(size, int) else size[-2:] if len(size) > 1 else size * 2
        channels = setting("num_channels", "in_channels", "in_chans", default=3)
        ids, bins = "1x16:int64", setting("num_mel_bins", "n_mels", "feature_size", default=80)
        image, frames = f"{channels}x{height}x{width}", setting("num_frames", default=16)
        known = {
            "input_ids": [ids],
            "pixel_values": [f"1x{image}", f"1x{frames}x{image}", f"1x{channels}x224x224"],
            "pixel_values_videos": [f"1x{frames}x{image}"],
            "input_values": ["1x16000", "1x1024x128", "1x1x16000"],
            "input_features": [f"1x{bins}x3000", f"1x200x{bins}", f"1x1x1001x{bins}", f"1x1000x{bins}"],
            "bbox": ["1x16x4:int64"],
            "decoder_input_ids": [ids],
        }
        main = model.main_input_name
        second = ["decoder_input_ids"] if getattr(model.config, "is_encoder_decoder", False) else []
        for names in (
            [main],
            [main, *second],
            ["input_ids", "pixel_values"],
            ["input_ids", "input_values"],
            ["input_ids", "bbox"],
        ):
            for spec in known.get(names[0], ["1x16"]):
                for other in known[names[1]] if len(names) > 1 else [None]:
                    yield {names[0]: spec, **({names[1]: other} if other else {})}


def tensor_of(spec, model):
    """ "1x16:int64" or "1x3x224x224", on the model's device."""
    shape, _, dtype = spec.partition(":")
    sizes = [int(size) for size in shape.split("x")]
    return torch.zeros(sizes, dtype=getattr(torch, dtype or "float32"), device=next(model.parameters()).device)


LIBRARIES = {"timm": Timm, "transformers": Transformers}


def grouped_mm_of_any_type():
    """On meta tensors PyTorch takes bfloat16 only; its CPU kernel takes float32."""

    def shape_only(a, b, offs=None, bias=None, out_dtype=None):
        rows = a.shape[:-1] if b.dim() == 3 or offs is None else (offs.shape[0], a.shape[-2])
        return a.new_empty((*rows, b.shape[-1]), dtype=out_dtype or a.dtype)

    global _kernels
    _kernels = torch.library.Library("aten", "IMPL", "Meta")
    _kernels.impl("_grouped_mm", shape_only, allow_override=True)


def record_on(device, library, case):
    with torch.device(device):
        model = library.build(case).eval()
    complete = library.complete(case, model)
    named = complete.pop("named", {})
    complete["inputs"] = ["x".join(map(str, shape)) for shape in complete["inputs"]]
    golden = make_goldens.record(
        model,
        [tensor_of(spec, model) for spec in complete["inputs"]],
        {name: tensor_of(spec, model) for name, spec in named.items()},
    )
    complete["inputs"] += [f"{name}={spec}" for name, spec in named.items()]
    return {"name": case["name"], "torch": torch.__version__, **complete, **golden}


def record(library, case):
    """On meta tensors; on the CPU where a model reads values of tensors while it is built."""
    try:
        return record_on("meta", library, case)
    except (NotImplementedError, RuntimeError) as error:
        if "meta" not in str(error).lower():
            raise
        return record_on("cpu", library, case)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torchvision_suite.without_initialization()
    grouped_mm_of_any_type()
    library = LIBRARIES[options.library]()
    cases = {case["name"]: case for case in library.cases()}
    if options.list:
        for case in cases.values():
            print(json.dumps(case))
        return
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what models print is no report
    for name in map(str.strip, sys.stdin):
        why = ""
        try:
            truth = record(library, cases[name])
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            truth = {"name": name, "unbuildable": why}
        path = os.path.join(options.out, name + ".json.gz")
        with gzip.GzipFile(path + ".part", "wb", mtime=0) as file:
            file.write(json.dumps(truth).encode())
        os.rename(path + ".part", path)
        print(name + ("\t" + why if why else ""), file=report, flush=True)


main()
