import typing

Number = typing.Union[int, float, bool]
_int = int
_float = float
_bool = bool
Device = typing.Any
