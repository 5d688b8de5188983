

input0
2'
getitem
index*:, :, ::2, None: