"""Axes of named choices."""

from fractions import Fraction

import pytest
from grid_texts import MINIMAL, MODELS, axis_faults, changed, with_axes

from sweep.errors import UsageFault

PRECISION = """
[[axes.precision]]
name = "bf16"
set = { "model.kv_bytes_per_value" = 2, "model.weight_bytes" = "16 GB" }
[[axes.precision]]
name = "fp4"
set = { model = { kv_bytes_per_value = "17/32" } }
[[axes.precision]]
name = "as it is"
set = {}
"""


def test_each_choice_sets_several_fields_together_and_the_base_holds_the_rest():
    grid = with_axes(PRECISION, MODELS)
    axis = grid.axis("precision")
    assert (axis.name, axis.path, axis.dim, axis.values) == ("precision", "precision", "precision", ())
    assert axis.fields == ("model.kv_bytes_per_value", "model.weight_bytes")
    assert [axis.label(index) for index in range(len(axis))] == ["bf16", "fp4", "as it is"]
    cells = [grid.fields((0, 0, 0, index, 0)) for index in range(3)]
    assert [cell["model.kv_bytes_per_value"] for cell in cells] == [2, Fraction(17, 32), 2]
    assert [cell["model.weight_bytes"] for cell in cells] == [16 * 10**9, 16_060_522_496, 16_060_522_496]


def test_a_choice_is_found_by_its_name_and_a_wrong_one_says_the_nearest():
    axis = with_axes(PRECISION, MODELS).axis("precision")
    assert axis.index("fp4") == 1
    with pytest.raises(UsageFault, match="the nearest is fp4"):
        axis.index("fp8")


def test_quoted_nested_and_short_paths_in_a_set_mean_the_same():
    one = with_axes('[[axes.a]]\nname = "x"\nset = { replicas = 2, "class.chat.arrival_rps" = 1.5 }')
    other = with_axes(
        '[[axes.a]]\nname = "x"\nset = { traffic.replicas = 2, class.chat = { arrival_millirps = 1_500 } }'
    )
    assert one.sha256 == other.sha256
    assert one.axis("a").setting(0) == {"traffic.replicas": 2, "class.chat.arrival_millirps": 1_500}


def test_identities_are_set_by_choices_only():
    grid = with_axes('[[axes.engine]]\nname = "x"\nset = { "scheduler.scheduler_id" = "v2", scope.tokenizer = "t" }')
    assert grid.fields((0, 0, 0, 0, 0))["scheduler.scheduler_id"] == "v2"
    (fault,) = axis_faults('[[axes.engine]]\nname = "x"\nset = { "scheduler.scheduler_id" = "no blanks" }')
    assert fault.startswith("axes.engine.x.scheduler.scheduler_id: got")


def test_the_base_may_miss_what_every_choice_sets_but_not_what_one_leaves_out():
    text = changed(MINIMAL, max_ttft_ms=None)
    choices = '[[axes.slo]]\nname = "x"\nset = { "contract.max_ttft_ms" = 5 }\n[[axes.slo]]\nname = "y"\n'
    full = with_axes(choices + 'set = { "contract.max_ttft_ms" = 4 }', text)
    assert full.base["contract.max_ttft_ms"] == 5
    (fault,) = axis_faults(choices + "set = {}", text)
    assert fault.startswith("contract.max_ttft_ms: missing")


@pytest.mark.parametrize(
    ("sets", "reason"),
    [
        ("{ max_active_sequences = 5 }", "the field of a standing axis"),
        ('{ "scheduler.prefill_share_permille" = 5 }', "the field of a standing axis"),
        ('{ "traffic.scale_permille" = 5 }', "the field of a standing axis"),
        ('{ "class.chat.class_id" = "x" }', "not this field"),
        ('{ "workload.admission_control_enabled" = false }', "not this field"),
        ('{ "traffic.scale_concurrency" = false }', "not this field"),
        ('{ "sweep.name" = "x" }', "not this field"),
        ('{ "contract.max_tftt_ms" = 5 }', "the nearest known one is contract.max_ttft_ms"),
        ('{ "class.caht.priority" = 5 }', "the nearest known one is class.chat.priority"),
        ('{ "contract.max_ttft_ms" = 0 }', "got 0"),
        ('{ "contract.max_ttft_ms" = [5] }', "got a list of 1"),
        ('{ "contract.max_ttft_ms" = 5, contract.max_ttft_ms = 6 }', "twice"),
        ('{ "contract.max_kv_bytes" = "from-memory" }', "only the base"),
        ('{ "class.chat.peak_concurrency" = "from-slo" }', "only the base"),
        ('{ "class.chat.burst_permille" = 5 }', "burst_permille goes with"),
        ('{ "gpu.memory_bytes" = 5 }', "the file has no [gpu]"),
        ("5", ".set: got 5"),
        ("{}", "set no field"),
    ],
)
def test_a_faulty_set_is_one_fault_of_its_choice(sets, reason):
    (fault,) = axis_faults(f'[[axes.a]]\nname = "x"\nset = {sets}')
    assert fault.startswith("axes.a")
    assert reason in fault


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("set = { replicas = 2 }", "[0].name: missing"),
        ('name = ""\nset = { replicas = 2 }', '[0].name: got ""'),
        ("name = 5\nset = { replicas = 2 }", "[0].name: got 5"),
        ('name = "x"', "x.set: got nothing"),
        ('name = "x"\nset = { replicas = 2 }\nsets = {}', "the nearest known one is set"),
        ('name = "x"\nset = { replicas = 2 }\n[[axes.a]]\nname = "x"\nset = {}', "distinct names"),
    ],
)
def test_a_choice_has_exactly_a_distinct_name_and_a_set(table, reason):
    (fault,) = axis_faults(f"[[axes.a]]\n{table}")
    assert reason in fault


@pytest.mark.parametrize(
    "path",
    [
        "scheduler.iteration_time_ms",
        "scheduler.token_capacity_per_second",
        "scheduler.kv_bytes_per_token",
        "contract.max_kv_bytes",
        "class.chat.peak_concurrency",
    ],
)
def test_a_choice_over_a_derived_field_names_the_model(path):
    (fault,) = axis_faults(f'[[axes.a]]\nname = "x"\nset = {{ "{path}" = 5 }}', MODELS)
    assert fault.startswith("axes.a: ")
    assert "derives it" in fault


def test_a_field_on_two_axes_is_a_fault_whichever_way():
    choice = '[[axes.{}]]\nname = "x"\nset = {{ replicas = 2 }}\n'
    (fault,) = axis_faults("replicas = [1, 2]\n" + choice.format("a"))
    assert "traffic.replicas is already set by axes.replicas" in fault
    (fault,) = axis_faults(choice.format("a") + choice.format("b"))
    assert "traffic.replicas is already set by axes.a" in fault


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("replicas", "has the name of a field"),
        ("max_active_sequences", "has the name of a field"),
        ('"contract.max_ttft_ms"', "has the name of a field"),
        ("peak_kv_bytes", "is a name of the result file"),
        ("bound_max_ttft_ms", "is a name of the result file"),
        ("violations", "is a name of the result file"),
        ("limb", "is a name of the result file"),
        ('""', "wanted 1 to 200 characters"),
        ('"a\\nb"', "wanted 1 to 200 characters"),
    ],
)
def test_a_choice_axis_has_a_name_of_its_own(name, reason):
    (fault,) = axis_faults(f'[[axes.{name}]]\nname = "x"\nset = {{ "class.chat.priority" = 2 }}')
    assert reason in fault


def test_names_with_other_characters_become_dimensions_and_may_clash():
    one = '[[axes."a b"]]\nname = "x"\nset = { "class.chat.priority" = 2 }\n'
    assert with_axes(one).axis("a b").dim == "a_b"
    (fault,) = axis_faults(one + '[[axes.a_b]]\nname = "x"\nset = { replicas = 2 }')
    assert "its dimension a_b is that of axis a b too" in fault


def test_identities_of_the_scope_may_not_meet_in_any_cell():
    same_axis = '[[axes.a]]\nname = "x"\nset = {{ scope = {{ tokenizer = "t", fixture = "{}" }} }}\n'
    swap = '[[axes.a]]\nname = "y"\nset = { scope = { tokenizer = "f", fixture = "t" } }'
    # t/f and f/t: the two never meet in one choice
    assert with_axes(same_axis.format("f") + swap).axis("a").choices[1].name == "y"
    (fault,) = axis_faults(same_axis.format("t"))
    assert 'got "t"' in fault
    choice = '[[axes.{}]]\nname = "x"\nset = {{ scope.{} = "t" }}\n'
    (fault,) = axis_faults(choice.format("a", "tokenizer") + choice.format("b", "fixture"))
    assert 'got "t"' in fault
    (fault,) = axis_faults('[[axes.a]]\nname = "x"\nset = { scope.tokenizer = "fixture" }')
    assert 'got "fixture"' in fault


def test_step_time_zeros_are_found_in_choices():
    zeros = {key: f"{key} = 0" for key in ("base_ns", "per_sequence_ns", "per_prefill_token_ns")}
    text = changed(MODELS, **zeros)
    first = '[[axes.a]]\nname = "x"\nset = { step_time.base_ns = 1, step_time.per_sequence_ns = 0 }\n'
    second = '[[axes.a]]\nname = "y"\nset = { step_time.per_sequence_ns = 1 }\n'
    assert with_axes(first + second, text).cells == 2
    (fault,) = axis_faults(first + '[[axes.a]]\nname = "z"\nset = {}\n', text)
    assert "all three coefficients 0" in fault


def test_nested_choice_axes_have_dotted_names():
    grid = with_axes('[[axes.run.precision]]\nname = "x"\nset = { replicas = 2 }')
    assert (grid.axes[3].name, grid.axes[3].dim) == ("run.precision", "run__precision")
