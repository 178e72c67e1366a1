"""Build versus buy: one price against another, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sweep.errors import UsageFault
from sweep.operate.autoscale_rule import numbers_of
from sweep.operate.prices import Number

MILLION: Final = 10**6
HOUR_S: Final = 3_600
SELF_HOST: Final = "self_host"
HOSTED: Final = "hosted_api"
PLACES: Final = 4


def money(number: Fraction, places: int = PLACES) -> str:
    """A cost with a fixed number of decimals, rounded half to even, which is what Python's `round` does.

    >>> money(Fraction(1, 3)), money(Fraction(5, 100_000)), money(Fraction(5))
    ('0.3333', '0.0000', '5.0000')
    """
    scaled = round(number * 10**places)
    whole, rest = divmod(abs(scaled), 10**places)
    return f"{'-' if scaled < 0 else ''}{whole}.{rest:0{places}}" if places else str(scaled)


@dataclass(frozen=True)
class BuildVersusBuy:
    """The comparison of one price with another.

    Attributes:
        self_hosted_cost_per_million_tokens: exactly.
        recommendation: `self_host` where that is strictly below the hosted price, else `hosted_api`.
    """

    self_hosted_cost_per_million_tokens: Fraction
    recommendation: str

    @property
    def shown(self) -> str:
        """The cost rounded to four decimals."""
        return money(self.self_hosted_cost_per_million_tokens)


def build_vs_buy(
    gpu_hourly_rate: Number,
    tokens_per_second_at_full_load: Number,
    realistic_utilization: Number,
    hosted_api_price_per_million_tokens: Number,
) -> BuildVersusBuy:
    """Self-hosting against a hosted price, at the utilisation that the traffic really gives (`models.md`, "Operate").

    Cost per million tokens = hourly rate / (tokens per second · 3600 · utilisation) · 10^6, exactly.

    Args:
        gpu_hourly_rate: price of the whole replica for an hour.
        tokens_per_second_at_full_load: of it, above 0.
        realistic_utilization: the share of that which is served over the hours paid for, above 0, at most 1.
        hosted_api_price_per_million_tokens: of the same tokens.

    Raises:
        RecordFault: an argument that is no number of at least 0. UsageFault: one out of these bounds.

    >>> build_vs_buy(2.33, 9635, 0.54, 6.96).shown
    '0.1244'
    """
    given = {
        "gpu_hourly_rate": gpu_hourly_rate,
        "tokens_per_second_at_full_load": tokens_per_second_at_full_load,
        "realistic_utilization": realistic_utilization,
        "hosted_api_price_per_million_tokens": hosted_api_price_per_million_tokens,
    }
    rate, tokens, utilization, hosted = numbers_of(given)
    faults = []
    if not tokens:
        faults.append("tokens_per_second_at_full_load: got 0, wanted above 0; measure it, or take it from a result.")
    if not 0 < utilization <= 1:
        faults.append(f"realistic_utilization: got {utilization}, wanted above 0 and at most 1; correct it.")
    if faults:
        raise UsageFault(faults)
    cost = per_million(rate, tokens * utilization)
    return BuildVersusBuy(cost, SELF_HOST if cost < hosted else HOSTED)


def per_million(cost_per_hour: Fraction, tokens_per_second: Fraction) -> Fraction:
    """The cost of a million tokens, exactly, of what costs so much an hour and serves so many a second."""
    return cost_per_hour * MILLION / (tokens_per_second * HOUR_S)
