"""Lists, ranges, names, order and dimensions of axes; what each cell's fields are."""

import tracemalloc

import pytest
from grid_texts import MINIMAL, MODELS, axis_faults, changed, faults_of, with_axes

from sweep.errors import InputFault, RefusedSize, UsageFault
from sweep.grid import parse_grid

OTHER = """[[class]]
class_id = "a.b:c/d"
priority = 2
arrival_millirps = 1
prompt_tokens = 1
output_tokens = 1
"""
DOTTED = MINIMAL + OTHER + "peak_concurrency = 1\n"


def test_dimensions_are_share_chunk_slots_the_others_in_file_order_and_traffic():
    grid = with_axes(
        "traffic_scale_permille = [1, 2]\nreplicas = [1, 2, 3]\nmax_active_sequences = [1, 2]\n"
        '"contract.max_ttft_ms" = [5, 6]\nprefill_share_permille = [5, 7]'
    )
    assert [axis.name for axis in grid.axes] == [
        "prefill_share_permille",
        "max_prefill_chunk_tokens",
        "max_active_sequences",
        "replicas",
        "contract.max_ttft_ms",
        "traffic_scale_permille",
    ]
    assert grid.shape == (2, 1, 2, 3, 2, 2)
    assert grid.cells == 48
    assert grid.configurations == 24
    assert [axis.listed for axis in grid.axes] == [True, False, True, True, True, True]


def test_a_cell_is_the_base_with_every_axis_set():
    grid = with_axes("max_active_sequences = [1, 2]\nreplicas = [3, 5]\ntraffic_scale_permille = [100, 200]")
    cell = grid.fields((0, 0, 1, 1, 0))
    changes = {path: value for path, value in cell.items() if grid.base[path] != value}
    assert changes == {
        "scheduler.max_active_sequences": 2,
        "traffic.replicas": 5,
        "traffic.scale_permille": 100,
    }
    assert grid.fields((0, 0, 1, 1, 0), scale_permille=777)["traffic.scale_permille"] == 777


def test_quoted_and_nested_paths_mean_the_same():
    quoted = with_axes('"class.chat.prompt_tokens" = [1, 2]\n"contract.max_ttft_ms" = [5, 6]')
    nested = with_axes("[axes.class.chat]\nprompt_tokens = [1, 2]\n[axes.contract]\nmax_ttft_ms = [5, 6]")
    mixed = with_axes('[axes.class]\n"chat.prompt_tokens" = [1, 2]\n[axes.contract]\nmax_ttft_ms = [5, 6]')
    assert quoted.sha256 == nested.sha256 == mixed.sha256
    assert [axis.name for axis in quoted.axes[3:5]] == ["class.chat.prompt_tokens", "contract.max_ttft_ms"]


def test_file_order_is_first_appearance_depth_first():
    grid = with_axes(
        '"class.chat.output_tokens" = [1]\ncontract.max_ttft_ms = [5]\nclass.chat.prompt_tokens = [1]\n'
        "contract.max_tpot_ms = [3]"
    )
    assert [axis.name for axis in grid.axes[3:-1]] == [
        "class.chat.output_tokens",
        "contract.max_ttft_ms",
        "contract.max_tpot_ms",  # under contract, which appeared before class
        "class.chat.prompt_tokens",
    ]


def test_an_id_with_dots_is_everything_between_the_first_and_the_last_dot():
    grid = with_axes('"class.a.b:c/d.prompt_tokens" = [1, 2]', DOTTED)
    axis = grid.axis("class.a.b:c/d.prompt_tokens")
    assert axis.dim == "class__a__b_c_d__prompt_tokens"
    assert axis.setting(1) == {"class.a.b:c/d.prompt_tokens": 2}
    nested = with_axes('[axes.class.a."b:c/d"]\nprompt_tokens = [1, 2]', DOTTED)
    assert nested.sha256 == grid.sha256


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("prefill_share_permille", '"scheduler.prefill_share_permille"'),
        ("max_prefill_chunk_tokens", "scheduler.max_prefill_chunk_tokens"),
        ("max_active_sequences", '"scheduler.max_active_sequences"'),
        ("traffic_scale_permille", "traffic.scale_permille"),
        ("replicas", '"traffic.replicas"'),
    ],
)
def test_short_and_full_path_are_one_axis_with_the_short_name(short, full):
    one, other = with_axes(f"{short} = [3, 4]"), with_axes(f"{full} = [3, 4]")
    assert one.sha256 == other.sha256
    assert one.axis(full.strip('"')) is one.axis(short)
    assert one.axis(short).name == short
    (fault,) = axis_faults(f"{short} = [3, 4]\n{full} = [5]")
    assert "already set by" in fault


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[10, 20, 30, 40]", "{ start = 10, stop = 49, step = 10 }"),
        ("[10, 20, 30, 40]", '{ start = 10, stop = 40, num = 4, spacing = "linear" }'),
        ("[1, 2, 4, 8]", '{ start = 1, stop = 8, num = 4, spacing = "geometric" }'),
        ("[7]", "{ start = 7, stop = 7, step = 5 }"),
        ("[1, 2, 3, 4, 5]", '{ start = 1, stop = 5, num = 9, spacing = "linear" }'),
        ("[5, 6, 7]", "{ start = 5, stop = 7, step = 1 }"),
    ],
)
def test_two_forms_of_one_axis_are_one_grid(one, other):
    first, second = with_axes(f"max_active_sequences = {one}"), with_axes(f"max_active_sequences = {other}")
    assert first.sha256 == second.sha256
    assert first.axes == second.axes


def test_units_are_accepted_in_lists_and_at_the_ends_of_ranges():
    grid = with_axes(
        '"contract.max_kv_bytes" = ["1 GB", "1 GiB"]\n'
        'prefill_share_permille = { start = "60 %", stop = 700, step = 50 }\n'
        '"contract.max_ttft_ms" = { start = "0.5 s", stop = "1 s", num = 2, spacing = "linear" }'
    )
    assert grid.axis("contract.max_kv_bytes").values == (10**9, 2**30)
    assert grid.axis("share").values == (600, 650, 700)
    assert grid.axis("contract.max_ttft_ms").values == (500, 1_000)
    (fault,) = axis_faults('"contract.max_ttft_ms" = { start = 1, stop = 9, step = "2 ms" }')
    assert "without a unit" in fault


def test_an_axis_of_requests_per_second_counts_in_thousandths():
    grid = with_axes('"class.chat.arrival_rps" = { start = 1, stop = 2.5, step = 0.5 }')
    axis = grid.axis("class.chat.arrival_millirps")
    assert (axis.name, axis.path) == ("class.chat.arrival_millirps", "class.chat.arrival_millirps")
    assert axis.values == range(1_000, 2_501, 500)
    assert with_axes('"class.chat.arrival_rps" = [0.001, 4]').axis(axis.name).values == (1, 4_000)
    (fault,) = axis_faults('"class.chat.arrival_rps" = [0.0001]')
    assert "1/1000" in fault
    (fault,) = axis_faults('"class.chat.arrival_rps" = [1]\n"class.chat.arrival_millirps" = [1]')
    assert "already set by" in fault


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("[]", "an empty list"),
        ("5", "got 5, wanted a list"),
        ("{}", "a table without values"),
        ("[2, 1]", "1 comes after 2; sort"),
        ("[1, 1]", "1 comes twice"),
        ("[1, true]", "[1]: got true"),
        ("[1, 2.0]", "[1]: got 2.0"),
        ("[0, 1]", "[0]: got 0"),
        ("[1, 1_000_001]", "lower it"),
        ("[1, {}]", "[1]: got a table"),
        ("{ start = 1, stop = 9 }", "neither step nor num"),
        ("{ start = 1, stop = 9, step = 1, num = 3 }", "both step and num"),
        ('{ start = 1, stop = 9, step = 1, spacing = "linear" }', "spacing goes with num only"),
        ("{ start = 1, stop = 9, num = 3 }", '.spacing: got nothing, wanted "linear" or "geometric"'),
        ('{ start = 1, stop = 9, num = 3, spacing = "cubic" }', 'got "cubic"'),
        ("{ start = 9, stop = 1, step = 1 }", "stop 1 below start 9"),
        ("{ start = 1, step = 1 }", ".stop: missing"),
        ("{ stop = 1, step = 1 }", ".start: missing"),
        ("{ start = 1, stop = 9, step = 0 }", "got 0, wanted a whole number of at least 1"),
        ("{ start = 1, stop = 9, step = true }", "got true"),
        ('{ start = 1, stop = 9, num = 1, spacing = "linear" }', "at least 2"),
        ("{ start = 1, stop = 9, steps = 1 }", "the nearest known one is step"),
        ("{ start = 1, stop = 2_000_000, step = 1 }", "got 2 000 000"),
        ('{ start = 1, stop = 2_000_000, num = 3, spacing = "linear" }', "got 2 000 000"),
        ("{ start = 0, stop = 9, step = 1 }", ".start: got 0"),
    ],
)
def test_a_faulty_axis_says_where_and_what(spec, reason):
    faults = axis_faults(f"max_active_sequences = {spec}")
    assert any(reason in fault for fault in faults)
    assert all(fault.startswith("axes.max_active_sequences") for fault in faults)


def test_only_the_values_that_a_step_hits_must_be_within_the_bounds():
    grid = with_axes("prefill_share_permille = { start = 1, stop = 1_000, step = 100 }")
    assert grid.axis("share").values == range(1, 902, 100)


def test_geometric_spacing_from_zero_is_a_fault():
    faults = axis_faults('"gpu.reserved_bytes" = { start = 0, stop = 9, num = 3, spacing = "geometric" }', MODELS)
    assert faults == (
        "axes.gpu.reserved_bytes.start: got 0, wanted at least 1 for geometric spacing; raise it or use linear.",
    )


@pytest.mark.parametrize(
    "spec",
    [
        "{ start = 1, stop = 1_000_000_000_000_000, step = 1 }",
        "{ start = 1, stop = 10_000_001, step = 1 }",
        '{ start = 1, stop = 1_000_000_000_000_000, num = 10_000_001, spacing = "geometric" }',
        f'{{ start = 1, stop = 9, num = {10**30}, spacing = "linear" }}',
    ],
)
def test_an_axis_of_more_than_ten_million_values_is_refused_before_it_is_made(spec):
    tracemalloc.start()
    try:
        with pytest.raises(RefusedSize, match="wanted at most 10 000 000"):
            with_axes(f"traffic_scale_permille = {spec}")
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2_000_000


def test_a_grid_of_ten_to_the_fifteenth_cells_is_described():
    grid = with_axes(
        "traffic_scale_permille = { start = 1, stop = 10_000_000, step = 1 }\n"
        "max_active_sequences = { start = 1, stop = 1_000_000, step = 1 }\n"
        "max_prefill_chunk_tokens = { start = 1, stop = 10_000_000, step = 1 }"
    )
    assert grid.cells == 10**20
    assert len(grid.effective) < 3_000
    assert grid.fields((0, 10**7 - 1, 0, 0))["scheduler.max_prefill_chunk_tokens"] == 10**7


def test_the_base_takes_the_first_value_of_an_axis_that_always_sets_it():
    grid = with_axes("prefill_share_permille = [5, 7]", changed(MINIMAL, prefill_share_permille=None))
    assert grid.base["scheduler.prefill_share_permille"] == 5
    text = changed(MINIMAL, arrival_millirps=None)
    assert with_axes('"class.chat.arrival_rps" = [2]', text).base["class.chat.arrival_millirps"] == 2_000
    # a faulty axis is one fault, not a missing field too
    assert len(axis_faults("prefill_share_permille = [0]", changed(MINIMAL, prefill_share_permille=None))) == 1


@pytest.mark.parametrize(
    ("axis", "near"),
    [
        ("slots", "max_active_sequences"),
        ("max_active_seqences", "max_active_sequences"),
        ('"contract.max_tftt_ms"', "contract.max_ttft_ms"),
        ('"class.caht.prompt_tokens"', "class.chat.prompt_tokens"),
        ('"class.prompt_tokens"', "class.chat.prompt_tokens"),
    ],
)
def test_an_unknown_axis_comes_with_the_nearest_known_name(axis, near):
    (fault,) = axis_faults(f"{axis} = [1]")
    assert f"the nearest known one is {near};" in fault


@pytest.mark.parametrize(
    "path",
    [
        "workload.admission_control_enabled",
        "traffic.scale_concurrency",
        "scheduler.scheduler_id",
        "sweep.name",
        "class.chat.class_id",
        "scope.tokenizer",
    ],
)
def test_only_whole_numbers_can_be_an_axis(path):
    (fault,) = axis_faults(f'"{path}" = [1]')
    assert "an axis sets whole numbers" in fault


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("scheduler.iteration_time_ms", "[step_time]"),
        ("scheduler.token_capacity_per_second", "[step_time]"),
        ("scheduler.kv_bytes_per_token", "[model]"),
        ("contract.max_kv_bytes", "from-memory"),
        ("class.chat.peak_concurrency", "from-slo"),
    ],
)
def test_an_axis_over_a_derived_field_is_a_fault_that_names_the_model(path, model):
    (fault,) = axis_faults(f'"{path}" = [1, 2]', MODELS)
    assert fault.startswith(f"axes.{path}: ")
    assert model in fault
    assert "derives it" in fault


def test_an_axis_over_the_burst_of_an_integer_concurrency_is_a_fault():
    (fault,) = axis_faults('"class.chat.burst_permille" = [1, 2]')
    assert "burst_permille goes with" in fault
    assert with_axes('"class.chat.burst_permille" = [1, 2]', MODELS).shape[3] == 2


@pytest.mark.parametrize("path", ["gpu.memory_bytes", "model.layers", "step_time.base_ns"])
def test_an_axis_over_a_table_that_the_file_lacks_is_a_fault(path):
    (fault,) = axis_faults(f'"{path}" = [1, 2]')
    assert f"the file has no [{path.split('.')[0]}]" in fault


def test_step_time_zeros_are_found_over_all_combinations_of_axes():
    zeros = {key: f"{key} = 0" for key in ("base_ns", "per_sequence_ns", "per_prefill_token_ns")}
    text = changed(MODELS, **zeros)
    assert with_axes('"step_time.base_ns" = [1, 2]\n"step_time.per_sequence_ns" = [0, 1]', text).cells == 4
    (fault,) = axis_faults('"step_time.base_ns" = [0, 1]\n"step_time.per_sequence_ns" = [0, 1]', text)
    assert "all three coefficients 0" in fault


def test_integer_values_over_the_ratio_field_are_an_axis_and_texts_are_not():
    assert with_axes('"model.kv_bytes_per_value" = [1, 2]', MODELS).axis("model.kv_bytes_per_value").values == (1, 2)
    (fault,) = axis_faults('"model.kv_bytes_per_value" = ["1/2"]', MODELS)
    assert "choice" in fault


def test_two_paths_with_one_dimension_are_a_fault():
    text = DOTTED + OTHER.replace("a.b:c/d", "a.b_c/d") + "peak_concurrency = 1\n"
    (fault,) = axis_faults('"class.a.b:c/d.priority" = [1]\n"class.a.b_c/d.priority" = [1]', text)
    assert "its dimension class__a__b_c_d__priority is that of axis class.a.b:c/d.priority too" in fault


def test_more_axes_than_hdf5_has_dimensions_are_a_fault():
    classes = "".join(MINIMAL[MINIMAL.index("[[class]]") :].replace("chat", f"c{n}") for n in range(40))
    axes = "\n".join(f'"class.c{n}.priority" = [1, 2]' for n in range(28))
    (fault,) = axis_faults(axes, MINIMAL + classes)
    assert "got 32 axes, wanted at most 31" in fault


def test_axes_are_found_by_name_path_dimension_and_alias():
    grid = with_axes('"contract.max_ttft_ms" = [5, 6]')
    for name in ("contract.max_ttft_ms", "contract__max_ttft_ms"):
        assert grid.position(name) == 3
    for alias, position in (("share", 0), ("chunk", 1), ("slots", 2), ("traffic", 4)):
        assert grid.position(alias) == position
    assert grid.position("traffic.scale_permille") == 4
    with pytest.raises(UsageFault, match=r"nearest is contract.max_ttft_ms"):
        grid.axis("contract.max_tftt_ms")


def test_an_axis_is_found_by_the_last_part_of_its_path_and_what_is_none_says_what_to_do():
    grid = with_axes('"contract.max_ttft_ms" = [5, 6]')
    assert grid.position("max_ttft_ms") == 3
    for name, words in (
        ("replicas", "this grid has no axis replicas; add one to the run: --axis replicas=1:8:1."),
        ("max_tpot_ms", "add one to the run: --axis contract.max_tpot_ms=start:stop:step."),
        ("class.chat.priority", "this grid has no axis class.chat.priority;"),
        ("scheduler_id", "holds no number"),
        ("slot", 'no axis "slot", the nearest is slots; take one of '),
        ("zzz", 'no axis "zzz"; take one of prefill_share_permille, '),
        ("class.nobody.priority", 'no axis "class.nobody.priority"'),
    ):
        with pytest.raises(UsageFault) as fault:
            grid.position(name)
        assert words in str(fault.value)


def test_a_field_that_choices_set_is_no_axis_and_the_message_names_theirs():
    grid = with_axes('[[axes.speed]]\nname = "slow"\nset = { "contract.max_ttft_ms" = 9 }')
    with pytest.raises(UsageFault, match=r"contract.max_ttft_ms is set by the choices of axis speed"):
        grid.position("max_ttft_ms")


@pytest.mark.parametrize("spec", ["[10, 20, 35]", "{ start = 10, stop = 100, step = 5 }"])
def test_labels_and_indices_are_inverse(spec):
    axis = with_axes(f'"contract.max_ttft_ms" = {spec}').axis("contract.max_ttft_ms")
    assert [axis.index(axis.label(index)) for index in range(len(axis))] == list(range(len(axis)))
    assert axis.index("20") == axis.index("20 ms") == axis.index("20000 us") == axis.index(20)
    with pytest.raises(UsageFault, match="its nearest values are 10 and"):
        axis.index(12)
    with pytest.raises(UsageFault, match="the nearest is 10"):
        axis.index(1)
    for wrong in (20.0, True, "x"):
        with pytest.raises(UsageFault):
            axis.index(wrong)  # type: ignore[arg-type]


def test_axes_that_are_no_table_and_a_base_without_axes_table():
    with pytest.raises(InputFault, match="axes: got"):
        parse_grid("axes = [1]\n" + MINIMAL)
    assert faults_of("axes = [1]\n" + MINIMAL) == ("axes: got a list of 1, wanted a table; write [axes].",)
