# Reading. Rows are parsed as they are asked for.
QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = 0, 1, 2, 3


class Error(Exception):
    pass


class Dialect:
    delimiter, quotechar, escapechar, doublequote = ",", '"', None, True
    skipinitialspace, lineterminator, quoting, strict = False, "\r\n", QUOTE_MINIMAL, False


class excel(Dialect):
    pass


class excel_tab(excel):
    delimiter = "\t"


class unix_dialect(Dialect):
    quoting, lineterminator = QUOTE_ALL, "\n"


_dialects = {"excel": excel, "excel-tab": excel_tab, "unix": unix_dialect}


def register_dialect(name, dialect=excel, **options):
    _dialects[name] = type("dialect", (dialect,), options)


def unregister_dialect(name):
    get_dialect(name)
    del _dialects[name]


def get_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    return _dialects[name]


def list_dialects():
    return list(_dialects)


def field_size_limit(limit=None):
    return 131072


class _Reader:
    def __init__(self, lines, dialect):
        self._lines, self.dialect, self.line_num = iter(lines), dialect, 0

    def __iter__(self):
        return self

    def __next__(self):
        d = self.dialect
        row, field, quoted, was_quoted, line = [], "", False, False, self._line()
        plain = d.quotechar is None or d.quoting == QUOTE_NONE or d.quotechar not in line
        if plain and d.escapechar is None and not d.skipinitialspace and d.quoting != QUOTE_NONNUMERIC:
            line = line.rstrip("\r\n")
            return line.split(d.delimiter) if line else []
        i = 0
        while True:
            if i == len(line):
                if not quoted:
                    break
                line, i = self._line(), 0
                continue
            c = line[i]
            i += 1
            if quoted:
                if c == d.escapechar:
                    field += line[i : i + 1]
                    i += 1
                elif c != d.quotechar:
                    field += c
                elif d.doublequote and line[i : i + 1] == c:
                    field += c
                    i += 1
                else:
                    quoted = False
            elif c == d.delimiter:
                row.append(self._value(field, was_quoted))
                field, was_quoted = "", False
            elif c in "\r\n":
                break
            elif c == d.escapechar:
                field += line[i : i + 1]
                i += 1
            elif c == d.quotechar and d.quoting != QUOTE_NONE and not field:
                quoted = was_quoted = True
            elif not (c == " " and d.skipinitialspace and not field):
                field += c
        if not row and not field and not was_quoted:
            return []
        row.append(self._value(field, was_quoted))
        return row

    def _value(self, field, was_quoted):
        return float(field) if self.dialect.quoting == QUOTE_NONNUMERIC and not was_quoted else field

    def _line(self):
        line = next(self._lines)
        if not isinstance(line, str):
            raise Error(
                f"iterator should return strings, not {type(line).__name__} (the file should be opened in text mode)"
            )
        self.line_num += 1
        return line


def reader(csvfile, dialect="excel", **options):
    base = get_dialect(dialect) if isinstance(dialect, str) else dialect
    base = base if isinstance(base, type) else type(base)
    return _Reader(csvfile, type("dialect", (base,), options) if options else base)


def writer(csvfile, *args, **options):
    import _cobra

    _cobra.unsupported("csv.writer()")


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", *args, **options):
        self._fieldnames, self.restkey, self.restval = fieldnames, restkey, restval
        self.reader = reader(f, dialect, *args, **options)
        self.dialect = dialect

    def __iter__(self):
        return self

    @property
    def line_num(self):
        return self.reader.line_num

    @property
    def fieldnames(self):
        if self._fieldnames is None:
            self._fieldnames = next(self.reader, None)
        return self._fieldnames

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while row == []:
            row = next(self.reader)
        found = dict(zip(names, row))
        if len(row) > len(names):
            found[self.restkey] = row[len(names) :]
        for name in names[len(row) :]:
            found[name] = self.restval
        return found


class DictWriter:
    def __init__(self, *args, **options):
        writer(*args)
