"""A stranger's file is a sentence within a moment: never a traceback, a hang or exhausted memory."""

import pytest
from grid_texts import MINIMAL, faults_of
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InputFault, SweepError
from sweep.grid import grid_from_effective, load_grid, parse_grid

HOSTILE = {
    "huge integer": MINIMAL.replace("max_ttft_ms = 250", "max_ttft_ms = " + "9" * 5_000),
    "huge hexadecimal integer": MINIMAL.replace("max_ttft_ms = 250", "max_ttft_ms = 0x" + "f" * 500_000),
    "huge exponent": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = 1e999999999"),
    "tiny exponent": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = 1e-999999999"),
    "exponent beyond decimal": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = 1e" + "9" * 30),
    "long decimal": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = 1." + "0" * 100_000),
    "infinite rps": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = inf"),
    "no number": MINIMAL.replace("arrival_millirps = 4_000", "arrival_rps = nan"),
    "long number with a unit": MINIMAL.replace("max_ttft_ms = 250", f'max_ttft_ms = "{"9" * 100_000} ms"'),
    "deep lists": "a = " + "[" * 50_000 + "]" * 50_000,
    "deep inline tables": "a = " + "{a=" * 50_000 + "1" + "}" * 50_000,
    "deep dotted key": ".".join("a" * 200_000) + " = 1",
    "deep quoted key": ".".join(['"a b"'] * 100_000) + " = 1",
    "deep header": "[axes." + ".".join("a" * 100_000) + "]",
    "many unknown keys": MINIMAL + "[scope]\n" + "".join(f"key{number} = {number}\n" for number in range(20_000)),
    "many unknown tables": MINIMAL + "".join(f"[table{number}]\n" for number in range(9_000)),
    "many unknown axes": MINIMAL + "[axes]\n" + "".join(f"key{number} = [1]\n" for number in range(20_000)),
    "many classes": MINIMAL + '[[class]]\nclass_id = "chat"\n' * 50_000,
    "many bad values": MINIMAL + "[axes]\nmax_active_sequences = [" + "0," * 500_000 + "1" + "]",
    "many bad choices": MINIMAL + "".join(f"[[axes.a]]\nname = {n}\nset = {{ x{n} = 1 }}\n" for n in range(5_000)),
    "long key": MINIMAL + "[scope]\n" + "k" * 1_000_000 + " = 1",
    "long word": "# " + "a" * 2_000_000 + "\n" + "x" * 1_000_000,
    "control characters": MINIMAL + '[scope]\n"\\u001b[2J\\u0007" = 1',
    "two byte order marks": "\ufeff\ufeff" + MINIMAL,
    "huge step": MINIMAL
    + f"[axes]\nmax_active_sequences = {{ start = 1, stop = 5, step = 0x{'f' * 10_000}, num = 2 }}",
    "date": MINIMAL + "[axes]\nmax_active_sequences = [1979-05-27T07:32:00Z]",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_few_short_printable_sentences(what):
    faults = faults_of(HOSTILE[what])
    assert 1 <= len(faults) <= 201
    assert all(len(fault) < 600 and fault.isprintable() for fault in faults)


def test_faults_beyond_two_hundred_are_counted():
    faults = faults_of(HOSTILE["many unknown keys"])
    assert len(faults) == 201
    assert faults[-1] == "and 19 800 more faults; repair these first."


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000, "/dev/null/x"])
def test_an_impossible_path_is_one_sentence(path):
    with pytest.raises(InputFault) as caught:
        load_grid(path)
    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].isprintable()


def test_a_file_that_never_ends_is_refused():
    with pytest.raises(InputFault):
        load_grid("/dev/zero")


@pytest.mark.parametrize("effective", ["", "{}", "[]", "5", "null", '{"axes":5}', '{"axes":[{}]}', "[" * 100_000])
def test_what_is_no_canonical_text_is_refused(effective):
    with pytest.raises(InputFault):
        grid_from_effective(effective)


def test_a_canonical_text_in_another_form_is_refused():
    effective = parse_grid(MINIMAL).effective
    with pytest.raises(InputFault, match="canonical"):
        grid_from_effective(effective.replace(",", ", "))


VALUES = st.recursive(
    st.integers(-(10**20), 10**20) | st.booleans() | st.text("ab.-/ %‰1", max_size=6).map(repr),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=6,
)


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    return str(value)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(MINIMAL.split("\n")[1:-1]), VALUES), min_size=1, max_size=5), st.data())
def test_any_value_anywhere_is_a_grid_or_sentences(changes, data):
    text = MINIMAL
    for line, value in changes:
        if "=" in line:
            text = text.replace(f"\n{line}\n", f"\n{line.split('=')[0]}= {toml(value)}\n")
    text += f"[axes]\nmax_active_sequences = {toml(data.draw(VALUES))}\n"
    grid, faults = outcome(text)
    if grid is None:
        assert faults
        assert all(": " in fault and fault.endswith(".") for fault in faults)
    else:
        assert grid_from_effective(grid.effective).sha256 == grid.sha256


def outcome(text):
    try:
        return parse_grid(text), ()
    except SweepError as error:
        return None, error.faults
