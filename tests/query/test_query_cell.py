"""One operating point in full: published figures and ids, derived records, blocks by hand, invalid cells."""

import json
from pathlib import Path

import pytest
from hand_grids import axes_grid, base_grid, models_grid
from naive import TRAFFIC, Naive

from sweep.api import explain_grid, load_grid
from sweep.errors import UsageFault

GRIDS = Path(__file__).parents[2] / "grids"
KEYS = {
    "status",
    "invalid_reason",
    "contract",
    "scheduler",
    "classes",
    "report",
    "slack",
    "content_ids",
    "blocks",
    "traffic_millirps",
    "claim",
}


def test_the_illustrative_grid_gives_the_published_answer():
    """The first case of the audit's right answers, copied here: figures, slack and every id."""
    cell = explain_grid(load_grid(GRIDS / "illustrative.toml"))
    told = cell.as_json()
    assert json.loads(json.dumps(told)) == told
    assert told["report"] == {
        "decision": "CAPACITY_WITHIN_DECLARED_BOUND",
        "violations": [],
        "total_utilization_permille": 180,
        "prefill_utilization_permille": 250,
        "decode_utilization_permille": 75,
        "estimated_queue_delay_ms": 5,
        "estimated_worst_ttft_ms": 185,
        "estimated_tpot_ms": 20,
        "declared_starvation_bound_ms": 80,
        "peak_kv_bytes": 8_808_038_400,
        "evidence_id": "246cc9775c168f411bbb9d086acd2695c0e5425526602981995cd5670b30b6dd",
        "claim": "LOCAL_FLUID_CAPACITY_MODEL_NOT_QUEUEING_OR_DEVICE_BENCHMARK",
    }
    assert told["content_ids"] == {
        "contract": "ea1d51e1f58b34200ed21dd13b2af015839f4fb74bc68dd79625be99d099e8f7",
        "scheduler": "4151185ead14db9dda8dd3c85696ee9e61f37ebff2af79885ae0f2c86fda84ba",
        "classes": [
            "3333b340df6e3a8cffc6330c0a00b1dff2f5dd33f2ebf66ece3653c2c725575f",
            "e21a6128a274f2a8cc25233836ec67dfc6019e8bcf31cf2cb678f77abfa89421",
        ],
        "workload": "c0195ea0ebee89324d851b03d56bea70bbf037417ba1710bccb085e2881c79e2",
    }
    assert told["slack"] == {
        "max_active_sequences": 32,
        "max_total_utilization_permille": 620,
        "max_prefill_utilization_permille": 450,
        "max_decode_utilization_permille": 625,
        "max_queue_delay_ms": 45,
        "max_ttft_ms": 65,
        "max_tpot_ms": 10,
        "max_starvation_ms": 20,
        "max_kv_bytes": 1_191_961_600,
    }
    assert told["status"] == "within"
    assert told["invalid_reason"] is None
    assert set(told) - {"point"} == KEYS
    assert told["classes"][1] == {
        "class_id": "interactive-long",
        "priority": 2,
        "arrival_millirps": 500,
        "prompt_tokens": 4_000,
        "output_tokens": 800,
        "peak_concurrency": 8,
    }
    assert told["scheduler"]["scheduler_id"] == "chunked-prefill-fair-v4"
    assert told["contract"]["max_kv_bytes"] == 10_000_000_000
    # ⌈1 000/480⌉ = 3 chunks and ⌈4 000/480⌉ = 9 chunks of 20 ms; by rate 24 000/s only 42 ms and 167 ms.
    assert cell.class_service_ms == {"interactive-short": 60, "interactive-long": 180}
    # 24·⌈1 200/16⌉ + 8·⌈4 800/16⌉ = 24·75 + 8·300; ⌊10^10/(16·131 072)⌋.
    assert told["blocks"] == {"block_tokens": 16, "needed": 4_200, "available": 4_768}


def test_an_invalid_cell_has_figures_but_no_report_ids_slack_or_blocks():
    told = explain_grid(base_grid(("set", "scheduler.max_prefill_chunk_tokens=481"))).as_json()
    assert told["status"] == "invalid"
    assert told["invalid_reason"] == "chunk-exceeds-iteration-service"
    assert {key for key in told if told[key] is None} == {"report", "slack", "content_ids", "blocks"}
    assert told["scheduler"]["max_prefill_chunk_tokens"] == 481
    assert told["contract"]["max_ttft_ms"] == 250


def test_a_rejected_cell_has_negative_slack_and_its_codes():
    told = explain_grid(base_grid(), {"traffic": 1_500}).as_json()
    assert told["status"] == "rejected"
    assert told["point"][TRAFFIC] == 1_500
    assert told["report"]["violations"] == ["kv-capacity"]
    # 36·1 200 + 12·4 800 tokens of 131 072 bytes.
    assert told["slack"]["max_kv_bytes"] == 10**10 - (36 * 1_200 + 12 * 4_800) * 131_072
    assert [row["arrival_millirps"] for row in told["classes"]] == [6_000, 750]
    assert [row["peak_concurrency"] for row in told["classes"]] == [36, 12]


def test_arrivals_and_concurrency_are_those_of_the_busiest_replica_rounded_up():
    told = explain_grid(base_grid(("set", "traffic.replicas=7"))).as_json()
    assert [row["arrival_millirps"] for row in told["classes"]] == [572, 72]
    assert [row["peak_concurrency"] for row in told["classes"]] == [4, 2]


def test_derived_fields_by_hand():
    """128 slots, chunk 512: step 7 000 000 + 128·74 000 + 512·33 000 ns, 640 tokens in it."""
    at = {"share": 900, "chunk": 512, "slots": 128, "traffic": 200}
    cell = explain_grid(models_grid(), at)
    told = cell.as_json()
    assert told["scheduler"]["iteration_time_ms"] == 34
    assert told["scheduler"]["token_capacity_per_second"] == 640 * 10**9 // 33_368_000 == 19_180
    assert told["scheduler"]["kv_bytes_per_token"] == 131_072
    remainder = 85_520_809_984 * 900 // 1000 - 2 * 2**30 - 2**30 - 16_060_522_496
    assert told["contract"]["max_kv_bytes"] == remainder
    # Little's law: 1 107 and 514 millirps, 900 ms + 212·50 ms and 900 ms + 28·50 ms.
    assert [row["arrival_millirps"] for row in told["classes"]] == [1_107, 514]
    assert [row["peak_concurrency"] for row in told["classes"]] == [13, 2]
    assert told["blocks"] == {
        "block_tokens": 16,
        "needed": 13 * -(-1_367 // 16) + 2 * -(-2_076 // 16),
        "available": remainder // (16 * 131_072),
    }


def test_blocks_take_the_grid_s_block_size():
    told = explain_grid(models_grid(("set", "gpu.block_tokens=100")), {"traffic": 200, "slots": 128}).as_json()
    assert told["blocks"]["block_tokens"] == 100
    peaks = [row["peak_concurrency"] for row in told["classes"]]
    assert told["blocks"]["needed"] == peaks[0] * 14 + peaks[1] * 21


def test_class_service_is_empty_where_it_is_undefined():
    no_prefill = base_grid(
        ("set", "scheduler.token_capacity_per_second=1"), ("set", "scheduler.prefill_share_permille=1")
    )
    assert explain_grid(no_prefill).class_service_ms == {}


def test_open_axes_take_the_best_point_of_what_is_left():
    naive = Naive(axes_grid())
    assert explain_grid(naive.grid).point == naive.point(naive.points()[0])
    at = {"precision": "bf16", "prefill_share_permille": 500}
    assert explain_grid(naive.grid, at).point == naive.point(naive.points(at)[0])
    at = {TRAFFIC: 333}
    assert explain_grid(naive.grid, at).point == naive.point(naive.points(at)[0])


def test_open_axes_take_those_of_the_largest_capacity_where_the_traffic_is_too_high():
    naive = Naive(axes_grid())
    most = naive.point(naive.points({"max_active_sequences": 64})[0])
    assert most[TRAFFIC] < 999_999
    cell = explain_grid(axes_grid(), {"traffic": 999_999, "slots": 64})
    assert cell.point == most | {TRAFFIC: 999_999}
    assert cell.status != "within"


def test_open_axes_take_their_first_values_where_no_configuration_carries_anything():
    cell = explain_grid(axes_grid(("set", "contract.max_tpot_ms=1")), {"traffic": 999_999, "slots": 64})
    first = {axis.name: axis.labels[0] for axis in axes_grid().axes}
    assert cell.point == first | {"max_active_sequences": 64, TRAFFIC: 999_999}
    assert cell.status != "within"


def test_an_unknown_axis_is_refused():
    with pytest.raises(UsageFault, match="nearest"):
        explain_grid(axes_grid(), {"slotts": 1})
