"""The memory of a replica: its byte ledger, how its cache is kept, and how many requests it carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sweep.hardware import ENGINES, Cache, Concurrency, MemoryLedger
from sweep.hardware.figures import same_pool
from sweep.hardware.ledger import Account, Measured
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.memory_cache import Sources, any_length, cache_table, own_notes
from sweep.report.words import counted, listed, safe
from sweep.units import grouped


def memory_page(
    cache: Cache,
    ledger: MemoryLedger | None,
    sources: Sources,
    notes: Sequence[str],
    lengths: tuple[int | None, int | None],
    bytes_known: bool = True,
) -> list[Section]:
    """The page of `sweep memory`.

    Args:
        cache: how the replica keeps its cache.
        ledger: of the replica; None where only the cache of a request was asked for.
        sources: figure -> where it came from.
        notes: sentences for the reader.
        lengths: the longest sequence and the typical length in tokens, None where unknown.
        bytes_known: False where only blocks are known.
    """
    sections: list[Section] = []
    if ledger is not None:
        sections += _ledger_sections(ledger, sources) if bytes_known else []
    sections.append(Section(safe(sources.get("model", "")), (cache_table(cache, ledger, sources, bytes_known),)))
    sections += _requests(cache, ledger, lengths, bytes_known)
    if ledger is not None:
        sections += _rounded(ledger)
        sections += _same_pool(ledger)
    said = [*notes, *own_notes(cache, ledger)]
    sections += [Section("", tuple(Paragraph(safe(note), "note") for note in said))] if said else []
    return [*sections, CLAIM]


def _title(ledger: MemoryLedger) -> str:
    gpus = sum(stage.gpus for stage in ledger.stages)
    shape = []
    if ledger.cache.tensor_parallel > 1:
        shape.append(f"tensor parallel {ledger.cache.tensor_parallel}")
    if len(ledger.stages) > 1:
        shape.append(f"{len(ledger.stages)} pipeline stages")
    return ", ".join([f"Memory of a replica on {counted(gpus, 'GPU')}", *shape, ENGINES[ledger.engine].title])


_ENTRIES = {
    "memory_bytes": "memory of a GPU",
    "share": "share of memory",
    "weight_bytes": "weights",
    "activation_bytes": "activations",
    "framework_overhead_bytes": "overhead",
    "reserved_bytes": "reserved",
    "kv_pool_bytes": "KV pool",
    "stages": "layers of a stage",
}


def _ledger_sections(ledger: MemoryLedger, sources: Sources) -> Iterator[Section]:
    """Where the bytes go: of one stage with the sources, of several one row per stage and the sources below."""
    if len(ledger.stages) == 1:
        yield Section(_title(ledger), (_ledger_table(ledger, sources), *_fits(ledger)))
        return
    yield Section(_title(ledger), (_stage_table(ledger), *_fits(ledger)))
    rows = [(name, safe(sources[figure])) for figure, name in _ENTRIES.items() if figure in sources]
    yield Section("", (table(("figure", "from"), rows),))


def _ledger_table(ledger: MemoryLedger, sources: Sources) -> Table:
    stage = ledger.stages[0]
    account, rows = stage.account, []
    if isinstance(account, Measured):
        rows = [
            ("memory of the GPUs", account.memory_bytes, sources.get("memory_bytes", "")),
            ("the engine's share", account.budget_bytes, _share_source(ledger, sources)),
            ("not KV cache", -account.not_kv_bytes, "share − pool: weights, activations, overhead"),
        ]
    elif isinstance(account, Account):
        rows = _account_rows(ledger, account, sources)
    pool = "what is left" if account and not isinstance(account, Measured) else sources.get("kv_pool_bytes", "")
    rows.append(("KV pool", stage.kv_pool_bytes, pool))
    return table(
        ("bytes", "", "from"), [(name, grouped(value), safe(source)) for name, value, source in rows], right=(1,)
    )


def _account_rows(ledger: MemoryLedger, account: Account, sources: Sources) -> list[tuple[str, int, str]]:
    rows = [("memory of the GPUs", account.memory_bytes, sources.get("memory_bytes", ""))]
    inside = [
        ("weights", -account.weight_bytes, sources.get("weight_bytes", "")),
    ]
    others = [
        ("activations", -account.activation_bytes, _activation_source(sources)),
        ("overhead", -account.framework_overhead_bytes, sources.get("framework_overhead_bytes", "")),
        ("reserved", -account.reserved_bytes, sources.get("reserved_bytes", "")),
    ]
    if ledger.engine == "vllm":
        return [
            *rows,
            ("the engine's share", account.budget_bytes or 0, _share_source(ledger, sources)),
            *inside,
            *others,
        ]
    if ledger.engine == "sglang":
        outside = account.memory_bytes - (account.budget_bytes or 0)
        rest = [("outside of the share", outside, "memory − share"), *others]
        return [
            *rows,
            *rest,
            ("the engine's share", account.budget_bytes or 0, _share_source(ledger, sources)),
            *inside,
        ]
    free = ("free after loading", account.free_bytes, "what is left of the memory")
    return [*rows, *inside, *others, free, ("left free", -account.unused_bytes, _share_source(ledger, sources))]


def _activation_source(sources: Sources) -> str:
    fixed, grown = sources.get("activation_bytes", ""), sources.get("activation_bytes_per_chunk_token", "")
    return f"{fixed}, {grown} · --chunk" if grown.startswith("--") else fixed


def _share_source(ledger: MemoryLedger, sources: Sources) -> str:
    return f"{sources.get('share', '')}, {ENGINES[ledger.engine].of}"


def _stage_table(ledger: MemoryLedger) -> Table:
    rows = []
    for at, stage in enumerate(ledger.stages):
        account = stage.account
        share = account.budget_bytes if account is not None else None
        weights = account.weight_bytes if isinstance(account, Account) else None
        rows.append(
            (
                grouped(at),
                grouped(stage.cache.layers),
                "-" if share is None else grouped(share),
                "-" if weights is None else grouped(weights),
                grouped(stage.kv_pool_bytes),
                any_length(stage.cache.longest_tokens(stage.usable_bytes)) if not stage.short_by_bytes else "0",
            )
        )
    heads = ("stage", "layers", "share of memory", "weights", "KV pool", "longest sequence")
    return table(
        heads, rows, right=range(6), alerts=[at for at, stage in enumerate(ledger.stages) if stage.short_by_bytes]
    )


def _fits(ledger: MemoryLedger) -> Iterator[Paragraph]:
    if ledger.fits:
        return
    where = [f"stage {at}" for at, stage in enumerate(ledger.stages) if stage.short_by_bytes]
    place = f" ({listed(where)})" if len(ledger.stages) > 1 else ""
    yield Paragraph(f"Does not fit{place}: short by {counted(ledger.short_by_bytes, 'byte')}, concurrency 0.", "bad")


def _requests(
    cache: Cache, ledger: MemoryLedger | None, lengths: tuple[int | None, int | None], bytes_known: bool
) -> Iterator[Section]:
    """What a request takes and how many fit, at the longest sequence and at the typical length."""
    heads = ("worst case, longest sequence", "typical length")
    asked = [(head, tokens) for head, tokens in zip(heads, lengths, strict=True) if tokens is not None]
    if not asked:
        return
    rows = [("tokens of every request", [grouped(tokens) for _, tokens in asked])]
    stages = cache.stage_caches
    if bytes_known:
        rows.append(("bytes per request", [grouped(sum(s.request_bytes(n) for s in stages)) for _, n in asked]))
    blocks = [stages[0].request_blocks(tokens) for _, tokens in asked]
    if all(count is not None for count in blocks):
        rows.append(("blocks per request", [grouped(count or 0) for count in blocks]))
    if ledger is not None:
        found = [ledger.worst_case if head == heads[0] else ledger.typical for head, _ in asked]
        known = [item for item in found if item is not None]
        rows.append(("concurrency", [grouped(item.requests) for item in known]))
        rows.append(("before rounding down", [_two_decimals(item.ratio) for item in known]))
        rows.append(("tokens so held", [grouped(item.cache_tokens) for item in known]))
        if len(stages) > 1:
            rows.append(("decided by stage", [grouped(item.stage) for item in known]))
    columns = range(1, len(asked) + 1)
    shown = table(("requests", *[head for head, _ in asked]), [(name, *cells) for name, cells in rows], right=columns)
    short = [] if ledger is None or not ledger.fits else list(_too_long(ledger, ledger.worst_case))
    yield Section("", (shown, *short))


def _too_long(ledger: MemoryLedger, worst: Concurrency | None) -> Iterator[Paragraph]:
    """One request of the longest sequence does not fit."""
    if worst is None or worst.requests:
        return
    stage = ledger.stages[worst.stage]
    missing = stage.cache.request_bytes(worst.sequence_tokens) - stage.usable_bytes
    text = f"No request of {grouped(worst.sequence_tokens)} tokens fits"
    longest = ledger.longest_sequence_tokens
    short = f"short by {counted(missing, 'byte')}"
    yield Paragraph(f"{text}: {short}, concurrency 0. The longest that fits has {any_length(longest)} tokens.", "bad")


def _two_decimals(ratio: Fraction) -> str:
    """A ratio to two decimals, halves up."""
    hundredths = (200 * ratio.numerator + ratio.denominator) // (2 * ratio.denominator)
    return f"{grouped(hundredths // 100)}.{hundredths % 100:02}"


def _rounded(ledger: MemoryLedger) -> Iterator[Section]:
    """Between which figures the truth lies where a log has rounded some."""
    low, high = ledger.lowest, ledger.highest
    if low is None or high is None:
        return
    parts = []
    if low.blocks is not None and high.blocks is not None:
        parts.append(f"{grouped(low.blocks)} to {grouped(high.blocks)} blocks")
    for name, least, most in (
        ("worst-case", low.worst_case, high.worst_case),
        ("typical", low.typical, high.typical),
    ):
        if least is not None and most is not None:
            parts.append(f"{name} concurrency {_two_decimals(least.ratio)} to {_two_decimals(most.ratio)}")
    pools = f"the pool has {grouped(low.kv_pool_bytes)} to {grouped(high.kv_pool_bytes)} bytes"
    yield Section("", (Paragraph(f"Some figures are rounded prints (~): {', '.join([pools, *parts])}."),))


def _same_pool(ledger: MemoryLedger) -> Iterator[Section]:
    rows = [
        (ENGINES[name].title, ENGINES[name].flag, "none" if share is None else decimals(share), ENGINES[name].of)
        for name, share in same_pool(ledger).items()
    ]
    if rows:
        heads = ("the same pool in", "is called", "share", "of")
        note = Paragraph("To four decimals, rounded down where that is not the same to the byte.", "note")
        yield Section("", (table(heads, rows, right=(2,)), note))


def decimals(share: Fraction) -> str:
    """A share to four decimals, rounded down."""
    parts = 10_000 * share.numerator // share.denominator
    return f"{parts // 10_000}.{parts % 10_000:04}"
