"""Small files of every format that is read, made by hand, and the same as hostile hands make them."""

import json

BENCH = {
    "date": "20260101-120000",
    "backend": "vllm",
    "model_id": "example/model",
    "tokenizer_id": "example/model",
    "num_prompts": 100,
    "request_rate": "inf",
    "burstiness": 1.0,
    "max_concurrency": 8,
    "duration": 100.0,
    "completed": 100,
    "failed": 0,
    "total_input_tokens": 10_000,
    "total_output_tokens": 40_100,
    "request_throughput": 1.0,
    "mean_ttft_ms": 40.0,
    "median_ttft_ms": 40.0,
    "mean_tpot_ms": 19.5,
    "mean_itl_ms": 19.5,
    "p99_itl_ms": 25.0,
}
"""In flight: 1/s · 0.04 s + 400 gaps/s · 19.5 ms = 7.84 of 8. Batch 1 + 7/8 · 7.8 = 7.825, chunk 7/8 · 100 · 0.0195."""

SGLANG = {
    "backend": "sglang",
    "dataset_name": "random",
    "request_rate": float("inf"),
    "max_concurrency": 1,
    "duration": 10.0,
    "completed": 10,
    "total_input_tokens": 5_000,
    "total_output_tokens": 410,
    "mean_e2e_latency_ms": 999.0,
    "mean_ttft_ms": 99.0,
    "mean_itl_ms": 22.5,
}

GUIDELLM = {
    "metadata": {"version": 2},
    "benchmarks": [
        {
            "config": {"strategy": {"type_": "concurrent", "streams": 4}},
            "metrics": {
                "request_totals": {"successful": 20, "errored": 0, "incomplete": 0, "total": 20},
                "requests_per_second": {"successful": {"mean": 0.5, "count": 20}},
                "request_concurrency": {"successful": {"mean": 3.9}},
                "request_latency": {"successful": {"mean": 7.8}},
                "prompt_token_count": {"successful": {"mean": 300.0}},
                "output_token_count": {"successful": {"mean": 301.0}},
                "time_to_first_token_ms": {"successful": {"mean": 300.0}},
                "inter_token_latency_ms": {"successful": {"mean": 25.0}},
                "time_per_output_token_ms": {"successful": {"mean": 26.0}},
            },
            "duration": 40.0,
        }
    ],
}

AIPERF = {
    "request_throughput": {"unit": "requests/sec", "avg": 2.0},
    "request_count": {"unit": "requests", "avg": 40.0},
    "request_latency": {"unit": "ms", "avg": 1_500.0},
    "time_to_first_token": {"unit": "ms", "avg": 500.0, "p99": 900.0},
    "inter_token_latency": {"unit": "ms", "avg": 10.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 202.0},
    "input_sequence_length": {"unit": "tokens", "avg": 400.0},
    "output_sequence_length": {"unit": "tokens", "avg": 101.0},
}

REQUESTS = [
    {
        "request_id": "a",
        "input_toks": 100,
        "output_toks": 11,
        "arrival_time": 1_700_000_000.0,
        "queued_ts": 10.0,
        "scheduled_ts": 10.5,
        "first_token_ts": 11.0,
        "last_token_ts": 11.2,
    },
    {
        "request_id": "b",
        "input_toks": 50,
        "output_toks": 6,
        "arrival_time": 1_700_000_001.0,
        "queued_ts": 11.0,
        "scheduled_ts": 11.0,
        "first_token_ts": 11.1,
        "last_token_ts": 11.2,
    },
]

SERIES = """t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct
1.0,0.0,100.0,4,0,10.0
2.0,0.0,200.0,4,0,12.5
4.0,40.0,100.0,6,1,99.5
5.0,0.0,0.0,0,0,0.0
"""

LOG = """INFO 01-01 12:00:00 [model.py:1] Model loading took 14.99 GiB and 5.2 seconds
(EngineCore_0 pid=9) INFO [core.py:1] Chunked prefill is enabled with max_num_batched_tokens=2048.
(EngineCore_0 pid=9) INFO [worker.py:2] Available KV cache memory: 10.55 GiB
(EngineCore_0 pid=9) INFO [kv.py:3] GPU KV cache size: 230,528 tokens
(EngineCore_0 pid=9) INFO [kv.py:4] Maximum concurrency for 100,000 tokens per request: 2.31x
"""

META = {
    "vllm_version": "0.0",
    "engine_kwargs": {"max_num_seqs": 256, "max_num_batched_tokens": 2048},
    "kv_cache": {"num_gpu_blocks": 100, "block_size": 16, "num_kv_tokens": 1_600},
    "hardware": {"device_name": "a GPU", "device_total_memory_bytes": 24_000_000_000},
}

SNAPSHOT = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 7.0
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",num_gpu_blocks="1000"} 1.0
vllm:num_preemptions_total{engine="0",model_name="m"} 0.0
vllm:prompt_tokens_total{engine="0",model_name="m"} 5000.0
vllm:generation_tokens_total{engine="0",model_name="m"} 8010.0
vllm:iteration_tokens_total_bucket{engine="0",le="1.0",model_name="m"} 4.0
vllm:iteration_tokens_total_sum{engine="0",model_name="m"} 13010.0
vllm:iteration_tokens_total_count{engine="0",model_name="m"} 1000.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 2.5
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 10.0
vllm:inter_token_latency_seconds_sum{engine="0",model_name="m"} 160.0
vllm:inter_token_latency_seconds_count{engine="0",model_name="m"} 8000.0
vllm:request_prompt_tokens_sum{engine="0",model_name="m"} 4500.0
vllm:request_prompt_tokens_count{engine="0",model_name="m"} 9.0
vllm:request_generation_tokens_sum{engine="0",model_name="m"} 7200.0
vllm:request_generation_tokens_count{engine="0",model_name="m"} 9.0
process_start_time_seconds 1.7e+09
"""

STEPS = """batch,chunk,step_ms
1,0,16
2,0,17
8,0,23
0,100,25
"""

FORMATS = {
    "bench.json": json.dumps(BENCH),
    "bench.jsonl": json.dumps(BENCH) + "\n" + json.dumps(BENCH | {"max_concurrency": None, "request_rate": 1.0}) + "\n",
    "sglang.jsonl": json.dumps(SGLANG) + "\n",
    "guidellm.json": json.dumps(GUIDELLM, indent=1),
    "aiperf.json": json.dumps(AIPERF, indent=2),
    "requests.jsonl": "".join(json.dumps(one) + "\n" for one in REQUESTS),
    "series.csv": SERIES,
    "engine.log": LOG,
    "meta.json": json.dumps(META),
    "metrics.prom": SNAPSHOT,
    "steps.csv": STEPS,
}
"""Name of a file -> its text, one per format."""
