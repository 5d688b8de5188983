import typing

from numpy import ndarray

ArrayLike = typing.Any


class NDArray(ndarray):
    def __class_getitem__(cls, item):
        return cls
