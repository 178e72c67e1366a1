"""`sweep memory`: the byte ledger of a replica, and how many requests its cache carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.options import json_option
from sweep.cli.output import write, write_json, write_page
from sweep.errors import RecordFault, UsageFault

if TYPE_CHECKING:
    from sweep.cli.memory_given import Given
    from sweep.hardware import Cache, MemoryLedger, StageMemory

_TOKENS = click.IntRange(1, 10**12)
_COUNT = click.IntRange(1, 10**5)
_GPUS = click.IntRange(1, 10**4)
_MANY = click.IntRange(0, 10**12)

_OPTIONS = (
    click.option("--model", type=click.Path(path_type=Path), metavar="CONFIG", help="The model's config.json."),
    click.option("--layers", type=_COUNT, help="Instead of --model: layers,"),
    click.option("--kv-heads", type=_COUNT, help="key/value heads of a layer,"),
    click.option("--head-dim", type=_COUNT, help="and values of a head."),
    click.option("--kv-bytes-per-token", type=click.IntRange(1, 10**12), help="Instead of both, on one GPU."),
    click.option("--dtype", metavar="NAME", help="The model's dtype (bf16, fp16), where its config has none."),
    click.option(
        "--kv-dtype", metavar="NAME", help="The cache's type: fp8, int4, mxfp4, q8_0, 17/32, int8+4, or KEY:VALUE."
    ),
    click.option("--block-tokens", type=click.IntRange(1, 10**6), help="Tokens of a KV block; 16 by default."),
    click.option("--chunk", type=_TOKENS, help="Most tokens that one step prefills; window layers hold it too."),
    click.option("--state-dtype", metavar="NAME", help="The type of the recurrent state of hybrid models."),
    click.option("--state-bytes", metavar="BYTES", help="Fixed bytes of a request, instead; per stage with commas."),
    click.option("--state-blocks", type=_MANY, help="Fixed blocks of a request, instead."),
    click.option("--gpu", metavar="NAME", help="A GPU of the catalogue (see --list-gpus)."),
    click.option("--memory", metavar="BYTES", help="Bytes of one GPU, as its driver or runtime reports them."),
    click.option(
        "--engine",
        type=click.Choice(["vllm", "sglang", "tensorrt-llm"]),
        default="vllm",
        show_default=True,
        help="Whose share of memory --utilization is.",
    ),
    click.option("--utilization", metavar="SHARE", help="The engine's share of memory: 0.9, '90 %', 9/10."),
    click.option("--weights", metavar="BYTES|INDEX", help="Bytes of the weights, or model.safetensors.index.json."),
    click.option("--parameters", type=click.IntRange(0, 10**15), help="Or their number, all in one dtype."),
    click.option("--weight-dtype", metavar="NAME", help="The dtype of --parameters; default: the model's."),
    click.option("--activations", metavar="BYTES", help="Peak of activations on one GPU; 0 by default."),
    click.option("--activations-per-chunk-token", metavar="BYTES", help="What it grows by per token of the chunk."),
    click.option("--overhead", metavar="BYTES", help="Context, graphs and buffers on one GPU; 0 by default."),
    click.option("--reserved", metavar="BYTES", help="Bytes of one GPU that stay free; 0 by default."),
    click.option("--pool", metavar="BYTES", help="The measured KV pool of all GPUs, instead of the ledger."),
    click.option("--blocks", type=_MANY, help="The same in blocks."),
    click.option("--reserved-blocks", type=_MANY, help="Blocks that no request gets."),
    click.option("--max-cache-tokens", type=_TOKENS, help="A limit of the cache in tokens."),
    click.option("--tensor-parallel", type=_GPUS, help="GPUs that share every layer; 1 by default."),
    click.option("--pipeline-parallel", type=_GPUS, help="Pipeline stages; 1 by default."),
    click.option("--stage-layers", metavar="N,N,…", help="Layers of each stage."),
    click.option("--max-sequence", type=_TOKENS, help="The longest sequence; default: the model's."),
    click.option("--typical-length", type=_TOKENS, help="Tokens of a typical request, prompt and output."),
    click.option("--toml", "as_toml", is_flag=True, help="Print [model] and [gpu] for a grid file."),
    click.option("--list-gpus", is_flag=True, help="Print the catalogue of GPUs with its sources."),
)


def _options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(short_help="The byte ledger of a replica: weights, KV pool, concurrency.")
@_options
@json_option
def memory(as_toml: bool, list_gpus: bool, as_json: bool, **options: Any) -> None:
    """Account for every byte of a replica's memory, and say how many requests its KV cache carries.

    From the model's config.json, a GPU and the engine's share of memory: weights, activations, overhead and KV pool;
    blocks and tokens; and how many requests fit, in the worst case (every request at the longest sequence) and at the
    typical length. Every figure says where it came from. Without a GPU: what a request takes.

    Bytes are integers or have a unit (80 GB, 2 GiB). A figure that a log has rounded takes a tilde, ~3.81 GiB, and the
    answer then says between which figures the truth lies. With pipeline stages, give an amount per stage with commas.

    \b
    Examples:
      sweep memory --model config.json --max-sequence 32768
      sweep memory --model config.json --gpu h100 --utilization 0.9 \\
          --weights model.safetensors.index.json --activations "2 GiB"
      sweep memory --model config.json --kv-dtype fp8 --pool "~10.55 GiB"
      sweep memory --layers 48 --kv-heads 4 --head-dim 128 --dtype bf16 \\
          --stage-layers 16,32 --blocks 6512 --max-sequence 262144
      sweep memory --list-gpus
    """
    if list_gpus:
        _catalogue(as_json)
        return
    if as_toml and as_json:
        raise UsageFault("--toml and --json: both given, wanted one; leave one out.")
    from sweep.cli.memory_given import Given

    given, cache, ledger, stage, lengths = reckon(Given(options))
    if as_toml:
        _write_toml(given, ledger, stage, lengths[0])
    elif as_json:
        write_json(_json(given, cache, ledger, lengths))
    else:
        from sweep.report.memory import memory_page

        write_page(memory_page(cache, ledger, given.sources, given.notes, lengths, given.bytes_known))


Answer = tuple["Given", "Cache", "MemoryLedger | None", "StageMemory | None", tuple[int | None, int | None]]


def reckon(given: Given) -> Answer:
    """What the options ask, reckoned.

    Raises:
        UsageFault, InputFault: with every fault of the options and the files.
    """
    from sweep.cli.memory_bytes import asks_for_memory, read_memory
    from sweep.cli.memory_cache import read_cache
    from sweep.cli.memory_given import note_faults
    from sweep.hardware import memory_ledger

    options, cache = given.options, read_cache(given)
    lengths = (longest_tokens(given), options["typical_length"])
    if lengths[0] is not None and lengths[1] is not None and lengths[1] > lengths[0]:
        longest = f"the longest sequence has {lengths[0]} tokens"
        given.usage.append(f"--typical-length: got {lengths[1]}, and {longest}; lower it, or give --max-sequence.")
    wanted = asks_for_memory(given)
    if not wanted:
        given.usage += [
            f"--{name.replace('_', '-')}: limits a pool, and no memory is given; give --gpu and the rest, or --pool."
            for name in ("reserved_blocks", "max_cache_tokens")
            if given.said(name)
        ]
    stages, share, pools = read_memory(given, cache) if wanted else ((), None, None)
    given.raise_if_any()
    assert cache is not None  # else there was a fault
    if not wanted:
        return given, cache, None, None, lengths
    try:
        ledger = memory_ledger(
            cache,
            stages,
            share,
            options["engine"],
            pool_bytes=pools,
            reserved_blocks=options["reserved_blocks"] or 0,
            max_cache_tokens=options["max_cache_tokens"],
            longest_tokens=lengths[0],
            typical_tokens=lengths[1],
        )
    except RecordFault as fault:
        note_faults(given, fault)
        given.raise_if_any()
        raise
    return given, cache, ledger, stages[0] if stages and pools is None else None, lengths


def longest_tokens(given: Given) -> int | None:
    """The longest sequence: as asked, else the model's."""
    asked: int | None = given.options["max_sequence"]
    if asked is not None:
        given.source("longest", "--max-sequence")
        return asked
    return given.config.longest_tokens if given.config else None


def _json(
    given: Given, cache: Cache, ledger: MemoryLedger | None, lengths: tuple[int | None, int | None]
) -> dict[str, Any]:
    from sweep.hardware.figures import cache_figures, ledger_figures, request_figures

    found: dict[str, Any] = {"cache": cache_figures(cache)}
    if ledger is not None:
        found |= ledger_figures(ledger)
    else:
        names = zip(("worst_case", "typical"), lengths, strict=True)
        found |= {name: None if tokens is None else request_figures(cache, tokens) for name, tokens in names}
    return found | {"bytes_known": given.bytes_known, "sources": given.sources, "notes": given.notes}


def _write_toml(given: Given, ledger: MemoryLedger | None, stage: StageMemory | None, longest: int | None) -> None:
    from sweep.hardware.gridtables import grid_rows
    from sweep.report.hardware import grid_text

    if ledger is None or not given.bytes_known:
        raise UsageFault("--toml: needs a model and its memory; give --gpu, --utilization and --weights, or --pool.")
    write(grid_text(grid_rows(ledger, stage, longest), given.sources))


def _catalogue(as_json: bool) -> None:
    from dataclasses import asdict

    from sweep.hardware import GPUS
    from sweep.report.hardware import catalogue_page

    if as_json:
        write_json({"gpus": [asdict(gpu) for gpu in GPUS.values()]})
    else:
        write_page(catalogue_page())
