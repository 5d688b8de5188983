

input0
2
softmax
dimÿÿÿÿÿÿÿÿÿ2<
topk
k
dimÿÿÿÿÿÿÿÿÿ
largest

sorted::