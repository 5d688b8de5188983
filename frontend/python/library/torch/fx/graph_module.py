from torch.fx import Graph, GraphModule, _copy_attr
