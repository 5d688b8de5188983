from torch.fx import Interpreter, Transformer
