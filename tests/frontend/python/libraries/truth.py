#!/usr/bin/env python3
"""What real PyTorch runs for a library's models, on meta tensors: shapes without values.

    truth.py LIBRARY --list                  a JSON object a line: name, file, entry, and how to
                                             make its inputs
    truth.py LIBRARY --out FOLDER            reads names from standard input; writes
                                             FOLDER/NAME.json.gz for each and prints NAME, or NAME
                                             and a tab and why PyTorch itself cannot build or run it

LIBRARY: timm, transformers, diffusers. Run by the Python of `scripts/setup.sh --pypi`
(build/pypi/bin/python3)."""
import argparse
import functools
import gzip
import inspect
import itertools
import json
import os
import sys
import warnings

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "torch")]
import make_goldens  # noqa: E402  sets PYTORCH_JIT before torch is there
import torch  # noqa: E402

import diffusers_models  # noqa: E402
import torchvision_operators  # noqa: E402,F401
import torchvision_suite  # noqa: E402
import transformers_inputs  # noqa: E402

IMAGE = [3, 224, 224]
MOST_SETS = 24  # of inputs, tried one after the other


class Timm:
    """Each name of list_models(), at its default size, with a batch of one and of three."""

    runs_to_complete = False

    def cases(self):
        import timm

        for name in timm.list_models():
            for batch in (1, 3):
                yield {"name": f"{name}@{batch}", "model": name, "batch": batch}

    def complete(self, case, model):
        import timm

        size = list(timm.get_pretrained_cfg(case["model"], allow_unregistered=True).input_size or IMAGE)
        return {
            "file": "timm/models/__init__.py",
            "entry": "create_model('%s')" % case["model"],
            "inputs": [[case["batch"], *size]],
        }

    def build(self, case):
        import timm

        return timm.create_model(case["model"])


class Transformers:
    """Each base model of the library's own mapping, at its default configuration. Inputs are what
    the model takes: the first of some sets with which PyTorch runs it."""

    runs_to_complete = True

    def cases(self):
        import transformers
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
        from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

        for kind, model in MODEL_MAPPING_NAMES.items():
            model = model if isinstance(model, str) else model[0]
            case = {"name": kind, "model": model, "config": CONFIG_MAPPING_NAMES[kind]}
            if kind == "detr" and transformers.__version__ < "5":  # it would fetch weights
                case["options"] = {"use_pretrained_backbone": False}
            yield case
            if kind in transformers_inputs.NAMED:  # attention as it is written out, not as the library picks it
                yield {
                    **case,
                    "name": kind + "@eager",
                    "options": {**case.get("options", {}), "attn_implementation": "eager"},
                }
            if kind in transformers_inputs.DECODERS:
                yield {**case, "name": kind + "@cached", "cached_tokens": 32}

    def build(self, case):
        import transformers

        experts_as_on_cpu()
        config = getattr(transformers, case["config"])(**case.get("options", {}))
        return getattr(transformers, case["model"])(config)

    def shallow(self, case):
        """The same model with two layers, for what does not fit into memory."""
        return {**case, "options": {**case.get("options", {}), "num_hidden_layers": 2}}

    def complete(self, case, model):
        why = TypeError("no inputs are known here for its forward")
        for named in itertools.islice(self.inputs(model), MOST_SETS):
            try:
                with torch.no_grad():
                    model(**{name: tensor_of(spec, model) for name, spec in named.items()})
            except Exception as error:
                if reads_values(error):
                    raise  # on the CPU it may run
                why = error if type(why) is TypeError else why  # what is missing is no reason where something else is
                continue
            return {
                "file": "transformers/__init__.py",
                "entry": "%s(%s(%s))" % (case["model"], case["config"], options_of(case)),
                "inputs": [],
                "named": named,
            }
        raise why

    def inputs(self, model):
        """Sets of inputs, the likeliest first: what `forward` cannot do without, what the library
        calls the main input, and what goes with it."""
        parameters = list(inspect.signature(inspect.unwrap(type(model).forward)).parameters.values())[1:]
        needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        names = {p.name for p in parameters}
        main, known = model.main_input_name, transformers_inputs.known(model)
        first = needed if needed else [main if main in names or not names else parameters[0].name]
        sets = [first]
        if getattr(model.config, "is_encoder_decoder", False) and "decoder_input_ids" in names:
            sets.append([*first, "decoder_input_ids"])
        for more in (
            ["input_ids"],
            ["bbox"],
            ["pixel_values"],
            ["input_values"],
            ["input_features"],
            ["pixel_values", "bbox"],
        ):
            sets.append([*first, *(name for name in more if name in names and name not in first)])
        sets += [[name] for name in ("input_ids", "pixel_values", "input_values", "input_features") if name in names]
        tried = []
        for names in sets:
            if names in tried or not all(name in known for name in names):
                continue
            tried.append(names)
            for specs in itertools.product(*(known[name] for name in names)):
                yield dict(zip(names, specs))


class Diffusers:
    """The models of diffusers_models.py."""

    runs_to_complete = False

    def cases(self):
        for name, (options, inputs) in diffusers_models.MODELS.items():
            yield {"name": name, "entry": f"{name.partition('-')[0]}({options})", "inputs": inputs.split()}

    def build(self, case):
        import diffusers

        kind = case["entry"].partition("(")[0]
        return eval(case["entry"], {kind: getattr(diffusers, kind)})

    def complete(self, case, model):
        named = dict(text.strip("()").split("=") for text in case["inputs"])
        plain = {text.strip("()").split("=")[0] for text in case["inputs"] if text.startswith("(")}
        return {
            "file": "diffusers/__init__.py",
            "entry": case["entry"],
            "inputs": [],
            "named": {name: spec for name, spec in named.items() if name not in plain},
            "arguments": [[name, spec] for name, spec in named.items() if name in plain],
        }


def options_of(case):
    return ", ".join(f"{name}={value!r}" for name, value in case.get("options", {}).items())


def tensor_of(spec, model):
    """ "1x16:int64" or "1x3x224x224", on the model's device; "1x3:int64=1,16,16" with these
    values."""
    spec, _, values = spec.partition("=")
    shape, _, dtype = spec.partition(":")
    sizes, dtype = [int(size) for size in shape.split("x")], getattr(torch, dtype or "float32")
    device = next(model.parameters()).device
    if values:
        return torch.tensor([int(value) for value in values.split(",")], dtype=dtype, device=device).reshape(sizes)
    return torch.zeros(sizes, dtype=dtype, device=device)


LIBRARIES = {"timm": Timm, "transformers": Transformers, "diffusers": Diffusers}


def grouped_mm_of_any_type():
    """On meta tensors PyTorch takes bfloat16 only; its CPU kernel takes float32."""

    def shape_only(a, b, offs=None, bias=None, out_dtype=None):
        rows = a.shape[:-1] if b.dim() == 3 or offs is None else (offs.shape[0], a.shape[-2])
        return a.new_empty((*rows, b.shape[-1]), dtype=out_dtype or a.dtype)

    global _kernels
    _kernels = torch.library.Library("aten", "IMPL", "Meta")
    _kernels.impl("_grouped_mm", shape_only, allow_override=True)


@functools.cache
def experts_as_on_cpu():
    """Mixtures of experts choose a type by the device's: on meta that of the CPU, which is what is
    recorded."""
    try:
        from transformers.integrations import moe
    except ImportError:
        return  # releases before 5.0 have none
    source = inspect.getsource(moe.grouped_mm_experts_forward)
    changed = source.replace('("cpu", "mps")', '("cpu", "mps", "meta")')  # the first releases with experts do not ask
    exec(compile(changed, moe.__file__, "exec"), vars(moe))
    moe.ExpertsInterface._global_mapping["grouped_mm"] = moe.grouped_mm_experts_forward


def autocast_as_on_cpu():
    """It is asked about by the name of a tensor's device, and knows none that is called meta."""
    init, is_enabled = torch.autocast.__init__, torch.is_autocast_enabled

    def on_cpu(self, device_type, *args, **kwargs):
        init(self, "cpu" if device_type == "meta" else device_type, *args, **kwargs)

    torch.autocast.__init__ = on_cpu
    torch.is_autocast_enabled = lambda *device_type: is_enabled(*("cpu" if d == "meta" else d for d in device_type))


def stepped(named):
    """The input of which a decoder gets one token after the other."""
    return next((name for name in named if name.startswith("decoder_")), next(iter(named)))


def cache_of(model, named, tokens):
    """The keys and values that the model gives after so many tokens."""
    before = {**named, stepped(named): f"1x{tokens}:int64"}
    with torch.no_grad():
        out = model(**{name: tensor_of(spec, model) for name, spec in before.items()}, use_cache=True)
    return out.past_key_values


def request_of(library, case, model):
    """What our reader is asked, but for the named inputs; and those."""
    complete = library.complete(case, model)
    named = complete.pop("named", {})
    complete["inputs"] = ["x".join(map(str, shape)) for shape in complete["inputs"]]
    return complete, named


def record_on(device, library, case):
    with torch.device(device):
        model = library.build(case).eval()
    complete, named = request_of(library, case, model)
    if library.runs_to_complete:  # some models change while they run
        del model
        with torch.device(device):
            model = library.build(case).eval()
    cache = {}
    if case.get("cached_tokens"):
        complete["cached_tokens"] = case["cached_tokens"]
        cache = {"past_key_values": cache_of(model, named, case["cached_tokens"])}
        named[stepped(named)] = "1x1:int64"
    golden = make_goldens.record(
        model,
        [tensor_of(spec, model) for spec in complete["inputs"]],
        {name: tensor_of(spec, model) for name, spec in named.items()}
        | {name: int(text) for name, text in complete.get("arguments", [])}
        | cache,
    )
    complete["inputs"] += [f"{name}={spec.partition('=')[0]}" for name, spec in named.items()]
    return {"name": case["name"], "torch": torch.__version__, **complete, **golden}


def reads_values(error):
    """Of a tensor that is on meta."""
    return isinstance(error, (NotImplementedError, RuntimeError)) and "meta" in str(error).lower()


def record(library, case):
    """On meta tensors; on the CPU where a model reads values of tensors while it is built."""
    try:
        return record_on("meta", library, case)
    except Exception as error:
        if not reads_values(error):
            raise
    try:
        return record_on("cpu", library, case)
    except (RuntimeError, MemoryError) as error:
        if "memory" not in str(error).lower() or not hasattr(library, "shallow"):
            raise
        return record_on("cpu", library, library.shallow(case))


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
    autocast_as_on_cpu()
    library = LIBRARIES[options.library]()
    cases = {case["name"]: case for case in library.cases()}
    if options.list:
        for case in cases.values():
            complete, named = ({}, {}) if library.runs_to_complete else request_of(library, case, None)
            print(json.dumps(case if named else {**case, **complete}))
        return
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what models print is not a report
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
