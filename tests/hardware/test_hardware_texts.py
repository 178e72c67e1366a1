"""Texts of people: amounts, shares, widths, names of GPUs; and the plain formulas with wrong arguments."""

import doctest
import importlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.errors import RecordFault, UsageFault
from sweep.hardware import GPUS, amount_of, gpu_of, share_of, width_of
from sweep.units import UnitError


def test_amounts_are_whole_bytes():
    assert amount_of("16_060_522_496", "x").value == 16_060_522_496
    assert amount_of("2 GiB", "x").value == 2**31
    assert amount_of(" 1.5GB ", "x").value == 1_500_000_000
    assert not amount_of("2 GiB", "x").rounded


AMOUNTS = ["", "GiB", "-5", "1e9", "3.81 GiB", "80 XB", "0x10", "1,5 GB", "~", "~5", "~-1 GiB", "nan"]
SHARES = ["", "0", "90", "900", "1.1", "-0.9", "0.9x", "1/0", "3/2", "%", ".", "nan", "9e-1", "101 %"]
WIDTHS = ["", "q9", "1/0", "0", "0/5", "2000", "1/2000", "int8+", "int8+x", "2.0", "-1", "bf16:", "½"]


@pytest.mark.parametrize("text", AMOUNTS)
def test_other_amounts_are_refused_with_what_to_do(text):
    with pytest.raises(UnitError):
        amount_of(text, "x")


def test_a_figure_that_is_no_whole_number_of_bytes_is_told_about_the_tilde():
    with pytest.raises(UnitError, match=r"write ~3\.81 GiB"):
        amount_of("3.81 GiB", "x")


@given(st.integers(0, 10**13), st.integers(0, 3))
def test_a_rounded_figure_covers_whatever_prints_so(exact, digits):
    printed = (2 * exact * 10**digits + 2**30) // 2**31  # to the nearest, halves up
    text = f"{printed // 10**digits}.{printed % 10**digits:0{digits}}" if digits else str(printed)
    amount = amount_of(f"~{text} GiB", "log")

    assert amount.low <= exact <= amount.high
    assert amount.low <= amount.value <= amount.high


def test_shares_are_exact():
    assert share_of("0.9") == share_of("90 %") == share_of("900‰") == share_of("9/10") == Fraction(9, 10)
    assert share_of("1") == share_of("100%") == share_of("1.000") == 1
    assert share_of(".5") == Fraction(1, 2)
    assert share_of("0.9375") == Fraction(15, 16)


@pytest.mark.parametrize("text", SHARES)
def test_other_shares_are_refused(text):
    with pytest.raises(UnitError):
        share_of(text)


@pytest.mark.parametrize("text", WIDTHS)
def test_other_widths_are_refused(text):
    with pytest.raises(UnitError):
        width_of(text)


def test_the_catalogue_has_a_source_for_everything():
    for name, gpu in GPUS.items():
        assert gpu.name == name == gpu_of(name.upper().replace("-", " ")).name
        assert gpu.memory_bytes > 10**10
        assert gpu.memory_source
        assert gpu.peak_source
        if gpu.dense_fp8_flops is not None:
            assert gpu.dense_fp8_flops >= 2 * gpu.dense_bf16_flops - 2 * 10**12  # the sources round


def test_names_of_gpus():
    assert gpu_of("h100").memory_bytes == 85_520_809_984  # as grids/h100.toml has it
    assert gpu_of("NVIDIA GeForce RTX 4090").name == gpu_of("4090").name == "rtx-4090"
    with pytest.raises(UsageFault, match="which of a100-40gb, a100-80gb-sxm, a100-80gb-pcie"):
        gpu_of("a100")
    with pytest.raises(UsageFault, match="wanted one of h100-sxm"):
        gpu_of("tpu")
    with pytest.raises(UsageFault):
        gpu_of("")


def test_the_plain_formulas_take_exact_ratios():
    shape = {"num_layers": 94, "num_kv_heads": 4, "head_dim": 128, "seq_len": 16_384}

    assert sweep.kv_cache_bytes_per_request(**shape, bytes_per_value="q8_0") == 2 * 837_812_224
    assert sweep.kv_cache_bytes_per_request(**shape, bytes_per_value=Fraction(34, 32)) == 2 * 837_812_224
    assert sweep.kv_cache_bytes_per_request(1, 1, 1, 0, 2) == 0
    assert sweep.kv_cache_bytes_per_request(1, 1, 1, 1, "int4") == 1
    assert sweep.kv_cache_bytes_per_request(1, 1, 3, 1, "17/32") == 4  # 102/32 rounded up once


def test_the_plain_formulas_report_every_wrong_argument():
    with pytest.raises(RecordFault) as caught:
        sweep.kv_cache_bytes_per_request(0, 1.5, True, -1, 2.0)
    assert len(caught.value.faults) == 5
    with pytest.raises(RecordFault) as caught:
        sweep.gpu_memory_budget(-1, 1.0, "2", None, 0)
    assert len(caught.value.faults) == 5
    with pytest.raises(ValueError, match="block_tokens"):
        sweep.blocks_needed(5, 0)
    with pytest.raises(ValueError, match="bytes_per_request"):
        sweep.capacity_model(5, 0)


def test_a_budget_that_does_not_fit_is_an_answer():
    budget = sweep.gpu_memory_budget(10, 20, 3, 0, 5)

    assert (budget.remainder_for_cache_bytes, budget.max_concurrency) == (-13, 0)
    assert (budget.fits, budget.short_by_bytes) == (False, 13)
    assert sweep.capacity_model(budget.remainder_for_cache_bytes, 5) == 0


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_blocks_hold_the_tokens_and_no_block_is_spare(tokens, block):
    blocks = sweep.blocks_needed(tokens, block)

    assert (blocks - 1) * block < tokens <= blocks * block or tokens == blocks == 0


@pytest.mark.parametrize("name", ["amounts", "gpus", "share", "stages", "widths"])
def test_the_examples_in_docstrings_are_true(name):
    found = doctest.testmod(importlib.import_module(f"sweep.hardware.{name}"))

    assert found.attempted
    assert not found.failed
