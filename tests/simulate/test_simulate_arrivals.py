"""Arrivals: the same bytes everywhere, the right distributions, the right rates, traces as they are."""

import hashlib
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest

from sweep.errors import UsageFault
from sweep.simulate.arrivals import gamma_requests, poisson_requests, requests_of_trace
from sweep.simulate.draws import UNIT, below, exponential, gamma, words
from sweep.simulate.point import ArrivalClass, OperatingPoint
from sweep.simulate.request import Request
from sweep.traffic.read import read_trace
from sweep.traffic.rows import Requests

CLASSES = (ArrivalClass("chat", 1, 3_000, 500, 100), ArrivalClass("code", 2, 1_000, 2_000, 20))
POINT = OperatingPoint(8, 512, 10**6, 0, 0, 3, 1_000, classes=CLASSES)


def digest(requests):
    return hashlib.sha256(repr(list(requests)).encode()).hexdigest()[:16]


def test_the_first_draws_are_these_on_every_machine():
    """Where this fails, every seeded run has changed; its users must be told."""
    assert [exponential(source) for source in [words(1, "intervals 1")] for _ in range(2)] == [
        21109698188610724917,
        998659979077881545,
    ]
    assert digest(poisson_requests(POINT, 1, 2_000)) == "eedcd552c8ad56b4"
    assert digest(gamma_requests(POINT, 1, "1/4", 500)) == "e82bcac066752852"
    assert digest(gamma_requests(POINT, 1, "7/3", 500)) == "32188e252e268806"


def test_a_seed_is_a_stream_and_more_requests_do_not_change_the_first():
    many = list(poisson_requests(POINT, 5, 1_000))

    assert many[:10] == list(poisson_requests(POINT, 5, 10))
    assert many[:10] != list(poisson_requests(POINT, 6, 10))
    limit = many[400].arrival_ns
    assert list(poisson_requests(POINT, 5, duration_ns=limit)) == [one for one in many if one.arrival_ns <= limit]
    assert list(poisson_requests(POINT, 5, 100, limit)) == many[:100]


def moments(values):
    """Mean and variance, exactly."""
    mean = Fraction(sum(values), len(values))
    return mean, Fraction(sum(value * value for value in values), len(values)) - mean * mean


@pytest.mark.parametrize("shape", ["1", "1/4", "1/2", "3/4", "7/3", "5"])
def test_draws_have_the_mean_and_the_variance_of_their_distribution(shape):
    """Both are the shape; within five standard errors, of 6000 draws with a fixed seed."""
    source, count, wanted = words(11, "moments"), 6_000, Fraction(shape)
    mean, variance = moments([gamma(source, wanted) for _ in range(count)])
    mean, variance = mean / UNIT, variance / UNIT**2

    assert (mean - wanted) ** 2 < 25 * wanted / count
    # the variance of (x − mean)² is 2·shape² + 6·shape
    assert (variance - wanted) ** 2 < 25 * (2 * wanted**2 + 6 * wanted) / count


def test_exponentials_fall_into_equal_bins():
    """2^-k of them lie above k·ln 2, here to ten bits: a χ² over 8 bins below the 99.9 % point, 24.3."""
    ln2 = 12_786_308_645_202_655_660  # ⌊2^64·ln 2⌋
    source, count = words(3, "bins"), 8_192
    bins = [0] * 8
    for _ in range(count):
        bins[min(exponential(source) // ln2, 7)] += 1
    expected = [count >> min(k + 1, 7) for k in range(8)]

    assert sum(Fraction((seen - want) ** 2, want) for seen, want in zip(bins, expected, strict=True)) < Fraction(
        243, 10
    )


def test_integers_below_a_bound_are_uniform_and_of_any_size():
    source = words(2, "below")
    counts = [0] * 6
    for _ in range(6_000):
        counts[below(source, 6)] += 1

    assert sum(Fraction((count - 1_000) ** 2, 1_000) for count in counts) < 21  # χ² of 5 degrees, 99.9 %
    huge = 10**30
    drawn = [below(source, huge) for _ in range(200)]
    assert max(drawn) < huge
    assert max(drawn) > huge * 9 // 10
    assert {below(source, 1) for _ in range(3)} == {0}


@pytest.mark.parametrize("shape", [1, "1/4", 4])
def test_arrivals_come_at_the_rate_of_all_classes_and_with_their_shares(shape):
    count = 4_000
    requests = list(gamma_requests(POINT, 9, shape, count))
    ratio = Fraction(shape)

    last = Fraction(requests[-1].arrival_ns, 10**9)
    mean = Fraction(count, 4)  # 4 requests per second
    assert (last - mean) ** 2 < 25 * count / ratio / 16
    chats = sum(request.class_id == "chat" for request in requests)
    assert abs(chats - count * 3 // 4) < 5 * 28  # five standard deviations
    assert all(before.arrival_ns <= after.arrival_ns for before, after in pairwise(requests))
    assert {request[2:] for request in requests} == {("chat", 1, 500, 100, ()), ("code", 2, 2_000, 20, ())}
    assert [request.request_id for request in requests] == list(range(count))


def test_a_small_shape_comes_in_bursts():
    def squares(shape):
        times = [request.arrival_ns for request in gamma_requests(POINT, 4, shape, 3_000)]
        return sum((after - before) ** 2 for before, after in pairwise(times))

    assert squares("1/4") > squares(1) > squares(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poisson_requests(POINT, 1), "neither a count nor a duration"),
        (lambda: poisson_requests(POINT, -1, 1), "seed: got -1"),
        (lambda: poisson_requests(POINT, 1, -1), "count: got -1"),
        (lambda: gamma_requests(POINT, 1, 0, 1), "shape: got 0"),
        (lambda: gamma_requests(POINT, 1, "1/1001", 1), "shape: got"),
        (lambda: gamma_requests(POINT, 1, "x/y", 1), "shape: got"),
        (lambda: gamma_requests(POINT, 1, "1/0", 1), "shape: got"),
        (lambda: gamma_requests(POINT, 1, 0.5, 1), "shape: got"),
        (lambda: poisson_requests(OperatingPoint(1, 1, 1, 0, 0, 1, 1), 1, 1), "no request classes"),
        (lambda: requests_of_trace([], scale_permille=0), "scale_permille: got 0"),
    ],
)
def test_faulty_processes_are_refused_with_a_sentence(call, message):
    with pytest.raises(UsageFault, match=message):
        call()


def test_a_trace_becomes_requests_in_order_from_zero(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("at,in,out\n30,7,2\n10,5,0\n20,0,3\n20,600,4\n", encoding="utf-8")
    blocks = list(read_trace(path, columns={"time": "at", "prompt": "in", "output": "out"}, unit="ms"))

    assert requests_of_trace(blocks) == [
        Request(2, 0, "trace", 1, 1, 3),
        Request(3, 0, "trace", 1, 600, 4),
        Request(0, 10**7, "trace", 1, 7, 2),
    ]
    twice = requests_of_trace(blocks, "chat", 3, 2_000)
    assert [(one.arrival_ns, one.class_id, one.priority) for one in twice] == [
        (0, "chat", 3),
        (0, "chat", 3),
        (5 * 10**6, "chat", 3),
    ]


def test_hashes_of_whole_blocks_are_kept():
    block = Requests(
        np.array([5, 6]), np.array([1_100, 512]), np.array([1, 1]), np.array([7, 8, 9, 7]), np.array([3, 1])
    )

    assert [request.prefix_hashes for request in requests_of_trace([block])] == [(7, 8), (7,)]


def test_processes_are_streams():
    assert len(list(islice(poisson_requests(POINT, 1, 10**12), 5))) == 5
