import abc


class ResourceReader(abc.ABC):
    pass


class Traversable(abc.ABC):
    pass


class TraversableResources(ResourceReader):
    pass
