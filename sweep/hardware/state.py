"""The recurrent state of a model's layers, from the keys of its config; None where it has no form that is known."""

from sweep.hardware.keys import ConfigKeys
from sweep.hardware.layers import State


def state_of(keys: ConfigKeys) -> State | None:
    """The state that each recurrent layer keeps of a request, in values.

    The forms are those of vLLM's `mamba_utils.py`: gated delta net, Mamba-2, Mamba-1, a short convolution, and the
    linear attention of MiniMax. None means that the bytes of a request must be given.
    """
    return (
        _gated_delta_net(keys) or _mamba2(keys) or _mamba1(keys) or _short_convolution(keys) or _linear_attention(keys)
    )


def _gated_delta_net(keys: ConfigKeys) -> State | None:
    """Qwen3-Next and Qwen3.5: `linear_*`."""
    kernel = keys.linear_conv_kernel_dim
    key_heads, value_heads = keys.linear_num_key_heads, keys.linear_num_value_heads
    key_dim, value_dim = keys.linear_key_head_dim, keys.linear_value_head_dim
    if kernel is None or key_heads is None or value_heads is None or key_dim is None or value_dim is None:
        return None
    return State(2 * key_heads * key_dim + value_heads * value_dim, kernel - 1, value_heads, key_dim * value_dim)


def _mamba2(keys: ConfigKeys) -> State | None:
    """Bamba, Granite and Falcon-H1 (`mamba_*`), Nemotron-H (`ssm_state_size`)."""
    heads, dim = keys.first("mamba_n_heads", "mamba_num_heads"), keys.first("mamba_d_head", "mamba_head_dim")
    size, groups = keys.first("mamba_d_state", "ssm_state_size"), keys.first("mamba_n_groups", "n_groups")
    kernel = keys.first("mamba_d_conv", "conv_kernel")
    if heads is None or dim is None or size is None or groups is None or kernel is None:
        return None
    inner = heads[1] * dim[1]
    return State(inner, kernel[1] - 1, heads[1], dim[1] * size[1], groups[1], 2 * size[1])


def _mamba1(keys: ConfigKeys) -> State | None:
    """Jamba: `mamba_expand` without heads; each channel is a head of its own."""
    if keys.mamba_expand is None or keys.hidden_size is None or keys.mamba_d_state is None or keys.mamba_d_conv is None:
        return None
    if keys.first("mamba_n_heads", "mamba_num_heads", "mamba_n_groups") is not None:
        return None
    inner = keys.mamba_expand * keys.hidden_size
    return State(inner, keys.mamba_d_conv - 1, inner, keys.mamba_d_state)


def _short_convolution(keys: ConfigKeys) -> State | None:
    """LFM2: `conv_L_cache`."""
    channels = keys.first("conv_dim", "hidden_size")
    if keys.conv_L_cache is None or channels is None:
        return None
    return State(channels[1], keys.conv_L_cache - 1)


def _linear_attention(keys: ConfigKeys) -> State | None:
    """MiniMax: a square state per attention head."""
    if keys.attn_type_list is None or keys.head_dim is None or keys.num_attention_heads is None:
        return None
    return State(0, 0, keys.num_attention_heads, keys.head_dim**2)
