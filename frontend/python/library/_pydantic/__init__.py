# The core of pydantic, which is compiled: what pydantic's own Python code asks of
# pydantic_core._pydantic_core.
