def pformat(object, *args, **kwargs):
    return repr(object)


def pprint(object, *args, **kwargs):
    print(repr(object))


pp = pprint
