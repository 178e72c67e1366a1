"""Load tests in steps: requests of given lengths through some slots, one token per active request and step."""

from collections.abc import Sequence

from sweep.simulate.batching import check_integer, check_lengths, slots_free_at


def load_test(lengths: Sequence[int], max_batch_slots: int) -> int:
    """Steps until all requests are done, free slots refilled in order before each step.

    Time grows with the requests, not with their tokens.

    Args:
        lengths: tokens of each request in order, 1 to 10^7.
        max_batch_slots: at least 1.

    Raises:
        InputFault: an argument out of bounds.

    >>> load_test([3, 1, 1], 2), load_test([], 2)
    (3, 0)
    """
    check_lengths("lengths", lengths)
    check_integer("max_batch_slots", max_batch_slots, (1, 10**9))
    return max(slots_free_at(lengths, max_batch_slots), default=0)


def static_batching(lengths: Sequence[int], max_batch_slots: int) -> int:
    """The same where a batch takes requests only when it is empty, and so lasts as long as its longest one.

    Raises:
        InputFault: an argument out of bounds.

    >>> static_batching([3, 1, 1], 2)
    4
    """
    check_lengths("lengths", lengths)
    check_integer("max_batch_slots", max_batch_slots, (1, 10**9))
    return sum(max(lengths[at : at + max_batch_slots]) for at in range(0, len(lengths), max_batch_slots))
