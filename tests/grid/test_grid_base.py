"""Tables, units, defaults, bounds, missing and unknown keys, rules over several fields."""

import copy
import os
import pickle
from fractions import Fraction

import pytest
from grid_texts import MINIMAL, MODELS, axis_faults, changed, faults_of

from sweep.errors import InputFault
from sweep.grid import load_grid, parse_grid
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS, SCOPE_KEYS


def test_the_base_holds_every_field_with_its_default():
    grid = parse_grid(MINIMAL)
    assert grid.name == "minimal"
    assert grid.base["contract.max_kv_bytes"] == 10**10
    assert [grid.base[f"scope.{key}"] for key in SCOPE_KEYS] == [key.replace("_", "-") for key in SCOPE_KEYS]
    assert grid.base["workload.admission_control_enabled"] is True
    assert (grid.base["traffic.scale_permille"], grid.base["traffic.replicas"]) == (1_000, 1)
    assert grid.base["traffic.scale_concurrency"] is True
    assert not any(path.endswith("burst_permille") for path in grid.base)
    assert (grid.step_time, grid.model, grid.from_memory, grid.capacity_from_step_time) == (False,) * 4


def test_the_models_tables_have_their_defaults_and_flags():
    grid = parse_grid(MODELS)
    assert (grid.step_time, grid.model, grid.from_memory, grid.capacity_from_step_time) == (True,) * 4
    assert grid.base["gpu.memory_bytes"] == 80 * 10**9
    assert grid.base["gpu.activation_bytes"] == 2 * 2**30
    assert grid.base["class.chat.burst_permille"] == 1_000
    assert grid.from_slo("chat")
    defaults = {
        "tensor_parallel": 1,
        "block_tokens": 16,
        "reserved_bytes": 0,
        "activation_bytes_per_chunk_token": 0,
    }
    assert {key: grid.base[f"gpu.{key}"] for key in defaults} == defaults


def test_a_grid_without_axes_has_four_standing_ones_of_one_value():
    grid = parse_grid(MINIMAL)
    assert [axis.name for axis in grid.axes] == [
        "prefill_share_permille",
        "max_prefill_chunk_tokens",
        "max_active_sequences",
        "traffic_scale_permille",
    ]
    assert [tuple(axis.values) for axis in grid.axes] == [(600,), (480,), (64,), (1_000,)]
    assert not any(axis.listed for axis in grid.axes)
    assert (grid.shape, grid.cells, grid.configurations) == ((1, 1, 1, 1), 1, 1)


@pytest.mark.parametrize(
    ("table", "key", "bounds"),
    [(t, k, b) for t, m in (("contract", CONTRACT_BOUNDS), ("class", CLASS_BOUNDS)) for k, b in m.items()]
    + [("scheduler", key, bounds) for key, bounds in SCHEDULER_BOUNDS.items()],
)
def test_both_bounds_are_inclusive_and_one_beyond_is_a_fault(table, key, bounds):
    place = f"class.chat.{key}" if table == "class" else f"{table}.{key}"
    for value in bounds:
        assert parse_grid(changed(MINIMAL, **{key: f"{key} = {value}"})).base[place] == value
    for value, advice in ((bounds[0] - 1, "raise it."), (bounds[1] + 1, "lower it.")):
        (fault,) = faults_of(changed(MINIMAL, **{key: f"{key} = {value}"}))
        assert fault.startswith(f"{place}: got ")
        assert fault.endswith(advice)


def test_a_fault_is_one_regular_sentence():
    assert faults_of(changed(MINIMAL, max_ttft_ms="max_ttft_ms = 0")) == (
        "contract.max_ttft_ms: got 0, wanted a whole number of ms from 1 to 86 400 000; raise it.",
    )


@pytest.mark.parametrize(
    "value",
    ["true", "250.0", '"250"', "[250]", "{ a = 1 }", "1979-05-27", "inf", "nan", "1e999999999", "1" * 4_000],
)
def test_a_wrong_type_or_an_absurd_number_is_one_fault(value):
    (fault,) = faults_of(changed(MINIMAL, max_ttft_ms=f"max_ttft_ms = {value}"))
    assert fault.startswith("contract.max_ttft_ms: got ")
    assert len(fault) < 300


def test_half_a_millisecond_in_a_millisecond_field_says_so():
    (fault,) = faults_of(changed(MINIMAL, max_tpot_ms='max_tpot_ms = "0.5 ms"'))
    assert "no whole number of ms" in fault


def test_all_faults_come_at_once():
    text = changed(
        MINIMAL,
        max_ttft_ms="max_ttft_ms = 0\nmax_tftt_ms = 3",
        scheduler_id='scheduler_id = "no blanks"',
        max_tpot_ms=None,
        priority="priority = 1001",
        prompt_tokens='prompt_tokens = "many"',
    )
    faults = faults_of(f"{text}[axes]\nprefill_share_permille = []\nfoo = [1]\n[tables]\n")
    assert len(faults) == 9
    for place in ("max_ttft_ms", "max_tftt_ms", "scheduler_id", "max_tpot_ms", "priority", "prompt_tokens"):
        assert sum(f".{place}: " in fault for fault in faults) == 1


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("[contract]\nmax_tftt_ms = 3", "max_ttft_ms"),
        ("[contract]\nmax_queue_delay = 3", "max_queue_delay_ms"),
        ("[[class]]\nclass_id = 'b'\nprompt_token = 3", "prompt_tokens"),
        ("[axs]", "axes"),
        ("[scope]\ntokeniser = 'a'", "tokenizer"),
        ("[traffic]\nreplica = 3", "replicas"),
    ],
)
def test_an_unknown_key_comes_with_the_nearest_known_one(line, near):
    text = changed(MINIMAL, **{"[contract]": None}) if line.startswith("[contract]") else MINIMAL
    text = text.replace("\nmax_total", f"\n{line}\nmax_total", 1) if line.startswith("[contract]") else text + line
    assert any(f"the nearest known one is {near};" in fault for fault in faults_of(text))


@pytest.mark.parametrize("table", ["sweep", "contract", "scheduler", "class"])
def test_a_missing_table_is_one_fault(table):
    lines = MINIMAL.splitlines()
    header = "[[class]]" if table == "class" else f"[{table}]"
    start = lines.index(header)
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    (fault,) = faults_of("\n".join(lines[:start] + lines[end:]))
    assert fault.startswith(f"{header}: missing")


@pytest.mark.parametrize("header", ["sweep", "contract", "scheduler", "axes", "class", "gpu"])
def test_a_value_where_a_table_belongs_is_the_only_fault_of_that_place(header):
    (fault,) = [fault for fault in faults_of(f"{header} = 3\n") if fault.startswith(header)]
    assert fault.startswith(f"{header}: got 3, wanted")


def test_arrival_rps_is_an_alias_and_not_beside_arrival_millirps():
    one = parse_grid(changed(MINIMAL, arrival_millirps="arrival_rps = 4.0"))
    assert one.effective == parse_grid(MINIMAL).effective
    (fault,) = faults_of(MINIMAL + "arrival_rps = 4.0\n")
    assert fault.startswith("class.chat.arrival_rps: given beside arrival_millirps")
    (fault,) = faults_of(changed(MINIMAL, arrival_millirps="arrival_rps = 0.0001"))
    assert "1/1000" in fault
    (fault,) = faults_of(changed(MINIMAL, arrival_millirps="arrival_rps = 0"))
    assert fault.endswith("raise it.")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ('"1/2"', Fraction(1, 2)),
        ('"17/32"', Fraction(17, 32)),
        ('"4/2"', 2),
        ('"2/4"', Fraction(1, 2)),
    ],
)
def test_a_ratio_is_exact_and_reduced(text, value):
    base = parse_grid(changed(MODELS, kv_bytes_per_value=f"kv_bytes_per_value = {text}")).base
    assert base["model.kv_bytes_per_value"] == value
    assert type(base["model.kv_bytes_per_value"]) is type(value)


@pytest.mark.parametrize("text", ["0", "1025", '"0/1"', '"1/0"', '"1/1025"', "0.5", '"0.5"', "true", '"2"', '"-1/2"'])
def test_what_is_no_ratio_within_bounds_is_a_fault(text):
    (fault,) = faults_of(changed(MODELS, kv_bytes_per_value=f"kv_bytes_per_value = {text}"))
    assert fault.startswith("model.kv_bytes_per_value: got ")


@pytest.mark.parametrize(
    ("line", "after", "model"),
    [
        ("iteration_time_ms = 20", "scheduler_id", "[step_time]"),
        ("token_capacity_per_second = 5", "scheduler_id", "[step_time] with capacity"),
        ("kv_bytes_per_token = 5", "scheduler_id", "[model]"),
    ],
)
def test_a_field_that_a_model_derives_may_not_be_given_and_the_model_is_named(line, after, model):
    (fault,) = faults_of(changed(MODELS, **{after: f'{after} = "fair"\n{line}'}))
    assert f"{model}" in fault
    assert "derives it" in fault


@pytest.mark.parametrize("key", ["token_capacity_per_second", "iteration_time_ms", "kv_bytes_per_token"])
def test_a_field_that_no_model_derives_is_required(key):
    (fault,) = faults_of(changed(MINIMAL, **{key: None}))
    assert fault.startswith(f"scheduler.{key}: missing")


def test_capacity_stays_required_with_a_step_time_that_does_not_derive_it():
    (fault,) = faults_of(changed(MODELS, capacity=None))
    assert fault.startswith("scheduler.token_capacity_per_second: missing")
    (fault,) = faults_of(changed(MODELS, capacity='capacity = "from-steps"\n', scheduler_id='scheduler_id = "a"'))[:1]
    assert 'wanted "from-step-time"' in fault


def test_from_memory_needs_both_tables_and_gpu_a_model():
    text = changed(MINIMAL, max_kv_bytes='max_kv_bytes = "from-memory"')
    assert faults_of(text) == ('contract.max_kv_bytes: "from-memory" needs [model] and [gpu]; add them.',)
    (fault,) = faults_of(MINIMAL + "[gpu]\ntensor_parallel = 2\n")
    assert fault.startswith("gpu: [gpu] has no use without [model]")


def test_without_from_memory_only_tensor_parallel_of_gpu_matters_and_the_rest_is_still_checked():
    gone = dict.fromkeys(
        ("memory_bytes", "memory_utilization_permille", "activation_bytes", "framework_overhead_bytes")
    )
    text = changed(MODELS, max_kv_bytes="max_kv_bytes = 5", **gone)
    assert parse_grid(text).base["gpu.tensor_parallel"] == 1
    (fault,) = faults_of(text.replace("[gpu]", "[gpu]\nmemory_bytes = 0"))
    assert fault.startswith("gpu.memory_bytes: got 0")
    assert len(faults_of(changed(MODELS, **gone))) == 4


def test_burst_beside_an_integer_concurrency_is_a_fault():
    (fault,) = faults_of(MINIMAL + "burst_permille = 1_000\n")
    assert fault.startswith("class.chat.burst_permille: burst_permille goes with")
    assert parse_grid(MODELS + "burst_permille = 1_500\n").base["class.chat.burst_permille"] == 1_500


def test_the_three_coefficients_of_the_step_time_are_not_all_zero():
    zeros = {key: f"{key} = 0" for key in ("base_ns", "per_sequence_ns", "per_prefill_token_ns")}
    (fault,) = faults_of(changed(MODELS, **zeros))
    assert fault.startswith("step_time: some cell has all three coefficients 0")
    assert parse_grid(changed(MODELS, **zeros | {"base_ns": "base_ns = 1"})).step_time


def test_scope_identities_are_distinct_defaults_included():
    (fault,) = faults_of(MINIMAL + '[scope]\ntokenizer = "fixture"\n')
    assert 'got "fixture"' in fault
    assert "scope.tokenizer" in fault


def test_classes_are_distinct_and_at_most_64():
    again = MINIMAL[MINIMAL.index("[[class]]") :]
    assert any("two classes have this class_id" in fault for fault in faults_of(MINIMAL + again))
    many = MINIMAL + "".join(again.replace('"chat"', f'"c{number}"') for number in range(63))
    assert len(parse_grid(many).class_ids) == 64
    assert any("got 65 classes" in fault for fault in faults_of(many + again.replace('"chat"', '"one"')))


@pytest.mark.parametrize("name", ["a\\nb", "\\u0007", "x" * 201])
def test_a_name_is_one_line_of_at_most_200_characters(name):
    (fault,) = faults_of(changed(MINIMAL, name=f'name = "{name}"'))
    assert fault.startswith("sweep.name: got ")


def test_the_grid_is_frozen_hashable_and_pickles():
    grid = parse_grid(MINIMAL)
    with pytest.raises(TypeError, match="frozen"):
        grid.base["contract.max_ttft_ms"] = 1  # type: ignore[index]
    for twin in (pickle.loads(pickle.dumps(grid)), copy.deepcopy(grid)):
        assert twin == grid
        assert hash(twin) == hash(grid)


def test_a_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_bytes(MINIMAL.replace("\n", "\r\n").encode())
    assert load_grid(path).text == MINIMAL.replace("\n", "\r\n")
    assert load_grid(str(path)).effective == parse_grid(MINIMAL).effective


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no such file"),
        (b"a = \n", "at line 1, column 5"),
        (b"[sweep]\nname = 'a'\nname = 'b'\n", "line 3"),
        (b"# ok\n\xff\xfe\n", "line 2 is not UTF-8"),
    ],
)
def test_an_unreadable_file_is_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "grid.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputFault, match=sentence) as caught:
        load_grid(path)
    assert len(caught.value.faults) == 1
    assert "grid.toml" in caught.value.faults[0]


def test_a_folder_is_no_grid_file(tmp_path):
    with pytest.raises(InputFault, match="is a folder"):
        load_grid(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_no_grid_file(tmp_path, make):
    make(tmp_path / "grid.toml")
    with pytest.raises(InputFault, match="is a folder, a device or a pipe, a regular file is wanted"):
        load_grid(tmp_path / "grid.toml")


def test_a_byte_order_mark_is_read_over(tmp_path):
    (tmp_path / "grid.toml").write_text(MINIMAL, encoding="utf-8-sig")
    found = load_grid(tmp_path / "grid.toml")
    assert (found, found.text) == (parse_grid(MINIMAL), MINIMAL)


def test_an_empty_file_misses_tables_by_their_headers():
    faults = faults_of("")
    assert faults[0] == "[sweep]: missing, wanted a table; add it."
    assert any(fault.startswith("[[class]]: missing") for fault in faults)


def test_a_refused_character_is_named():
    (fault,) = faults_of(MINIMAL, ("set", 'sweep.name="a\\u0007b"'))
    assert "take out the character U+0007" in fault
    (fault,) = axis_faults('[[axes.a]]\nname = "x\\u202Ey"\nset = { "class.chat.priority" = 2 }')
    assert "take out the character U+202E (RIGHT-TO-LEFT OVERRIDE)" in fault
    (fault,) = faults_of(MINIMAL, ("set", "sweep.name=x\u200fy"))
    assert "take out the character U+200F (RIGHT-TO-LEFT MARK)" in fault


def test_too_many_axes_are_one_fault():
    choices = "".join(f'[[axes.a{n}]]\nname = "x"\nset = {{ "class.chat.priority" = 2 }}\n' for n in range(40))
    assert len([fault for fault in axis_faults(choices) if fault.startswith("axes: ")]) == 1


def test_a_missing_arrival_names_both_spellings():
    (fault,) = faults_of(changed(MINIMAL, arrival_millirps=None))
    assert fault.startswith("class.chat.arrival_millirps: missing, wanted arrival_millirps, a whole number ")
    assert "or arrival_rps, a decimal of requests/s" in fault


@pytest.mark.parametrize("header", ["[class]", "[class.chat]"])
def test_a_class_without_double_brackets_says_which_to_write(header):
    (fault,) = faults_of(MINIMAL.replace("[[class]]", header))
    assert fault == "class: got one table, wanted a list of tables; write [[class]] for each class, not [class]."


def test_a_key_like_no_other_comes_with_the_keys_of_its_table():
    text = MINIMAL.replace("[contract]", "[contract]\nqqqq = 1").replace("\npriority", "\nzzzz = 1\npriority")
    of_contract, of_class = faults_of(text)
    assert of_contract.startswith("contract.qqqq: unknown key, wanted one of max_total_utilization_permille, ")
    assert "max_kv_bytes; correct or remove it." in of_contract
    assert "arrival_rps" in of_class
    assert "peak_concurrency" in of_class
