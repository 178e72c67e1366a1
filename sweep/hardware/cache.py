"""How a replica keeps the KV cache of a model: stages, GPUs, widths, blocks; and what a request takes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sweep.hardware.checks import BLOCK_TOKENS, BYTES, GPUS, TOKENS, ceil_div, ceil_of, each_integer, raise_if_any
from sweep.hardware.layers import CacheLayer
from sweep.hardware.widths import Width
from sweep.records.checks import integer_faults, shown


@dataclass(frozen=True)
class Bounded:
    """Layers of one stage that keep at most so many tokens.

    Attributes:
        kind: `sliding` or `chunked`.
        window_tokens: their window or chunk.
        layers: how many they are.
        bytes_per_token: of all of them together, on all GPUs of the stage.
        most_blocks: the most blocks that a request ever holds of each.
    """

    kind: str
    window_tokens: int
    layers: int
    bytes_per_token: int
    most_blocks: int


@dataclass(frozen=True)
class StageCache:
    """The cache of one pipeline stage, on all its GPUs together.

    Attributes:
        layers: layers of the stage, those without a cache included.
        block_tokens: tokens of a block.
        growing_layers: layers that keep every token.
        growing_bytes_per_token: bytes of a token in the growing layers, rounded up once over all of them.
        bounded: the layers that do not grow beyond a window, by window.
        state_bytes: fixed bytes of a request.
        state_blocks: fixed blocks of a request.
    """

    layers: int
    block_tokens: int
    growing_layers: int
    growing_bytes_per_token: int
    bounded: tuple[Bounded, ...]
    state_bytes: int
    state_blocks: int

    @property
    def block_bytes(self) -> int | None:
        """Bytes of a block; None where blocks are not all alike: several kinds of layers, or a state beside them."""
        if self.state_bytes:
            return None
        kinds = [self.growing_bytes_per_token] if self.growing_bytes_per_token else []
        kinds += [group.bytes_per_token for group in self.bounded]
        return self.block_tokens * kinds[0] if len(kinds) == 1 else None

    def request_blocks(self, tokens: int) -> int | None:
        """Blocks that a request of some tokens holds; None where blocks are not all alike."""
        if self.block_bytes is None:
            return None
        blocks = ceil_div(tokens, self.block_tokens)
        if self.bounded:
            blocks = min(blocks, self.bounded[0].most_blocks)
        return blocks + self.state_blocks

    def request_bytes(self, tokens: int) -> int:
        """Bytes that a request of some tokens holds, in whole blocks."""
        return self._bytes_of_blocks(ceil_div(tokens, self.block_tokens))

    def _bytes_of_blocks(self, blocks: int) -> int:
        held = blocks * self.growing_bytes_per_token
        held += sum(min(blocks, group.most_blocks) * group.bytes_per_token for group in self.bounded)
        return held * self.block_tokens + self.state_bytes + self.state_blocks * (self.block_bytes or 0)

    def longest_tokens(self, pool_bytes: int) -> int | None:
        """The longest sequence that one request can have in a pool; None where any length fits.

        The bytes of a request never fall as it grows, so the number of its blocks is found by bisection.
        """
        if not self.growing_bytes_per_token:
            most = max((group.most_blocks for group in self.bounded), default=0)
            if self._bytes_of_blocks(most) <= pool_bytes:
                return None
        else:
            most = max(0, pool_bytes) // (self.block_tokens * self.growing_bytes_per_token) + 1
        low, high = 0, most  # a request of `high` blocks does not fit; `low` does, or is 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._bytes_of_blocks(middle) <= pool_bytes else (low, middle)
        return low * self.block_tokens


@dataclass(frozen=True)
class Cache:
    """How a replica keeps the KV cache of a model.

    Attributes:
        stages: the layers of each pipeline stage, in order; one stage without pipeline parallelism.
        key: how wide keys are.
        value: how wide values are.
        tensor_parallel: GPUs of each stage.
        block_tokens: tokens of a block; 1 where an engine hands out single tokens.
        chunk_tokens: the most tokens of a request that one step prefills; needed where layers are bounded.
        conv_bytes_per_value: width of a convolution's state; needed where layers have a state.
        state_bytes_per_value: width of a recurrent state; needed likewise.
        state_bytes: fixed bytes of a request per stage, in place of what the layers' states would take.
        state_blocks: fixed blocks of a request in every stage, such as vLLM's blocks of recurrent state.
    """

    stages: tuple[tuple[CacheLayer, ...], ...]
    key: Width
    value: Width
    tensor_parallel: int = 1
    block_tokens: int = 16
    chunk_tokens: int | None = None
    conv_bytes_per_value: Fraction | None = None
    state_bytes_per_value: Fraction | None = None
    state_bytes: tuple[int, ...] | None = None
    state_blocks: int = 0

    def __post_init__(self) -> None:
        raise_if_any(self._faults())

    def _faults(self) -> list[str]:
        faults = integer_faults("tensor_parallel", self.tensor_parallel, GPUS)
        faults += integer_faults("block_tokens", self.block_tokens, BLOCK_TOKENS)
        faults += integer_faults("state_blocks", self.state_blocks, (0, TOKENS[1]))
        if self.chunk_tokens is not None:
            faults += integer_faults("chunk_tokens", self.chunk_tokens, TOKENS)
        if not self.stages or not all(self.stages):
            faults.append(f"stages: got {shown(self.stages)}, want at least one stage, of at least one layer each.")
        if self.state_bytes is not None:
            faults += each_integer("state_bytes", self.state_bytes, BYTES)
            if not faults and len(self.state_bytes) != len(self.stages):
                wanted = f"want one for each of {len(self.stages)} stages"
                faults.append(f"state_bytes: got {len(self.state_bytes)}, {wanted}.")
        return faults or self._missing()

    def _missing(self) -> list[str]:
        """What the layers need to be reckoned, and how it could be given."""
        layers = [layer for stage in self.stages for layer in stage]
        states = {layer.state for layer in layers if layer.state is not None}
        faults = []
        if self.chunk_tokens is None and any(layer.window_tokens for layer in layers):
            faults.append("chunk_tokens: missing, and the layers with a window hold the window and one chunk; give it.")
        if states and self.state_bytes is None and not self.state_blocks:
            if self.conv_bytes_per_value is None or self.state_bytes_per_value is None:
                faults.append("state_bytes_per_value: missing, and some layers keep a recurrent state; give its width.")
            if not all(state.divides(self.tensor_parallel) for state in states):
                uneven = f"{self.tensor_parallel} GPUs do not divide the recurrent state evenly"
                faults.append(f"state_bytes: missing, and {uneven}; give its bytes.")
        if self.state_blocks and not faults and any(stage.block_bytes is None for stage in self.stage_caches):
            faults.append("state_blocks: blocks are not all alike where layers differ; give the state in bytes.")
        return faults

    @cached_property
    def stage_caches(self) -> tuple[StageCache, ...]:
        """The cache of each stage."""
        return tuple(self._stage(at, layers) for at, layers in enumerate(self.stages))

    def key_value_bytes(self, tokens: int) -> tuple[int, int]:
        """What a request of some tokens holds in keys and in values, in whole blocks, over all stages.

        Engines that print the two apart round each; their sum is the request's bytes but for that and for states.
        """
        blocks = ceil_div(tokens, self.block_tokens)
        keys = values = Fraction(0)
        for layer in (layer for stage in self.stages for layer in stage if layer.kind != "none"):
            most = layer.most_blocks(self.block_tokens, self.chunk_tokens or 0)
            held = (blocks if most is None else min(blocks, most)) * self.block_tokens
            held *= layer.heads_on(self.tensor_parallel)
            keys += held * self.key.row_bytes(layer.key_values)
            values += held * self.value.row_bytes(layer.value_values)
        return ceil_of(keys), ceil_of(values)

    def _stage(self, at: int, layers: Sequence[CacheLayer]) -> StageCache:
        bounded: dict[tuple[str, int], list[CacheLayer]] = {}
        for layer in layers:
            if layer.window_tokens:
                bounded.setdefault((layer.kind, layer.window_tokens), []).append(layer)
        growing = [layer for layer in layers if layer.kind == "full"]
        return StageCache(
            layers=len(layers),
            block_tokens=self.block_tokens,
            growing_layers=len(growing),
            growing_bytes_per_token=self._token_bytes(growing),
            bounded=tuple(self._bounded(group) for group in bounded.values()),
            state_bytes=self._state_bytes(at, layers),
            state_blocks=self.state_blocks,
        )

    def _bounded(self, layers: Sequence[CacheLayer]) -> Bounded:
        first = layers[0]
        most = first.most_blocks(self.block_tokens, self.chunk_tokens or 0)
        assert most is not None  # only bounded layers come here
        return Bounded(first.kind, first.window_tokens, len(layers), self._token_bytes(layers), most)

    def _token_bytes(self, layers: Sequence[CacheLayer]) -> int:
        rows = (layer.row_bytes(self.tensor_parallel, self.key, self.value) for layer in layers)
        return ceil_of(sum(rows, Fraction(0)))

    def _state_bytes(self, at: int, layers: Sequence[CacheLayer]) -> int:
        if self.state_blocks:  # the state lives in blocks, and is paid there
            return 0 if self.state_bytes is None else self.state_bytes[at]
        if self.state_bytes is not None:
            return self.state_bytes[at]
        if self.conv_bytes_per_value is None or self.state_bytes_per_value is None:
            return 0
        widths = (self.tensor_parallel, self.conv_bytes_per_value, self.state_bytes_per_value)
        states = (layer.state.row_bytes(*widths) for layer in layers if layer.state is not None)
        return ceil_of(sum(states, Fraction(0)))
