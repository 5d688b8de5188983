import copy
import datetime as d
import time as t


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, str(e).replace("'datetime.", "'"))


bad = [lambda: d.date(0,1,1), lambda: d.date(2020,13,1), lambda: d.date(2020,2,30), lambda: d.date('a',1,1), lambda: d.date(1.5,1,1), lambda: d.timedelta('a'), lambda: d.time(25), lambda: d.time(1,60), lambda: d.time(1,1,1,10**6), lambda: d.time(1,1,1,1,5), lambda: d.time(fold=2), lambda: d.timezone(5), lambda: d.timezone(d.timedelta(days=1)), lambda: d.date(2020,1,1)+5, lambda: d.date(2020,1,1)<5, lambda: d.date.fromisoformat('x'), lambda: d.datetime.fromisoformat('2020-01'), lambda: d.datetime(2020,1,1)-d.datetime(2020,1,1,tzinfo=d.timezone.utc), lambda: d.datetime(2020,1,1)<d.datetime(2020,1,1,tzinfo=d.timezone.utc), lambda: d.timedelta(1)/0, lambda: d.timedelta(1)//0, lambda: d.datetime.strptime('2020','%Y-%m'), lambda: d.datetime.strptime('2020x','%Y'), lambda: d.datetime.strptime('2020','%q'), lambda: d.date(9999,12,31)+d.timedelta(1), lambda: d.date.fromordinal(0), lambda: d.date.fromisocalendar(2020,54,1), lambda: d.date.fromisocalendar(2020,1,8), lambda: d.date.fromisocalendar(0,1,1), lambda: d.datetime.combine(1,2), lambda: d.tzinfo().utcoffset(None), lambda: d.time(1).isoformat('x'), lambda: d.date(2020), lambda: d.date(), lambda: d.datetime(2020,1), lambda: d.datetime(2020,1,1,tzinfo=3), lambda: d.datetime(2020,1,1).replace(tzinfo=3), lambda: d.datetime(2020,1,1).astimezone(3), lambda: d.datetime.strptime('30','%d %'), lambda: d.date.fromtimestamp('a'), lambda: d.datetime.fromisocalendar(2020,1,1), lambda: d.timezone(d.timedelta(0),5), lambda: d.timezone.utc.utcoffset(3), lambda: d.datetime.strptime('31/02/2020','%d/%m/%Y'), lambda: d.datetime.strptime('1','%U'), lambda: d.date.fromisoformat(5), lambda: d.time.fromisoformat('25:00'), lambda: d.time.fromisoformat('xx'), lambda: d.datetime.fromisoformat('2020-01-01T'), lambda: d.datetime.strptime('',''), lambda: d.timedelta(float('nan')), lambda: d.timedelta(float('inf')), lambda: d.timedelta(1)/'a', lambda: d.time(1)<d.time(1,tzinfo=d.timezone.utc), lambda: d.datetime.combine(d.date(2020,1,1),3), lambda: d.date(2020,1,1).replace(year=0), lambda: setattr(d.date(2020,1,1),'year',3), lambda: setattr(d.date(2020,1,1),'x',3), lambda: d.datetime(2020,1,1).isoformat(timespec='q'), lambda: d.time(1,2,3).strftime('%Y %H:%M'), lambda: d.datetime.strptime('2020 1','%Y %U'), lambda: d.datetime.strptime('2020 1 1','%Y %U %w'), lambda: d.datetime.strptime('2020 1 1','%G %V %u'), lambda: d.datetime.strptime('2020 1','%G %V'), lambda: d.datetime.strptime('2020 1 1','%Y %V %u'), lambda: d.date(2020,5,3).strftime('%-d %e %y %C %G %E %Ey %Od %^a %#Z %_d %5d %05d %k|%l|%P|%r|%R|%h|%D|%F|%T|%n|%t|%v|%+|%Q|%i|%J|%'),
 lambda: d.timedelta(1)/d.timedelta(0), lambda: d.timedelta(999999999)+d.timedelta(1), lambda: d.timedelta(1)//d.timedelta(0), lambda: d.timedelta(1)/0.0, lambda: divmod(d.timedelta(1),0), lambda: d.timedelta(1)%5, lambda: d.timedelta(days=999999999,seconds=86400), lambda: setattr(d.timedelta(1),"q",3),
 lambda: d.time(1,2,tzinfo=d.timezone.utc), lambda: d.datetime(2020,1,1,fold=1), lambda: d.date(2020,1,1).isocalendar(), lambda: d.date(2020,1,1).timetuple(), lambda: d.datetime(2020,1,1,tzinfo=d.timezone.utc).timetuple(), lambda: d.datetime(2020,1,1).utctimetuple(), lambda: d.date.max-d.date.min, lambda: d.datetime.now().__class__, lambda: d.time()==d.date(2020,1,1), lambda: d.datetime(2020,1,1)==d.date(2020,1,1), lambda: d.datetime(2020,1,1)<d.date(2020,1,1), lambda: d.date(2020,1,1)<d.datetime(2020,1,1), lambda: d.date(2020,1,1)-d.datetime(2020,1,1), lambda: d.datetime(2020,1,1)-d.date(2020,1,1), lambda: d.timezone(d.timedelta(hours=-5,minutes=-30)).tzname(None), lambda: d.timezone(d.timedelta(seconds=30,microseconds=5)), lambda: str(d.timezone(d.timedelta(seconds=30,microseconds=5))), lambda: d.timezone.min, lambda: d.timezone(d.timedelta(0)) is d.timezone.utc, lambda: d.timezone(d.timedelta(0),"x"), lambda: d.datetime.utcfromtimestamp(1.5), lambda: d.datetime.fromtimestamp(1e9,d.timezone.utc), lambda: d.date(2020,1,1).replace(2021, day=5), lambda: d.date.fromisocalendar(2020,53,7), lambda: d.datetime.fromisoformat("2020-W01-1T05"), lambda: d.time(tzinfo=d.timezone.utc).utcoffset(), lambda: d.datetime(2020,1,1,1,2,3,4).isoformat(" ","milliseconds"), lambda: d.datetime(2020,1,1).ctime(), lambda: format(d.datetime(2020,1,1),"%Y"), lambda: format(d.date(2020,1,1)), lambda: d.datetime.max, lambda: d.datetime.min, lambda: d.datetime.resolution, lambda: d.datetime(2020,1,1,tzinfo=d.timezone.utc).astimezone(d.timezone(d.timedelta(hours=2))), lambda: d.datetime(1,1,1).toordinal(), lambda: d.time.fromisoformat("T05:04"), lambda: d.time.fromisoformat("050403,1234567+0130"), lambda: d.datetime(2020,1,1).date(), lambda: d.date(2020,1,1)+d.timedelta(days=1,hours=23), lambda: d.timedelta(1)+d.date(2020,1,1), lambda: 5-d.date(2020,1,1), lambda: d.timedelta(1)-d.date(2020,1,1)]
for f in bad: show(f)
# ---
import copy
import datetime as d
import time as t


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, str(e).replace("'datetime.", "'"))


for a in ((), (1,), (0, 0.5), (1.5, 2.25, 3.5), (-1, 86399, 999999), (0, 0, 0.5), (0, 0, 1.5), (0, 0, 2.5), (0, 0, -0.5), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (3, 4, 5, 6, 7, 8, 9), (1e-7,), (0, 1e-6 * 0.5)):
    x = d.timedelta(*a)
    print(repr(x), str(x), x.days, x.seconds, x.microseconds, x.total_seconds(), -x, abs(-x), x * 3, 2 * x, x * 0.3, x / 7, x / 0.7, x // 2, bool(x), x / d.timedelta(hours=1), x // d.timedelta(seconds=7), x % d.timedelta(minutes=7), divmod(x, d.timedelta(seconds=11)), x == d.timedelta(1), x < d.timedelta(1), x >= d.timedelta(0), x - d.timedelta(1), x + x)
# ---
import copy
import datetime as d
import time as t


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, str(e).replace("'datetime.", "'"))


for y in (1, 4, 1900, 1970, 2000, 2023, 2024, 9999):
    for m, day in ((1, 1), (1, 2), (1, 3), (2, 28), (3, 1), (6, 30), (12, 28), (12, 29), (12, 30), (12, 31)):
        x = d.date(y, m, day)
        print(x, x.toordinal(), d.date.fromordinal(x.toordinal()) == x, x.weekday(), x.isoweekday(), tuple(x.isocalendar()), d.date.fromisocalendar(*x.isocalendar()) == x, x.timetuple().tm_yday, x.strftime("%a %A %b %B %d %j %m %U %W %w %u %V %G %g %y %x %c %e %C %p %I %f|%z|%Z|%%"), x.ctime())
        z = d.datetime(y, m, day, 13, 5, 7, 12345, d.timezone(d.timedelta(hours=1, minutes=30)))
        print(z, z.isoformat(), repr(z), z.timestamp() if y > 1 else "", z.strftime("%H %I %M %S %p %f %z %Z %c %X %x %j %-H %-I"), z.astimezone(d.timezone.utc), z.utctimetuple() if y > 1 else 0, z.date(), z.time(), z.timetz(), z.replace(hour=0), z - d.timedelta(hours=14) if y > 1 else 0, d.datetime.fromisoformat(z.isoformat()) == z, copy.deepcopy(z) == z, z.utcoffset(), z.tzname(), z.dst())
# ---
import copy
import datetime as d
import time as t


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, str(e).replace("'datetime.", "'"))


for text in ("2020-01-02", "20200102", "2020W011", "2020-W01-1", "2020-W01", "2020W01", "2020-01-02T03", "2020-01-02T03:04", "2020-01-02 03:04:05", "2020-01-02T03:04:05.1", "2020-01-02T03:04:05.123456789", "2020-01-02T030405", "20200102T030405Z", "2020-01-02T03:04:05+01:00", "2020-01-02T03:04:05-0130", "2020-01-02T03:04:05,5-01:30:15", "2020-W01-1T03:04", "2020W011T0304", "2020W01T0304", "2020-01-02x03", "2020-1-2", "2020-01-02T3", "2020-01-02T03:0405", "2020-13-01", "2020-01-02T25:00", "", "2020", "2020-01-02T03:04:05+25:00", "2020-01-02T03:04:05Zx", "2020-01-02T03.5", "2020-01-02T03:04:05.", " 2020-01-02"):
    for kind in (d.date, d.datetime) if text == '20200102' else (d.date, d.datetime, d.time):
        print(text, end=" "); show(lambda: kind.fromisoformat(text))
for text, form in (("2020-05-17", "%Y-%m-%d"), ("17 May 20", "%d %b %y"), ("Sunday 17 may 2020 01:02:03 PM", "%A %d %B %Y %I:%M:%S %p"), ("12 AM", "%I %p"), ("12 PM", "%I %p"), ("137 2020", "%j %Y"), ("2020-05-17T01:02:03.5+0130", "%Y-%m-%dT%H:%M:%S.%f%z"), ("2020-05-17 Z", "%Y-%m-%d %z"), ("2020-05-17 UTC", "%Y-%m-%d %Z"), ("05/17/20", "%x"), ("01:02:03", "%X"), ("Sun May 17 01:02:03 2020", "%c"), ("2020 20 0", "%Y %W %w"), ("69", "%y"), ("68", "%y"), ("29 02", "%d %m"), ("  5", "%d"), ("5%", "%d%%"), ("2020-05-17 +01:30:15.25", "%Y-%m-%d %z"), ("+0130 UTC", "%z %Z"), ("(5)", "(%d)"), ("1  2", "%d %m"), ("366 2021", "%j %Y"), ("0", "%w")):
    print(text, form, end=" "); show(lambda: d.datetime.strptime(text, form)); show(lambda: t.strptime(text, form))
show(lambda: t.strptime("x")); show(lambda: t.strptime(5, "x")); show(lambda: t.gmtime(1e9)); show(lambda: t.gmtime(0)[:6]); show(lambda: t.gmtime(-1).tm_zone); show(lambda: t.strftime("%Y-%m-%d %H:%M:%S %j %f %z %Z", t.gmtime(1234567890))); show(lambda: t.asctime(t.gmtime(5))); show(lambda: t.strftime("%Y", (2020,))); show(lambda: t.strftime("%Y", 5)); show(lambda: t.strftime("%H", (2020, 1, 1, 24, 0, 0, 0, 1, 0))); show(lambda: t.struct_time((1, 2))); show(lambda: t.gmtime("a")); show(lambda: t.struct_time(range(9)))
# ---
import copy
import datetime as d
import time as t


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, str(e).replace("'datetime.", "'"))


class Zone(d.tzinfo):
    def utcoffset(self, dt): return d.timedelta(hours=2 if dt and 4 <= dt.month <= 9 else 1)
    def dst(self, dt): return d.timedelta(hours=1 if dt and 4 <= dt.month <= 9 else 0)
    def tzname(self, dt): return "summer" if self.dst(dt) else "winter"
z = Zone()
for m in (1, 7):
    x = d.datetime(2020, m, 1, 12, tzinfo=z)
    print(x, x.tzname(), x.dst(), x.timetuple().tm_isdst, x.astimezone(d.timezone.utc), d.datetime(2020, m, 1, 12, tzinfo=d.timezone.utc).astimezone(z), x.strftime("%Z %z"))
print(len({d.date(2020, 1, 1): 1, d.date(2020, 1, 1): 2}), len({d.datetime(2020, 1, 1, 1, tzinfo=d.timezone.utc), d.datetime(2020, 1, 1, 2, tzinfo=d.timezone(d.timedelta(hours=1)))}), sorted([d.date(2021, 1, 1), d.date(2020, 5, 5)]), isinstance(d.datetime.max, d.date), d.datetime.combine(d.date(2020, 1, 2), d.time(3, 4), d.timezone.utc), d.UTC is d.timezone.utc, d.date(2020, 1, 1) in [d.datetime(2020, 1, 1)], hash(d.timedelta(1)) == hash(d.timedelta(hours=24)), d.time(1, tzinfo=d.timezone.utc) == d.time(2, tzinfo=d.timezone(d.timedelta(hours=1))))
class Mine(d.datetime):
    pass
print(repr(Mine(2020, 1, 1)), type(Mine(2020, 1, 1) + d.timedelta(1)).__name__, type(Mine.now()).__name__, repr(Mine.strptime("2020", "%Y")), type(Mine(2020, 1, 1).date()), d.datetime.__module__, d.timedelta.__module__, d.timezone.__qualname__)
print(copy.copy(d.date(2020, 1, 1)), copy.deepcopy(d.timedelta(1, 2, 3)), copy.deepcopy(d.timezone.utc), copy.deepcopy(d.time(1, 2)))
match d.date(2020, 5, 6):
    case d.date(year=2020, month=m): print(m)
