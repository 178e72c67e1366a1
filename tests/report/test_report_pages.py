"""What pages say of operating points, on cells made here."""

from dataclasses import replace

import pytest

from sweep.api import best_of_grid, explain_grid, parse_grid
from sweep.report import plain
from sweep.report.best import best_page
from sweep.report.explain import explain_page
from sweep.report.point import FIGURE_NAMES, as_vllm, binding_terms, breaches, next_step, quantity, rates, ttft_class

GRID = """
[sweep]
name = "pages"
[contract]
max_total_utilization_permille = 800
max_prefill_utilization_permille = 700
max_decode_utilization_permille = 700
max_queue_delay_ms = 50
max_ttft_ms = 250
max_tpot_ms = 30
max_starvation_ms = 100
max_kv_bytes = "10 GB"
[scheduler]
scheduler_id = "fair"
token_capacity_per_second = 40_000
prefill_share_permille = 600
max_active_sequences = 64
max_prefill_chunk_tokens = 480
iteration_time_ms = 20
max_consecutive_priority_iterations = 3
kv_bytes_per_token = 131_072
[[class]]
class_id = "short"
priority = 1
arrival_rps = 4.0
prompt_tokens = 1_000
output_tokens = 200
peak_concurrency = 24
[[class]]
class_id = "long"
priority = 2
arrival_rps = 0.5
prompt_tokens = 4_000
output_tokens = 800
peak_concurrency = 8
"""


def grid(*overrides):
    return parse_grid(GRID, [("set", text) for text in overrides])


def cell(*overrides):
    return explain_grid(grid(*overrides), {"traffic": 1_000})


def flat(page):
    return " ".join(plain.text_of(page).split())


def test_the_class_that_sets_ttft():
    assert ttft_class(cell()).text == "Class long sets TTFT: 180 ms of prefill after 5 ms in the queue."


def test_classes_that_set_ttft_together():
    assert ttft_class(cell("class.short.prompt_tokens=4000")).text.startswith("Classes short, long set TTFT")


def test_breaches_name_the_excess_of_each_bound():
    found = breaches(cell("contract.max_ttft_ms=100", "contract.max_tpot_ms=10", "scheduler.max_active_sequences=31"))
    assert [line.partition(":")[0] for line in found] == [
        "active-sequence-capacity",
        "time-to-first-token",
        "time-per-output-token",
    ]
    assert [line.rpartition("(by ")[2] for line in found] == ["1)", "85)", "10)"]


def test_breach_without_a_figure_has_no_excess():
    assert breaches(cell("workload.admission_control_enabled=false")) == [
        "admission-control-disabled: admission control is off"
    ]


def test_breach_of_an_invalid_cell_is_its_reason():
    (found,) = breaches(cell("scheduler.prefill_share_permille=1"))
    assert found.startswith("no-prefill-token-per-iteration: ")


def test_next_step():
    assert next_step(None) == []
    assert next_step(cell())[0].text == "One permille more traffic is feasible too."
    one = next_step(cell("contract.max_ttft_ms=100"))[0].text
    assert one.startswith("One permille more traffic (1 000) breaks time-to-first-token: ")
    two = next_step(cell("contract.max_ttft_ms=100", "contract.max_tpot_ms=10"))[0].text
    assert two.count("\n  ") == 2
    invalid = next_step(cell("scheduler.prefill_share_permille=1"))[0].text
    assert invalid.startswith("One permille more traffic (1 000) is invalid, no-prefill-token-per-iteration")


def test_every_quantity_has_a_value():
    point = cell()
    assert [quantity(point, name) for name in FIGURE_NAMES[:3]] == [40_000, 20, 131_072]
    assert all(quantity(point, name) >= 0 for name in FIGURE_NAMES)


def test_explain_says_that_a_point_is_feasible():
    text = flat(explain_page(grid(), cell()))
    assert "Within all bounds: feasible." in text
    assert "--max-num-seqs 64 --max-num-batched-tokens 544 (chunk + slots)" in text
    assert "1 800" not in text
    assert "4 200 needed at the peak" in text


def test_replicas_are_named():
    text = flat(explain_page(grid("replicas=3"), cell("replicas=3")))
    assert "pages: the declared traffic, on 3 replicas" in text


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["contract.max_ttft_ms=10"], "max_ttft_ms: 10 to 185, which admits traffic_scale_permille = 1 000"),
        (["contract.max_ttft_ms=10", "contract.max_tpot_ms=10"], "No single bound"),
    ],
)
def test_best_of_nothing(overrides, words):
    found = grid(*overrides)
    text = flat(best_page(best_of_grid(found)))
    assert text.startswith("Nothing is feasible: none of 1 configuration (1 cell) is within all bounds.")
    assert words in text


def test_best_below_the_axis_says_so():
    found = grid("traffic.scale_permille=9000")
    text = flat(best_page(best_of_grid(found)))
    assert "None of the traffic axis' own values is feasible, only scales below them." in text
    assert "own values" not in flat(best_page(best_of_grid(found), any_scale=False))


def test_two_bounds_out_of_reach_show_the_least_that_each_needs():
    text = flat(best_page(best_of_grid(grid("contract.max_ttft_ms=10", "contract.max_tpot_ms=10"))))
    assert "What blocks 1 valid configuration at 1 times the declared traffic" in text
    assert "violation hit alone least figure largest bound" in text
    assert "time-to-first-token 1 0 185 10 time-per-output-token 1 0 20 10" in text


def test_rates_name_classes_replicas_and_gpus():
    assert rates(cell()).text == "Traffic: 4.5 req/s (short 4, long 0.5)."
    assert rates(cell("replicas=3")).text == "Traffic: 4.5 req/s (short 4, long 0.5), on 3 replicas."
    found = cell("replicas=3")
    two = replace(found, fields={**found.fields, "gpu.tensor_parallel": 2})
    assert rates(two).text.endswith(", on 3 replicas × tensor_parallel 2 = 6 GPUs.")
    assert rates(cell(), 4_444).text.endswith("; the least scale that reaches 4.444 req/s.")


def test_rates_round_up_per_class_before_the_replicas_share_them():
    odd = explain_grid(grid("replicas=3"), {"traffic": 1_001})
    assert odd.traffic_millirps == {"short": 4_004, "long": 501}
    assert "4.505 req/s (short 4.004, long 0.501)" in rates(odd).text


def test_a_long_list_of_classes_is_cut():
    block = GRID[GRID.index("[[class]]") : GRID.rindex("[[class]]")]
    many = GRID + "".join(block.replace('"short"', f'"c{n}"') for n in range(10))
    text = rates(explain_grid(parse_grid(many), {"traffic": 1_000})).text
    assert text == "Traffic: 44.5 req/s (short 4, long 0.5, c0 4, c1 4, … 12 classes)."


def test_the_binding_terms_have_numbers():
    _, prefill, tpot = binding_terms(cell())
    assert prefill.text == (
        "The prefill is set by its 9 chunks of 20 ms; 4 000 tokens over 24 000 tokens/s (167 ms) take no longer."
    )
    assert tpot.text == (
        "TPOT is set by the iteration of 20 ms, decode is faster: 32 sequences over 16 000 tokens/s (2 ms)."
    )
    slow = cell("token_capacity_per_second=2_000", "prefill_share_permille=500", "max_prefill_chunk_tokens=5")
    assert binding_terms(slow)[2].text == (
        "TPOT is set by decode: 32 sequences over 1 000 tokens/s (32 ms), the iteration takes 20 ms."
    )
    by_rate = cell("max_prefill_chunk_tokens=480", "iteration_time_ms=20", "prefill_share_permille=601")
    assert binding_terms(by_rate)[1].text.startswith("The prefill is set by its 9 chunks")
    rate_bound = cell("prefill_share_permille=500", "max_prefill_chunk_tokens=400", "class.long.prompt_tokens=1")
    assert "take no longer" in binding_terms(rate_bound)[1].text


def test_vllm_s_own_split_is_named_beside_the_share():
    text = as_vllm(cell()).text
    assert "vLLM fills about 882 ‰ of a full step with prefill; here" in text
    assert text.endswith("here prefill may use 600 ‰ of the capacity.")
    assert as_vllm(cell(), reason=False).text.endswith("vLLM fills about 882 ‰ of a full step with prefill.")


def test_explain_shows_the_numbers_of_an_invalid_cell():
    found = grid("scheduler.max_prefill_chunk_tokens=481")
    assert "⌊40 000·600/1000⌋·20/1000 = 480 < 481" in flat(explain_page(found, explain_grid(found)))
