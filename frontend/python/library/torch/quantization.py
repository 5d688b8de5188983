from torch.ao.quantization import (
    DeQuantStub,
    QuantStub,
    QuantWrapper,
    convert,
    default_qconfig,
    fuse_modules,
    get_default_qat_qconfig,
    get_default_qconfig,
    prepare,
    prepare_qat,
    quantize,
    quantize_dynamic,
)
