from torch.fx import Attribute, GraphAppendingTracer, Proxy, TraceError, TracerBase
