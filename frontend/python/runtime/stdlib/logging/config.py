def dictConfig(config):
    pass


fileConfig = dictConfig


def stopListening():
    pass
