"""From the lines of results to a table: fronts, their true latencies, hypervolumes."""
import json
import os
import statistics

REFERENCE = "reference"
# The corner of the hypervolume: errors from here on, and networks that take longer than the reference, count for nothing.
WORST_ERROR = 0.5


def read(path):
    """The results that are there. A last line that was cut is taken off the file."""
    if not os.path.exists(path):
        return []
    with open(path, "r+", encoding="utf-8") as file:
        lines = file.readlines()
        if lines and not lines[-1].endswith("\n"):
            lines.pop()
            file.seek(0)
            file.truncate()
            file.writelines(lines)
    return [json.loads(line) for line in lines]


def key(candidate):
    """A name for a candidate."""
    return json.dumps(candidate, sort_keys=True)


def front(points):
    """Of (error, time, ...) those that no other is at least as good as in both."""
    kept = []
    for point in sorted(points, key=lambda p: (p[1], p[0])):
        if not kept or point[0] < kept[-1][0]:
            kept.append(point)
    return kept


def hypervolume(points):
    """The share of the rectangle up to the corner that the points dominate, from 0 to 1. Times are parts of the reference's."""
    area, error = 0.0, WORST_ERROR
    for point_error, time, *_ in front(points):
        if point_error < error and time < 1:
            area += (error - point_error) * (1 - time)
            error = point_error
    return area / WORST_ERROR


def found_front(line):
    """What a search would hand over: the best by what it has seen, its errors and what its guide says."""
    return [found for *_, found in front((f["error"], f["guided"], f) for f in line["found"])]


def candidates_on_fronts(lines):
    """By their names, the candidates on the fronts of all searches."""
    searches = [line for line in lines if "guide" in line]
    return {key(found["candidate"]): found["candidate"] for line in searches for found in found_front(line)}


def true_times(lines):
    """The median of all rounds, as part of the reference's time."""
    rounds = {}
    for line in lines:
        for name, time in line.get("timed", {}).items():
            rounds.setdefault(name, []).append(time)
    return {name: statistics.median(values) for name, values in rounds.items()}


def spread(values, scale=100, digits=1):
    """Mean and standard deviation as text."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{scale * statistics.mean(values):.{digits}f} ± {scale * deviation:.{digits}f}"


def percent(values):
    """Their mean as text."""
    return f"{100 * statistics.mean(values):.0f}" if values else "-"


def table(lines):
    """A row per guide, in Markdown. Volumes are parts of the volume of all fronts together."""
    times = true_times(lines)
    searches = [line for line in lines if "guide" in line]

    def points(line):
        return [(f["test_error"], times[key(f["candidate"])]) for f in found_front(line)]

    best = hypervolume([point for line in searches for point in points(line)]) or 1.0
    head = ["guide", "hypervolume, %", "candidates", "trained", "time to guide, s", "guide is off by, %", "slower than the reference, %"]
    rows = [head, ["---"] * len(head)]
    for guide in dict.fromkeys(line["guide"] for line in searches):
        own = [line for line in searches if line["guide"] == guide]
        found = [(f["guided"], times[key(f["candidate"])]) for line in own for f in found_front(line)]
        rows.append(
            [
                guide,
                spread([hypervolume(points(line)) / best for line in own]),
                spread([line["asked"] for line in own], 1, 0),
                spread([len(line["found"]) for line in own], 1, 0),
                spread([line["asked_s"] for line in own], 1, 1),
                percent([abs(guided / true - 1) for guided, true in found]),
                percent([true > 1 for _, true in found]),
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
