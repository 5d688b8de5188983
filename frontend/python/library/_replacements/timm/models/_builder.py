# Trained weights are not read, and a latency does not need them.
import sys

__all__ = ["load_pretrained"]


def load_pretrained(
    model, pretrained_cfg=None, num_classes=1000, in_chans=3, filter_fn=None, strict=True, cache_dir=None, **earlier
):
    # Whether there are any is known without the network.
    pretrained_cfg = pretrained_cfg or getattr(model, "pretrained_cfg", None)
    if not pretrained_cfg:
        raise RuntimeError("Invalid pretrained config, cannot load weights. Use `pretrained=False` for random init.")
    if pretrained_cfg.get("hf_hub_id"):  # whether or not the package that fetches them is there
        return
    load_from, _ = sys.modules["timm.models._builder"]._resolve_pretrained_source(pretrained_cfg)
    if not load_from:
        name = pretrained_cfg.get("architecture", "this model")
        raise RuntimeError(f"No pretrained weights exist for {name}. Use `pretrained=False` for random init.")
