from torch.nn.quantized import FloatFunctional
