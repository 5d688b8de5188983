

input0
2 
chunk

chunks
dim:::