"""Models of transformers that are tried in several forms; inputs by the name of the parameter of
`forward`: shapes that follow from the configuration."""

NAMED = (
    "bert roberta distilbert albert electra deberta-v2 gpt2 gpt_neox opt bloom llama mistral qwen2 qwen3 gemma2 phi3 "
    "falcon t5 bart mt5 whisper wav2vec2 vit deit beit swin convnext clip segformer detr"
).split()
DECODERS = "gpt2 gpt_neox opt bloom llama mistral qwen2 qwen3 gemma2 phi3 falcon t5 bart mt5 whisper mixtral".split()
PARTS = ("vision_config", "image_config", "text_config", "audio_config", "backbone_config", "encoder", "decoder")


class Setting:
    """A number of the configuration, or of one of its parts."""

    def __init__(self, config):
        self.configs = [config] + [part for part in (getattr(config, name, None) for name in PARTS) if part is not None]

    def __call__(self, *names, default):
        for config in self.configs:
            for name in names:
                value = config.get(name) if isinstance(config, dict) else getattr(config, name, None)
                if isinstance(value, (int, list, tuple)) and value:
                    return value
        return default


def known(model):
    """Name to shapes, the likeliest first."""
    setting = Setting(model.config)
    size = setting("image_size", default=224)
    height, width = (size, size) if isinstance(size, int) else size[-2:] if len(size) > 1 else list(size) * 2
    channels = setting("num_channels", "in_channels", "in_chans", default=3)
    bins = setting("num_mel_bins", "n_mels", "feature_size", "input_dim", "input_feat_size", default=80)
    hidden = setting("hidden_size", "d_model", "d_latents", default=768)
    frames = setting("num_frames", "frames_per_clip", default=16)
    patch, temporal = setting("patch_size", default=14), setting("temporal_patch_size", default=1)
    patch = patch if isinstance(patch, int) else patch[-1]
    ids, image = "1x16:int64", f"{channels}x{height}x{width}"
    return {
        **dict.fromkeys(("input_ids", "decoder_input_ids", "qformer_input_ids", "input"), [ids]),
        **images(image, channels, frames),
        **patches(channels, patch, temporal, hidden),
        **sound(bins, hidden),
        **series(setting),
        "bbox": ["1x16x4:int64"],
        "inputs": [f"1x2048x{setting('d_model', default=768)}"],
        "inputs_embeds": [f"1x16x{hidden}"],
        "query_embeds": [f"1x32x{hidden}"],
        "action_embeds": [f"1x16x{hidden}"],
        "task_inputs": ["1x77:int64"],
    }


def images(image, channels, frames):
    return {
        "pixel_values": [f"1x{image}", f"1x{frames}x{image}", f"1x{channels}x224x224", f"1x2x{image}", f"1x1x{image}"],
        "pixel_values_videos": [f"1x{frames}x{image}"],
        "prompt_pixel_values": [f"1x{image}"],
        "prompt_masks": [f"1x{image}"],
        "pixel_attention_mask": ["1x256:int64"],
        "pixel_position_ids": ["1x256x2:int64"],
        "spatial_shapes": ["1x2:int64=16,16"],
    }


def patches(channels, patch, temporal, hidden):
    """An image of 16 x 16 patches as a list of them, and its grid: numbers that the shapes depend
    on."""
    flat = [f"256x{channels * steps * patch * patch}" for steps in dict.fromkeys((temporal, 2, 1))]
    grid = ["1x3:int64=1,16,16"]
    return {
        "hidden_states": [*flat, f"1x{hidden}x64", f"1x64x{hidden}"],
        "grid_thw": grid,
        "image_grid_thw": grid,
        "merge_sizes": ["1:int64=2"],
    }


def sound(bins, hidden):
    return {
        "input_values": ["1x16000", "1x1x16000", "1x1024x128", "1x4x16000"],
        "input_features": [f"1x{bins}x3000", f"1x200x{bins}", f"1x1x1001x{bins}", f"1x1000x{bins}", f"1x3000x{bins}"],
        "input_features_mask": ["1x3000:int64", "1x200:int64", "1x1000:int64"],
        "audio_mel": [f"1x512x{bins}", "1x512x128"],
        "audio_mel_mask": ["1x512:bool"],
        "latents": [f"1x{hidden}x16", f"1x16x{hidden}"],
    }


def series(setting):
    """Of past values."""
    length = setting("context_length", "prediction_length", default=512)
    inputs = setting("num_input_channels", "input_size", default=1)
    lags = setting("lags_sequence", default=[0])
    past, features = length + max(lags), setting("num_time_features", default=1)
    return {
        "past_values": [f"1x{length}x{inputs}" if lags == [0] else f"1x{past}", f"1x{length}"],
        "past_time_features": [f"1x{past}x{features}"],
        "past_observed_mask": [f"1x{past}"],
        "past_values_padding": [f"1x{length}"],
        "freq": ["1x1:int64"],
    }
