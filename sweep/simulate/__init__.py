"""The discrete-event second opinion on an operating point: integer nanoseconds, KV blocks, policies; no float anywhere.

Reference mode, the policy "evict the largest, requeue last" of `models.md` ("Schedule"), and the seeds' figures:

* `batching`: `continuous_batching(output_tokens, max_batch_slots, cache_budget_blocks) -> Batching`
* `load`: `load_test(lengths, max_batch_slots) -> int` and `static_batching(lengths, max_batch_slots) -> int`, in steps
* `cache`: `cache_bytes(requests, bytes_per_token, max_seq_len) -> CacheBytes`, paged and contiguous
* `latency`: `latency_metrics(ttft, total, output_tokens) -> LatencyMetrics`; `nearest_rank`, `Spread`
* `contrast`: `compare_layouts(requests, bytes_per_token, max_seq_len, cache_budget_bytes, max_batch_slots)`

Serving mode, an engine with chunked prefill, paged KV, prefix sharing, preemption by recompute, replicas:

* `request`: `Request`, what arrives; `NEVER`
* `point`: `OperatingPoint`, the server in plain ints; `operating_point_of(cell)`, `contiguous(point, max_seq_len)`
* `draws`: exact random draws from a seed, the same on every machine
* `arrivals`: `poisson_requests(point, seed, count or duration_ns)`, `gamma_requests(…, shape)`,
  `requests_of_trace(blocks, …)`
* `policies`: `POLICIES` and `ROUTERS`, plain functions by name
* `pool` (KV blocks), `sequence`, `waiting`, `counters`, `growth`, `state`, `fill`, `replica`: one replica; its rules
  and the proof that every run ends are in `replica`
* `serve`: `simulate(point, requests, policy, router, batching, hash_tokens) -> Simulation` of `Row`s and `Counters`
* `summary`: `summarize(simulation, bounds) -> Summary`: spreads, goodput, throughput, occupancy, KV use, what binds
* `verdict`: `compare(simulation, cell, at, strict_permille) -> Comparison`: each audit figure and bound beside what was
  seen, held, broken (by which requests, when) or far too strict

Files are in import order: each imports only those above it.
"""
