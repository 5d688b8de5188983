# An operator that a program defines: what it registers never runs here, the program's own calls of it do.
def impl(*args, **kwargs):
    return lambda function: function


def define(*args, **kwargs):
    return None


class Library:
    def __init__(self, *args, **kwargs):
        pass

    def define(self, schema, *args, **kwargs):
        return schema.split("(")[0]

    def impl(self, *args, **kwargs):
        return None
