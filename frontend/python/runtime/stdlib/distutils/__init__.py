# The part that programs still ask: versions.
