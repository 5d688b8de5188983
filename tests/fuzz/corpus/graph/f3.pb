

input0
2,
einsum
equation*bchw,bdhw->bcd: