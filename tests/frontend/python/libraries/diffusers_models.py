"""UNets, transformers and autoencoders of diffusers: the arguments of the class, and its inputs.
`name=VALUE` in parentheses is an argument of forward that is not a tensor."""

TIME = "timestep=1:int64"
MODELS = {
    "UNet2DModel": ("sample_size=32", f"sample=1x3x32x32 {TIME}"),
    "UNet2DConditionModel": ("", f"sample=1x4x64x64 {TIME} encoder_hidden_states=1x77x1280"),
    "UNet2DConditionModel-sd15": (
        "sample_size=64, cross_attention_dim=768",
        f"sample=2x4x64x64 {TIME} encoder_hidden_states=2x77x768",
    ),
    "UNet3DConditionModel": ("", f"sample=1x4x8x32x32 {TIME} encoder_hidden_states=1x77x1024"),
    "UNetSpatioTemporalConditionModel": (
        "",
        f"sample=1x4x8x32x32 {TIME} encoder_hidden_states=1x1x1024 added_time_ids=1x3",
    ),
    "Kandinsky3UNet": (
        "",
        f"sample=1x4x32x32 {TIME} encoder_hidden_states=1x77x4096 encoder_attention_mask=1x77",
    ),
    "UVit2DModel": (
        "",
        "input_ids=1x16x16:int64 encoder_hidden_states=1x77x768 pooled_text_emb=1x768 micro_conds=1x5",
    ),
    "I2VGenXLUNet": (
        "",
        f"sample=1x4x4x32x32 {TIME} fps=1:int64 image_latents=1x4x4x32x32 image_embeddings=1x1024 encoder_hidden_states=1x77x1024",
    ),
    "ControlNetModel": (
        "",
        f"sample=1x4x64x64 {TIME} encoder_hidden_states=1x77x1280 controlnet_cond=1x3x512x512",
    ),
    "DiTTransformer2DModel": ("", f"hidden_states=1x4x32x32 {TIME} class_labels=1:int64"),
    "PixArtTransformer2DModel": (
        "sample_size=64",
        f"hidden_states=1x4x64x64 encoder_hidden_states=1x120x1152 {TIME}",
    ),
    "SD3Transformer2DModel": (
        "",
        "hidden_states=1x16x64x64 encoder_hidden_states=1x77x4096 pooled_projections=1x2048 timestep=1",
    ),
    "FluxTransformer2DModel": (
        "",
        "hidden_states=1x256x64 encoder_hidden_states=1x77x4096 pooled_projections=1x768 timestep=1 img_ids=256x3 txt_ids=77x3",
    ),
    "AuraFlowTransformer2DModel": ("", "hidden_states=1x4x64x64 encoder_hidden_states=1x77x2048 timestep=1"),
    "CogVideoXTransformer3DModel": ("", f"hidden_states=1x13x16x60x90 encoder_hidden_states=1x226x4096 {TIME}"),
    "LTXVideoTransformer3DModel": (
        "",
        f"hidden_states=1x512x128 encoder_hidden_states=1x128x4096 {TIME} encoder_attention_mask=1x128 (num_frames=2) (height=16) (width=16)",
    ),
    "SanaTransformer2DModel": ("", f"hidden_states=1x32x32x32 encoder_hidden_states=1x300x2304 {TIME}"),
    "MochiTransformer3DModel": (
        "num_layers=4",
        f"hidden_states=1x12x4x32x32 encoder_hidden_states=1x256x4096 {TIME} encoder_attention_mask=1x256:bool",
    ),
    "WanTransformer3DModel": ("", f"hidden_states=1x16x5x32x32 {TIME} encoder_hidden_states=1x512x4096"),
    "CogView3PlusTransformer2DModel": (
        "",
        f"hidden_states=1x16x64x64 encoder_hidden_states=1x224x4096 {TIME} original_size=1x2 target_size=1x2 crop_coords=1x2",
    ),
    "PriorTransformer": ("", f"hidden_states=1x768 {TIME} proj_embedding=1x768 encoder_hidden_states=1x77x768"),
    "StableAudioDiTModel": (
        "",
        "hidden_states=1x64x1024 timestep=1 encoder_hidden_states=1x130x768 global_hidden_states=1x1x1536",
    ),
    "AutoencoderKL": ("", "sample=1x3x64x64"),
    "AutoencoderKL-sd": (
        "block_out_channels=(128, 256, 512, 512), down_block_types=('DownEncoderBlock2D',) * 4, up_block_types=('UpDecoderBlock2D',) * 4, layers_per_block=2",
        "sample=1x3x256x256",
    ),
    "AutoencoderTiny": ("", "sample=1x3x256x256"),
    "VQModel": ("", "sample=1x3x64x64"),
    "AsymmetricAutoencoderKL": ("", "sample=1x3x64x64"),
    "AutoencoderDC": ("", "sample=1x3x256x256"),
    "AutoencoderKLTemporalDecoder": ("", "sample=4x3x64x64 (num_frames=4)"),
    "AutoencoderKLCogVideoX": ("", "sample=1x3x9x64x64"),
    "AutoencoderKLLTXVideo": ("", "sample=1x3x9x128x128"),
    "AutoencoderKLMochi": ("", "sample=1x3x7x64x64"),
    "AutoencoderOobleck": ("", "sample=1x2x40960"),
    "AutoencoderKLWan": ("", "sample=1x3x5x64x64"),
}
