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

    def serve(self, lengths, limit=None, arrivals_ns=None):
        """Every request's (sent, first token, [moments of later tokens]), in ns."""
        waiting = deque(enumerate(lengths))
        sent, first, later = {}, {}, {at: [] for at in range(len(lengths))}
        queue, left, decoding, now, flying = deque(), {}, {}, 0, 0
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
                part = min(room, left[queue[0]])
                left[queue[0]] -= part
                room, tokens = room - part, tokens + part
                if left[queue[0]]:
                    break
                done.append(queue.popleft())
            base, per_sequence, per_token = self.cost
            now += base + per_sequence * len(decoding) + per_token * tokens
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
