import collections.abc as container_abcs

string_classes = (str, bytes)
int_classes = int
inf = float("inf")
