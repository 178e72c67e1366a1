"""Small servers and requests, drawn from a seeded `random.Random`: tight where it hurts (slots, chunk, blocks)."""

from sweep.simulate.point import OperatingPoint
from sweep.simulate.request import Request


def draw_point(random, **fixed):
    """A server with a pool of a few blocks and times that often coincide."""
    fields = {
        "slots": random.randint(1, 5),
        "chunk_tokens": random.choice([1, 2, 3, 5, 8, 50]),
        "base_ns": random.choice([0, 1, 7, 10]),
        "per_sequence_ns": random.choice([0, 1, 3]),
        "per_prefill_token_ns": random.choice([0, 1, 2]),
        "priority_iterations": random.randint(1, 3),
        "block_tokens": random.choice([1, 2, 3, 4, 16]),
        "kv_blocks": random.randint(0, 30),
        "replicas": random.choice([1, 1, 2, 3]),
        "admission_control": random.random() < 0.4,
    }
    return OperatingPoint(**(fields | fixed))


def draw_requests(random, point, unit, most=12):
    """Requests of a few lengths and priorities; prompts share prefixes in a tree, and some break a chain."""
    at, requests = 0, []
    for number in range(random.randint(0, most)):
        at += random.choice([0, 0, 1, 3, 10, 40])
        prompt, output = random.randint(1, 30), random.choice([1, 2, 3, 9, 20])
        hashes = ()
        if unit:
            parts = [random.randint(0, 1) for _ in range(prompt // unit)]
            chain = [hash_of(parts[: i + 1]) for i in range(len(parts))]
            hashes = tuple(chain if random.random() < 0.9 else [one + 10**6 * random.randint(0, 1) for one in chain])
        requests.append(Request(number, at, "abc"[number % 3], random.randint(1, 3), prompt, output, hashes))
    return requests


def hash_of(parts):
    """A number for a prefix of zeros and ones."""
    return int("1" + "".join(map(str, parts)), 2)
