"""A load test simulated step by step, to hold the arithmetic of summaries against: an engine with a known step time.

Each step takes base + per sequence · decoding + per token · prefill tokens. A request's prompt is read in the order of
arrival, as far as the token budget goes beyond the decoding sequences; the step that reads its last token gives the
first output token. The client keeps `limit` requests in flight, or sends them at given times.
"""

import json
from collections import deque
from fractions import Fraction


class Engine:
    def __init__(self, base_ns, per_sequence_ns, per_token_ns, budget=2048):
        self.cost = (base_ns, per_sequence_ns, per_token_ns)
        self.budget = budget
        self.scheduled = {}
        """Of the last load test: the moment at which each request's prompt began to be read, in ns."""
        self.steps = []
        """Of the last load test: (end in ns, decoding sequences, prefill tokens, running requests) of each step."""

    def serve(self, lengths, limit=None, arrivals_ns=None):
        """Every request's (sent, first token, [moments of later tokens]), in ns."""
        waiting = deque(enumerate(lengths))
        sent, first, later = {}, {}, {at: [] for at in range(len(lengths))}
        queue, left, decoding, now, flying = deque(), {}, {}, 0, 0
        self.scheduled, self.steps = {}, []
        while waiting or queue or decoding:
            while waiting and (flying < limit if arrivals_ns is None else arrivals_ns[waiting[0][0]] <= now):
                at, (prompt, _) = waiting.popleft()
                sent[at] = now if arrivals_ns is None else arrivals_ns[at]
                left[at] = prompt
                queue.append(at)
                flying += 1
            if not queue and not decoding:
                now = arrivals_ns[waiting[0][0]]
                continue
            room, tokens, done = self.budget - len(decoding), 0, []
            while queue and room:
                self.scheduled.setdefault(queue[0], now)
                part = min(room, left[queue[0]])
                left[queue[0]] -= part
                room, tokens = room - part, tokens + part
                if left[queue[0]]:
                    break
                done.append(queue.popleft())
            base, per_sequence, per_token = self.cost
            now += base + per_sequence * len(decoding) + per_token * tokens
            self.steps.append((now, len(decoding), tokens, len(decoding) + len(done)))
            for at in list(decoding):
                later[at].append(now)
                decoding[at] -= 1
                if not decoding[at]:
                    del decoding[at]
                    flying -= 1
            for at in done:
                first[at] = now
                decoding[at] = lengths[at][1] - 1
                if not decoding[at]:
                    del decoding[at]
                    flying -= 1
        return [(sent[at], first[at], later[at]) for at in range(len(lengths))]


def summary(served, lengths, limit=None, detailed=False, **more):
    """What `vllm bench serve` would save of it."""
    end = max((later or [first])[-1] for _, first, later in served)
    gaps = [[b - a for a, b in zip([first, *later], later, strict=False)] for _, first, later in served]
    every = [gap for each in gaps for gap in each]
    count = len(lengths)
    found = {
        "date": "20260101-000000",
        "backend": "vllm",
        "model_id": "example",
        "num_prompts": count,
        "request_rate": "inf" if limit else 4.0,
        "burstiness": 1.0,
        "max_concurrency": limit,
        "duration": end / 10**9,
        "completed": count,
        "failed": 0,
        "total_input_tokens": sum(prompt for prompt, _ in lengths),
        "total_output_tokens": sum(output for _, output in lengths),
        "mean_ttft_ms": float(Fraction(sum(first - sent for sent, first, _ in served), count * 10**6)),
        "mean_itl_ms": float(Fraction(sum(every), max(len(every), 1) * 10**6)),
    }
    if detailed:
        found["input_lens"] = [prompt for prompt, _ in lengths]
        found["output_lens"] = [output for _, output in lengths]
        found["ttfts"] = [(first - sent) / 10**9 for sent, first, _ in served]
        found["itls"] = [[gap / 10**9 for gap in each] for each in gaps]
    return {**found, **more}


def write_runs(path, runs):
    """Several summaries in one file, as --append-result does."""
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    return path


def requests_of(engine, served, lengths):
    """The same load test, request by request, as a measured vLLM run has it: two clocks, in s."""
    rows = []
    for at, ((sent, first, later), (prompt, output)) in enumerate(zip(served, lengths, strict=True)):
        moments = [sent, engine.scheduled[at], first, (later or [first])[-1]]
        keys = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")
        row = {"request_id": f"bench-{at}", "input_toks": prompt, "output_toks": output}
        row["arrival_time"] = 1_700_000_000 + sent / 10**9
        rows.append(row | {key: 5_000 + moment / 10**9 for key, moment in zip(keys, moments, strict=True)})
    return "".join(json.dumps(row) + "\n" for row in rows)


def series_of(engine):
    """The same load test, second by second."""
    rows = ["t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct"]
    second, prompt, output, running = 1, 0, 0, 0
    for end, decoding, tokens, seen in engine.steps:
        while end > second * 10**9:
            rows.append(f"{second}.0,{prompt}.0,{output}.0,{running},0,1.0")
            second, prompt, output = second + 1, 0, 0
        prompt, output, running = prompt + tokens, output + decoding, seen
    return "\n".join(rows) + "\n"
