"""Blocks taken over many iterations, beside walking through them."""

from hypothesis import given
from hypothesis import strategies as st

from sweep.simulate.growth import block_iterations, blocks_within, most_iterations


@given(st.integers(1, 9), st.data())
def test_closed_forms_are_the_sums_over_the_iterations(block_tokens, data):
    phases = data.draw(st.dictionaries(st.integers(0, block_tokens - 1), st.integers(1, 4)))
    step, count, blocks = (data.draw(st.integers(0, 40)) for _ in range(3))
    taken = [0]
    for iteration in range(step + 1, step + count + 1):
        taken.append(taken[-1] + phases.get(iteration % block_tokens, 0))

    assert blocks_within(phases, step, count, block_tokens) == taken[-1]
    assert block_iterations(phases, step, count, block_tokens) == sum(taken)
    assert most_iterations(phases, step, count, block_tokens, blocks) == max(
        iterations for iterations, total in enumerate(taken) if total <= blocks
    )
