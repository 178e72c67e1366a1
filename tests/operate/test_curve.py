"""Curves and prices from files: units stated, numbers exact, every fault a sentence."""

import json
from fractions import Fraction

import pytest

from sweep.errors import InputFault, RefusedSize, SweepError, UsageFault
from sweep.operate.curve import MAX_STEPS, curve_of
from sweep.operate.curve_demand import demand_of_curve, demand_of_rate, demand_of_trace
from sweep.operate.curve_file import read_curve, trace_curve
from sweep.operate.prices import price_for, prices_of, read_prices

HOUR = 3_600 * 10**9


@pytest.fixture
def file(tmp_path):
    def write(text, name="curve.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_csv_and_json_say_the_same(file):
    csv = read_curve(file("time_h,rps\n0,1.5\n6,20\n18,3.25\n24,\n"))
    document = {"unit": "h", "curve": [{"time": 0, "rps": "1.5"}, {"time": 6, "rps": 20}], "end": 24}
    document["curve"].append({"time": 18, "rps": 3.25})
    assert (csv.starts_ns, csv.end_ns) == ((0, 6 * HOUR, 18 * HOUR), 24 * HOUR)
    assert csv.rates == (Fraction(3, 2), Fraction(20), Fraction(13, 4))
    again = read_curve(file(json.dumps(document), "curve.json"))
    assert (again.starts_ns, again.rates, again.end_ns) == (csv.starts_ns, csv.rates, csv.end_ns)
    assert csv.peak == 20
    assert csv.mean == (Fraction(3, 2) * 6 + 20 * 12 + Fraction(13, 4) * 6) / 24
    assert csv.requests == csv.mean * 24 * 3_600


def test_steps_of_one_length_end_as_long_after_the_last(file):
    curve = read_curve(file("time_min,rps\n0,1\n15,2\n30,3\n"))
    assert curve.end_ns == 45 * 60 * 10**9


def test_a_unit_is_stated_in_the_file_or_beside_it(file):
    plain = file("time,rps\n0,1\n1.5,2\n")
    assert read_curve(plain, "ms").starts_ns == (0, 1_500_000)
    with pytest.raises(InputFault, match="does not say the unit"):
        read_curve(plain)
    with pytest.raises(UsageFault, match="times are in s"):
        read_curve(file("time_s,rps\n0,1\n1,2\n"), "ms")
    with pytest.raises(UsageFault, match="wanted one of"):
        read_curve(plain, "days")


HOSTILE = {
    "empty": "",
    "no columns": "a,b\n1,2\n",
    "two times": "time_s,time_h,rps\n0,0,1\n",
    "no rows": "time_s,rps\n",
    "negative": "time_s,rps\n0,-1\n1,2\n",
    "text": "time_s,rps\n0,many\n1,2\n",
    "nan": "time_s,rps\n0,nan\n1,2\n",
    "huge": "time_s,rps\n0,1e999999999\n1,2\n",
    "fast": "time_s,rps\n0,2000000000\n1,2\n",
    "late": "time_h,rps\n0,1\n999999999999,2\n",
    "finer than ns": "time_ns,rps\n0.5,1\n1,2\n",
    "backwards": "time_s,rps\n5,1\n1,2\n",
    "twice": "time_s,rps\n1,1\n1,2\n",
    "hole": "time_s,rps\n0,1\n1,\n2,3\n",
    "one row": "time_s,rps\n0,1\n",
    "uneven": "time_s,rps\n0,1\n1,2\n5,3\n",
    "idle": "time_s,rps\n0,0\n1,0\n",
    "short row": "time_s,rps\n0\n",
    "digits": "time_s,rps\n0,١\n1,2\n",
    "json list": "[1, 2]",
    "json cut": '{"unit": "s", "curve": [{"time": 0',
    "json unit": '{"unit": "day", "curve": [{"time": 0, "rps": 1}], "end": 2}',
    "json no unit": '{"curve": [{"time": 0, "rps": 1}], "end": 2}',
    "json key": '{"unit": "s", "curve": [{"time": 0, "rps": 1}], "end": 2, "ende": 3}',
    "json no rate": '{"unit": "s", "curve": [{"time": 0}], "end": 2}',
    "json true": '{"unit": "s", "curve": [{"time": true, "rps": 1}], "end": 2}',
    "json empty": '{"unit": "s", "curve": []}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_curve_is_one_sentence_or_one_per_fault(file, name):
    with pytest.raises(SweepError) as error:
        read_curve(file(HOSTILE[name]))
    assert all(fault.endswith(".") and "\n" not in fault and len(fault) < 320 for fault in error.value.faults)
    assert error.value.exit_code == 3


def test_all_faults_come_at_once(file):
    with pytest.raises(InputFault) as error:
        read_curve(file("time_s,rps\n0,x\n0,1\n2,y\n"))
    assert len(error.value.faults) == 3


def test_a_curve_is_checked_wherever_it_comes_from():
    with pytest.raises(RefusedSize):
        curve_of(range(MAX_STEPS + 1), [Fraction(1)] * (MAX_STEPS + 1), MAX_STEPS + 5)
    with pytest.raises(InputFault, match="as many of each"):
        curve_of([], [], 1)
    with pytest.raises(InputFault) as error:
        curve_of([0, 0], [Fraction(-1), Fraction(1)], 10**19)
    assert len(error.value.faults) == 3


TRACE = "at,in,out\n10,5,5\n10.5,5,5\n12,5,0\n13.9,5,5\n9,7,7\n"
COLUMNS = {"time": "at", "prompt": "in", "output": "out"}


def test_a_trace_is_binned_from_its_earliest_request_without_failed_rows(file):
    facts, curve = trace_curve(file(TRACE, "trace.csv"), 2 * 10**9, None, COLUMNS, "s")
    assert facts.requests == 4
    assert curve.rates == (Fraction(3, 2), Fraction(0), Fraction(1, 2))  # from 9 s on: 9, 10, 10.5 | | 13.9
    assert curve.end_ns == 6 * 10**9
    assert curve.requests == 4
    with pytest.raises(RefusedSize, match="widen"):
        trace_curve(file(TRACE, "trace.csv"), 10, None, COLUMNS, "s")
    with pytest.raises(UsageFault):
        trace_curve(file(TRACE, "trace.csv"), 0, None, COLUMNS, "s")


def test_demands(file):
    demand = demand_of_trace(file(TRACE, "trace.csv"), "second", None, None, COLUMNS, "s")
    assert (demand.peak, demand.mean) == (2, Fraction(40, 49))
    assert demand_of_rate("0.0011").peak_millirps == 2
    assert demand_of_curve(file("time_s,rps\n0,1\n1,3\n")).mean == 2
    for text in ("0", "-1", "x", "1e10", "nan", "1/3", "٣"):
        with pytest.raises(UsageFault, match="--rps"):
            demand_of_rate(text)


def test_prices(file):
    csv = file("gpu,price_per_gpu_hour\nh100,2.33\nl40s,0.79\n", "prices.csv")
    assert read_prices(csv) == {"h100": Fraction("2.33"), "l40s": Fraction("0.79")}
    assert read_prices(file('{"h100": 2.33, "l40s": "0.79"}', "prices.json")) == read_prices(csv)
    assert prices_of(["h100=3", "1.5"], csv) == {"h100": Fraction(3), "l40s": Fraction("0.79"), "": Fraction("1.5")}
    assert price_for(["a", "h100"], read_prices(csv)) == ("h100", Fraction("2.33"))
    assert price_for(["a"], read_prices(csv)) is None
    assert price_for(["a"], {"": Fraction(1)}) == ("", 1)


HOSTILE_PRICES = (
    "",
    "a,b\n1,2\n",
    "gpu,price_per_gpu_hour\nh100,x\n",
    "gpu,price_per_gpu_hour\nh100,1\nh100,2\n",
    "gpu,price_per_gpu_hour\n,1\n",
    "{}",
    "[]",
    '{"h": -1}',
    '{"h": 1, "h": 2}',
    '{"h": true}',
    '{"h": 1e99}',
)


@pytest.mark.parametrize("text", HOSTILE_PRICES)
def test_hostile_prices(file, text):
    with pytest.raises(InputFault) as error:
        read_prices(file(text, "prices"))
    assert all(fault.endswith(".") for fault in error.value.faults)


def test_hostile_price_options_are_said_together():
    with pytest.raises(UsageFault) as error:
        prices_of(["h100=", "=2", "a=1", "a=2", "b=nan", "c=-1", "d=1e300"])
    assert len(error.value.faults) == 6
