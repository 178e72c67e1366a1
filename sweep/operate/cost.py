"""What a million tokens cost: reserved GPUs at the utilisation of the traffic, against hosted prices of the same.

Reserved GPUs cost by the hour, busy or idle, so a token costs the reservation over the tokens that are really served:
price per token at full load / utilisation. A hosted token costs its price. Both sides are asked for the same tokens of
the same traffic, cached ones among them; comparing the price at full load is the classic error. Everything is an exact
ratio, in the currency of the prices; rounding is for display.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.errors import InputFault, UsageFault
from sweep.operate.cost_compare import HOSTED, HOUR_S, MILLION, SELF_HOST, money, per_million
from sweep.operate.fleet_serving import Serving
from sweep.operate.prices import MAX_PRICE
from sweep.records.wording import CLAIM
from sweep.units import decimal_text


@dataclass(frozen=True)
class HostedPrices:
    """What a hosted service takes per million tokens.

    Attributes:
        prompt: of prompt tokens that are not cached.
        output: of output tokens.
        cached: of cached prompt tokens; None where they cost what others do.
        cached_share: the share of prompt tokens that are cached, 0 to 1.
    """

    prompt: Fraction
    output: Fraction
    cached: Fraction | None = None
    cached_share: Fraction = Fraction(0)

    def check(self) -> None:
        """Raise UsageFault unless every figure is within its bounds; every fault at once."""
        faults = [
            f"hosted {name} price: wanted from 0 to 10^9 per million tokens; correct it."
            for name, price in (("prompt", self.prompt), ("output", self.output), ("cached", self.cached))
            if price is not None and not 0 <= price <= MAX_PRICE
        ]
        if not 0 <= self.cached_share <= 1:
            faults.append("cached share: wanted from 0 to 100 % of the prompt tokens; correct it.")
        if faults:
            raise UsageFault(faults)

    @property
    def mean_prompt(self) -> Fraction:
        """The price of a million prompt tokens at this cached share."""
        cached = self.prompt if self.cached is None else self.cached
        return self.prompt * (1 - self.cached_share) + cached * self.cached_share

    def per_request(self, prompt_tokens: Fraction, output_tokens: Fraction) -> Fraction:
        """What a mean request costs."""
        return (self.mean_prompt * prompt_tokens + self.output * output_tokens) / MILLION

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; exact texts."""
        return {
            "prompt_per_million": decimal_text(self.prompt),
            "output_per_million": decimal_text(self.output),
            "cached_per_million": None if self.cached is None else decimal_text(self.cached),
            "cached_share": str(self.cached_share),
            "mean_prompt_per_million": str(self.mean_prompt),
        }


@dataclass(frozen=True)
class Cost:
    """A reservation and the traffic that it serves.

    Attributes:
        serving: one replica, with its price.
        gpus: reserved, a mean over the time where it varies.
        mean_rps: the traffic, a mean over the same time.
        hosted: prices of a hosted service; None where none were given.
    """

    serving: Serving
    gpus: Fraction
    mean_rps: Fraction
    hosted: HostedPrices | None = None

    @property
    def price(self) -> Fraction:
        """Of a GPU-hour."""
        assert self.serving.price is not None  # `cost_of` asks for it
        return self.serving.price

    @property
    def per_hour(self) -> Fraction:
        """Of the reservation, whatever is served."""
        return self.gpus * self.price

    @property
    def full_rps(self) -> Fraction:
        """What the reservation carries within the SLO, requests per second."""
        return self.gpus / self.serving.gpus_per_replica * self.serving.replica_rps

    @property
    def utilization(self) -> Fraction:
        """The realistic one: the traffic over what the reservation carries."""
        return self.mean_rps / self.full_rps

    @property
    def tokens_per_request(self) -> Fraction:
        """Prompt and output tokens of a mean request."""
        return self.serving.prompt_tokens + self.serving.output_tokens

    @property
    def blended(self) -> Fraction:
        """A million tokens, prompt and output as they come, at the utilisation of the traffic."""
        return per_million(self.per_hour, self.mean_rps * self.tokens_per_request)

    @property
    def blended_at_full_load(self) -> Fraction:
        """The same if the reservation were full all the time, which it is not."""
        return per_million(self.per_hour, self.full_rps * self.tokens_per_request)

    @property
    def prompt(self) -> Fraction | None:
        """A million prompt tokens: prefill's share of the reservation over them; None where the share is not known."""
        share = self.serving.prefill_share_permille
        if share is None:
            return None
        return per_million(self.per_hour * share / 1000, self.mean_rps * self.serving.prompt_tokens)

    @property
    def output(self) -> Fraction | None:
        """A million output tokens: the rest of the reservation over them; None where the share is not known."""
        share = self.serving.prefill_share_permille
        if share is None:
            return None
        return per_million(self.per_hour * (1000 - share) / 1000, self.mean_rps * self.serving.output_tokens)

    @property
    def hosted_per_request(self) -> Fraction | None:
        """What the hosted service takes for a mean request."""
        serving = self.serving
        return None if self.hosted is None else self.hosted.per_request(serving.prompt_tokens, serving.output_tokens)

    @property
    def hosted_blended(self) -> Fraction | None:
        """A million hosted tokens in the same mix."""
        each = self.hosted_per_request
        return None if each is None else each * MILLION / self.tokens_per_request

    @property
    def hosted_per_hour(self) -> Fraction | None:
        """The same traffic, hosted."""
        each = self.hosted_per_request
        return None if each is None else each * self.mean_rps * HOUR_S

    @property
    def recommendation(self) -> str | None:
        """`self_host` where that is strictly cheaper for this traffic, else `hosted_api`; None if nothing is hosted."""
        other = self.hosted_blended
        return None if other is None else (SELF_HOST if self.blended < other else HOSTED)

    @property
    def break_even_rps(self) -> Fraction | None:
        """The traffic at which both cost the same; above it this reservation is cheaper. None: hosted costs nothing.

        It may be above what the reservation carries: then no traffic makes it cheaper.
        """
        each = self.hosted_per_request
        return self.per_hour / (each * HOUR_S) if each else None

    @property
    def break_even_utilization(self) -> Fraction | None:
        """The same as a share of what the reservation carries; above 1 where nothing makes it cheaper."""
        rate = self.break_even_rps
        return None if rate is None else rate / self.full_rps

    @property
    def always_from_replicas(self) -> int | None:
        """From so many replicas on a fleet of just enough of them is always cheaper than hosted; None where never.

        Just beyond what n − 1 replicas carry, n are (n − 1)/n full; that is at least the break-even u from
        n = ⌈1/(1 − u)⌉ on, and beyond that traffic strictly above it.
        """
        edge = self.break_even_utilization
        if edge is None or edge >= 1:
            return None
        free = 1 - edge
        return -(-free.denominator // free.numerator)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; exact ratios as texts, and rounded ones with four decimals."""
        ratios = {
            "cost_per_hour": self.per_hour,
            "prompt_per_million": self.prompt,
            "output_per_million": self.output,
            "blended_per_million": self.blended,
            "blended_per_million_at_full_load": self.blended_at_full_load,
            "hosted_blended_per_million": self.hosted_blended,
            "hosted_cost_per_hour": self.hosted_per_hour,
        }
        exact = {
            "gpus": self.gpus,
            "mean_rps": self.mean_rps,
            "full_rps": self.full_rps,
            "utilization": self.utilization,
            "break_even_rps": self.break_even_rps,
            "break_even_utilization": self.break_even_utilization,
        }
        return {
            "serving": self.serving.as_json(),
            **{name: None if value is None else str(value) for name, value in exact.items()},
            **{name: None if value is None else str(value) for name, value in ratios.items()},
            "rounded": {name: None if value is None else money(value) for name, value in ratios.items()},
            "always_from_replicas": self.always_from_replicas,
            "hosted": None if self.hosted is None else self.hosted.as_json(),
            "recommendation": self.recommendation,
            "claim": CLAIM,
        }


def cost_of(serving: Serving, gpus: Fraction, mean_rps: Fraction, hosted: HostedPrices | None = None) -> Cost:
    """The cost of a reservation that serves a traffic.

    Args:
        serving: one replica, with its price.
        gpus: reserved, a mean over the time, above 0.
        mean_rps: the traffic, a mean over the same time, above 0, at most what the GPUs carry.
        hosted: prices of a hosted service to compare with.

    Raises:
        InputFault: no price, no GPU, no traffic, or more of it than the reservation carries; every fault at once.
        UsageFault: hosted prices out of bounds.
    """
    if hosted is not None:
        hosted.check()
    faults = []
    if serving.price is None:
        faults.append(f"{serving.name}: no price of a GPU-hour is known; give --price {serving.name}=….")
    if gpus <= 0 or mean_rps <= 0:
        faults.append(f"{serving.name}: wanted GPUs and traffic above 0; without either a token has no cost.")
    if faults:
        raise InputFault(faults)
    found = Cost(serving, gpus, mean_rps, hosted)
    if found.utilization > 1:
        needed = mean_rps / serving.replica_rps * serving.gpus_per_replica
        raise InputFault(
            f"{serving.name}: {money(gpus, 2)} GPUs carry {money(found.full_rps, 3)} req/s within the SLO and the mean "
            f"traffic is {money(mean_rps, 3)}; reserve {money(needed, 2)} or more."
        )
    return found
