"""What one layer of a model keeps of a request: keys and values that grow or are bounded, or a fixed state."""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final, Literal

from sweep.hardware.checks import COUNT, TOKENS, ceil_div, raise_if_any
from sweep.hardware.widths import Width
from sweep.records.checks import integer_faults, shown

Kind = Literal["full", "sliding", "chunked", "none"]
KINDS: Final = ("full", "sliding", "chunked", "none")
"""`full` keeps every token, `sliding` a window, `chunked` the chunk of the sequence that it is in, `none` no token."""

_STATE = (0, 10**9)


@dataclass(frozen=True)
class State:
    """The recurrent state that a layer keeps of a request, in values; it does not grow with the sequence.

    Attributes:
        conv_channels: channels of the convolution that the GPUs of a replica share among them.
        conv_steps: values that each channel keeps (the kernel's length − 1).
        heads: heads of the recurrent state, shared among the GPUs.
        head_values: values of the state of one head.
        groups: groups whose channels are replicated where the GPUs do not divide them (Mamba-2).
        group_channels: further channels of the convolution per group.
    """

    conv_channels: int
    conv_steps: int
    heads: int = 0
    head_values: int = 0
    groups: int = 0
    group_channels: int = 0

    def __post_init__(self) -> None:
        raise_if_any(
            fault
            for field in fields(self)
            for fault in integer_faults(f"State.{field.name}", getattr(self, field.name), _STATE)
        )

    def channels(self, gpus: int) -> int:
        """Channels of the convolution on all GPUs; groups that do not divide are extended to one per GPU."""
        groups = self.groups if self.groups % gpus == 0 else gpus
        return self.conv_channels + groups * self.group_channels

    def divides(self, gpus: int) -> bool:
        """Whether so many GPUs can share the state evenly: what an engine demands."""
        return self.channels(gpus) % gpus == 0 and self.heads % gpus == 0

    def row_bytes(self, gpus: int, conv: Fraction, state: Fraction) -> Fraction:
        """Bytes of one request on all GPUs of a replica.

        Args:
            gpus: GPUs that share the layer (tensor parallelism).
            conv: bytes per value of the convolution.
            state: bytes per value of the recurrent state.
        """
        return self.channels(gpus) * self.conv_steps * conv + self.heads * self.head_values * state


@dataclass(frozen=True)
class CacheLayer:
    """One layer as the cache sees it.

    Attributes:
        kind: which tokens of a request it keeps.
        heads: its key/value heads; 1 where all heads share one latent (MLA), which no GPU can split.
        key_values: values per token and head that are kept as a key; of MLA the latent and the rotary part.
        value_values: values per token and head that are kept as a value; 0 of MLA.
        window_tokens: the window, or the chunk of `chunked`; 0 of the others.
        state: its recurrent state, besides or instead of keys and values.
    """

    kind: Kind
    heads: int = 0
    key_values: int = 0
    value_values: int = 0
    window_tokens: int = 0
    state: State | None = None

    def __post_init__(self) -> None:
        faults = [] if self.kind in KINDS else [f"CacheLayer.kind: got {shown(self.kind)}, want one of {KINDS}."]
        low = 0 if self.kind == "none" else 1
        for name in ("heads", "key_values"):
            faults += integer_faults(f"CacheLayer.{name}", getattr(self, name), (low, COUNT[1] if low else 0))
        faults += integer_faults("CacheLayer.value_values", self.value_values, (0, COUNT[1] if low else 0))
        bounded = self.kind in ("sliding", "chunked")
        faults += integer_faults("CacheLayer.window_tokens", self.window_tokens, TOKENS if bounded else (0, 0))
        if self.state is not None and not isinstance(self.state, State):
            faults.append(f"CacheLayer.state: got {shown(self.state)}, want a State or None.")
        raise_if_any(faults)

    def heads_on(self, gpus: int) -> int:
        """Key/value heads on all GPUs: rounded up to a multiple, so that fewer heads than GPUs are replicated."""
        return gpus * ceil_div(self.heads, gpus)

    def row_bytes(self, gpus: int, key: Width, value: Width) -> Fraction:
        """Bytes of one token on all GPUs of a replica, exactly."""
        return self.heads_on(gpus) * (key.row_bytes(self.key_values) + value.row_bytes(self.value_values))

    def most_blocks(self, block_tokens: int, chunk_tokens: int) -> int | None:
        """The most blocks that a request ever holds of a bounded layer; None of one that grows.

        A sliding layer keeps the last window − 1 tokens beside the chunk that is being prefilled. Such a run of
        tokens begins anywhere in a block, so it touches one block more than its length fills. A chunked layer's
        tokens begin at a multiple of its chunk, which is a multiple of the block or begins anywhere too.
        """
        if self.kind == "sliding":
            return ceil_div(self.window_tokens - 1 + chunk_tokens, block_tokens) + 1
        if self.kind == "chunked":
            anywhere = self.window_tokens % block_tokens != 0
            return ceil_div(self.window_tokens + chunk_tokens, block_tokens) + anywhere
        return None


def uniform_layers(layers: int, kv_heads: int, head_dim: int, value_dim: int | None = None) -> tuple[CacheLayer, ...]:
    """Equal layers that keep every token.

    Args:
        layers: how many.
        kv_heads: key/value heads of each.
        head_dim: values of a key per head.
        value_dim: values of a value per head; the same where it is None.

    Raises:
        RecordFault: an argument is no number of its kind.
    """
    raise_if_any(integer_faults("layers", layers, COUNT))
    return (CacheLayer("full", kv_heads, head_dim, head_dim if value_dim is None else value_dim),) * layers
