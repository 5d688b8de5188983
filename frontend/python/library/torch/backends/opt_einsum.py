enabled = True
strategy = "auto"


def is_available():
    return False
