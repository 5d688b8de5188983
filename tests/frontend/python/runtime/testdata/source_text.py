# eval() and exec(): text that becomes code
def names_of_the_caller():
    class Conv:
        pass

    args = [[1, "None", "Conv", "n * 2", "len"], 3]
    n = 4
    table = {"Conv": Conv}
    print([eval(a) if isinstance(a, str) else a for a in ["n"]] if False else eval("n"))
    for i, a in enumerate(args[0]):
        args[0][i] = eval(a) if isinstance(a, str) else a
    print(args[0][1], args[0][2] is Conv, args[0][3], args[0][4]((1, 2)), table["Conv"] is args[0][2])


names_of_the_caller()
# ---
def expressions():
    x = 7
    print(eval("  x + 1"), eval("\tx"), eval("(lambda y: y * 2)(5)"), eval("[i * i for i in range(4)]"), eval(b"1 + 1"))
    print(eval("max(x, 9)"), eval("'%d' % x"), eval("{'a': x}"), eval("x if x > 3 else None"))


expressions()
# ---
def given_namespaces():
    x = 1
    print(eval("x", {"x": 2}), eval("x + y", {"x": 2}, {"y": 5}), eval("x", {"x": 2}, {"x": 3}))
    eval("x", {}, {"y": 1})


given_namespaces()
# ---
def unknown_name():
    names = []
    for text in ["nearest", "1 + 1", "undefined.attribute"]:
        try:
            names.append(eval(text))
        except NameError as e:
            names.append(str(e))
    print(names)


unknown_name()
# ---
def syntax_error():
    for text in ["1 +", "x = 1", "", "for"]:
        try:
            eval(text)
        except SyntaxError as e:
            print(type(e).__name__)
    eval("(1, 2")


syntax_error()
# ---
def wrong_types():
    try:
        eval(3)
    except TypeError as e:
        print(e)
    eval("1", [])


wrong_types()
# ---
def exec_with_dict():
    space = {"n": 3}
    exec("m = n + 1\ndef f(k):\n    return k * m\nclass C:\n    size = m", space)
    print(space["m"], space["f"](10), space["C"].size, sorted(k for k in space if not k.startswith("__")))


exec_with_dict()
# ---
def exec_with_two_dicts():
    shared, own = {"a": 1, "b": 2}, {"b": 5}
    exec("c = a + b\nb = 7", shared, own)
    print(sorted((k, v) for k, v in shared.items() if not k.startswith("__")), sorted(own.items()))


exec_with_two_dicts()
# ---
def exec_in_function():
    x = 1
    exec("x = 2; y = 3; print(x, y)")
    print(x)


exec_in_function()
# ---
def recursion():
    def f(n):
        return 0 if n == 0 else 1 + eval("f(n - 1)", {"f": f, "n": n})

    print(f(20))


recursion()
