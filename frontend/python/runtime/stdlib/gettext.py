# Messages stay as they are written.


def gettext(message):
    return message


def ngettext(singular, plural, n):
    return singular if n == 1 else plural


def dgettext(domain, message):
    return message


def pgettext(context, message):
    return message


class NullTranslations:
    gettext = staticmethod(gettext)
    ngettext = staticmethod(ngettext)

    def install(self, names=None):
        pass


def translation(*args, **kwargs):
    return NullTranslations()


def install(*args, **kwargs):
    pass


def bindtextdomain(domain, localedir=None):
    return localedir


def textdomain(domain=None):
    return domain
