# scipy as far as models use it while they build themselves: windows of filter banks, transforms of
# small tables, a root that a rank is found by. What is not here can be imported, and calling it is
# refused with its name.
__version__ = "1.17.1"
