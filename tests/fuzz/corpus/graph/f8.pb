

input0
2*
pad
pad2

mode*constant: