"""`--set` and `--axis`: TOML values or bare text, in order, in place, with the option named in a fault."""

import pytest
from grid_texts import MINIMAL, MODELS, faults_of

from sweep.grid import parse_grid


@pytest.mark.parametrize(
    ("option", "path", "value"),
    [
        ("contract.max_ttft_ms=300", "contract.max_ttft_ms", 300),
        ("contract.max_ttft_ms = 3_00", "contract.max_ttft_ms", 300),
        ("contract.max_ttft_ms=1.5 s", "contract.max_ttft_ms", 1_500),
        ('contract.max_ttft_ms="1.5 s"', "contract.max_ttft_ms", 1_500),
        ("contract.max_total_utilization_permille=60 %", "contract.max_total_utilization_permille", 600),
        ("scheduler.scheduler_id=v2", "scheduler.scheduler_id", "v2"),
        ("scheduler.scheduler_id='v3'", "scheduler.scheduler_id", "v3"),
        ("workload.admission_control_enabled=false", "workload.admission_control_enabled", False),
        ("replicas=4", "traffic.replicas", 4),
        ("max_active_sequences=9", "scheduler.max_active_sequences", 9),
        ("traffic_scale_permille=200 %", "traffic.scale_permille", 2_000),
        ("class.chat.prompt_tokens=7", "class.chat.prompt_tokens", 7),
        ("class.chat.arrival_rps=0.5", "class.chat.arrival_millirps", 500),
        ("class.chat.arrival_millirps=5", "class.chat.arrival_millirps", 5),
        ("scope.tokenizer=t-1", "scope.tokenizer", "t-1"),
    ],
)
def test_a_set_changes_the_base(option, path, value):
    grid = parse_grid(MINIMAL, [("set", option)])
    assert grid.base[path] == value
    assert grid.overrides == (f"--set {option}",)
    assert grid.text == MINIMAL


def test_the_name_and_the_models_can_be_set():
    assert parse_grid(MINIMAL, [("set", "sweep.name=two words")]).name == "two words"
    sets = [("set", f"step_time.{key}=1 ms") for key in ("base_ns", "per_sequence_ns", "per_prefill_token_ns")]
    (fault,) = faults_of(MINIMAL, *sets)
    assert fault.startswith("scheduler.iteration_time_ms: given, but [step_time] derives it")


def test_from_memory_is_a_bare_text():
    grid = parse_grid(MODELS, [("set", "contract.max_kv_bytes=5 GB"), ("set", "contract.max_kv_bytes=from-memory")])
    assert grid.from_memory


def test_overrides_apply_in_the_order_given():
    forth = [("set", "replicas=2"), ("set", "traffic.replicas=3")]
    assert parse_grid(MINIMAL, forth).base["traffic.replicas"] == 3
    assert parse_grid(MINIMAL, forth[::-1]).base["traffic.replicas"] == 2
    rps = [("set", "class.chat.arrival_rps=2"), ("set", "class.chat.arrival_millirps=7")]
    assert parse_grid(MINIMAL, rps).base["class.chat.arrival_millirps"] == 7
    assert parse_grid(MINIMAL, rps[::-1]).base["class.chat.arrival_millirps"] == 2_000


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("slots=8:32:8", (8, 16, 24, 32)),
        ("max_active_sequences=08:16:02", (8, 10, 12, 14, 16)),
        ("scheduler.max_active_sequences=[3, 5]", (3, 5)),
        ('slots={ start = 1, stop = 8, num = 4, spacing = "geometric" }', (1, 2, 4, 8)),
        ("slots = 1 : 3 : 1", (1, 2, 3)),
        ("slots=48", (48,)),
        ("slots = 1_000", (1_000,)),
    ],
)
def test_an_axis_takes_a_list_a_range_or_start_stop_step(option, values):
    axis = parse_grid(MINIMAL, [("axis", option)]).axis("max_active_sequences")
    assert tuple(axis.values) == values
    assert axis.listed


def test_the_ends_of_a_range_may_carry_units():
    grid = parse_grid(MINIMAL, [("axis", "contract.max_kv_bytes=1 GB:3 GB:1_000_000_000")])
    assert grid.axis("contract.max_kv_bytes").values == (10**9, 2 * 10**9, 3 * 10**9)
    grid = parse_grid(MINIMAL, [("axis", "class.chat.arrival_rps=0.5:1.5:0.5")])
    assert grid.axis("class.chat.arrival_millirps").values == (500, 1_000, 1_500)


def test_an_axis_that_exists_is_replaced_in_place_and_a_new_one_comes_last():
    text = MINIMAL + '[axes]\nreplicas = [1, 2]\n"contract.max_ttft_ms" = [5, 6]\ntraffic_scale_permille = [1]\n'
    grid = parse_grid(
        text,
        [
            ("axis", "class.chat.priority=[1, 2]"),
            ("axis", "traffic.replicas=[7, 8, 9]"),
            ("axis", "contract.max_tpot_ms=[1]"),
        ],
    )
    assert [axis.name for axis in grid.axes[3:-1]] == [
        "replicas",
        "contract.max_ttft_ms",
        "class.chat.priority",
        "contract.max_tpot_ms",
    ]
    assert grid.axis("replicas").values == (7, 8, 9)


def test_a_choice_axis_can_be_replaced_and_added():
    text = MINIMAL + '[[axes.a]]\nname = "x"\nset = { replicas = 2 }\n'
    grid = parse_grid(text, [("axis", 'a=[{ name = "y", set = { replicas = 3 } }]')])
    assert [choice.name for choice in grid.axis("a").choices] == ["y"]
    grid = parse_grid(MINIMAL, [("axis", 'b=[{ name = "y", set = { replicas = 3 } }]')])
    assert grid.axis("b").setting(0) == {"traffic.replicas": 3}


def test_the_same_grid_from_options_or_from_the_file_has_the_same_digest():
    changed = MINIMAL.replace("max_ttft_ms = 250", "max_ttft_ms = 300") + "[axes]\nreplicas = [1, 2]\n"
    overridden = parse_grid(MINIMAL, [("set", "contract.max_ttft_ms=300"), ("axis", "replicas=[1, 2]")])
    assert overridden.sha256 == parse_grid(changed).sha256


@pytest.mark.parametrize(
    ("kind", "option", "reason"),
    [
        ("set", "contract.max_ttft_ms=abc", 'got "abc"'),
        ("set", "contract.max_ttft_ms=0", "raise it."),
        ("set", "contract.max_tftt_ms=5", "the nearest known one is contract.max_ttft_ms"),
        ("set", "class.caht.priority=5", "the nearest known one is class.chat.priority"),
        ("set", "contract.max_ttft_ms=", "wanted a TOML value"),
        ("set", "contract.max_ttft_ms=[1", "wanted a TOML value"),
        ("set", "contract.max_ttft_ms=5\nmax_tpot_ms=6", "wanted a TOML value"),
        ("set", "contract.max_ttft_ms", "wanted path=value"),
        ("set", "class.chat.arrival_rps=0.0001", "1/1000"),
        ("set", "contract.max_ttft_ms=1e999999999", "got 1e999999999"),
        ("axis", "slots", "wanted name=values"),
        ("axis", "slots=true", "got true, wanted a list"),
        ("axis", "slots=many", "wanted a TOML list"),
        ("axis", "slots=0", "raise it."),
        ("axis", "slots=1,2", "wanted a TOML list"),
        ("axis", "slots=8:256", "the step is missing; write 8:256:1"),
        ("axis", "slots=1:2:3:4", "wanted a TOML list"),
        ("axis", "slots=9:1:1", "stop 1 below start 9"),
        ("axis", "slots=1:9:0", "at least 1"),
        ("axis", "slots=[2, 1]", "sort the list"),
        ("axis", "slots=[0]", "raise it."),
        ("axis", "slot=[1]", "the nearest known one is slots;"),
        ("axis", "foo=[1]", "unknown field, wanted one of share, chunk, slots, traffic, "),
        ("set", "foo=1", "unknown path, wanted one of share, "),
        ("set", "max_tftt_ms=1", "the nearest known one is contract.max_ttft_ms;"),
        ("axis", "contract.max_tftt_ms=[1]", "the nearest known one is contract.max_ttft_ms"),
        ("axis", "contract.max_tftt_ms=1:2:1", "the nearest known one is contract.max_ttft_ms"),
    ],
)
def test_a_bad_override_is_a_fault_whose_place_is_the_option(kind, option, reason):
    (fault,) = faults_of(MINIMAL, (kind, option))
    assert fault.startswith(f"--{kind} {option}".replace("\n", "\\u000a"))
    assert reason in fault


def test_faults_of_options_and_file_come_together():
    faults = faults_of(MINIMAL.replace("priority = 1", "priority = 0"), ("set", "replicas=0"), ("axis", "slots=[]"))
    assert [fault.split(":")[0] for fault in faults] == [
        "--axis slots=[]",
        "--set replicas=0",
        "class.chat.priority",
    ]


@pytest.mark.parametrize(
    ("option", "name", "values"),
    [
        ("contract.max_kv_bytes=80 GB", "contract.max_kv_bytes", (80 * 10**9,)),
        ("share=60 %", "prefill_share_permille", (600,)),
        ("max_ttft_ms='1.5 s'", "contract.max_ttft_ms", (1_500,)),
        ("class.chat.arrival_rps=0.5", "class.chat.arrival_millirps", (500,)),
        ("arrival_rps=[0.5, 1.0]", "class.chat.arrival_millirps", (500, 1_000)),
        ("prompt_tokens=[5, 7]", "class.chat.prompt_tokens", (5, 7)),
        ("max_ttft_ms=1:3:1", "contract.max_ttft_ms", (1, 2, 3)),
    ],
)
def test_one_value_is_a_list_of_one_and_the_last_part_of_a_path_is_enough(option, name, values):
    assert parse_grid(MINIMAL, [("axis", option)]).axis(name).values == values


def test_the_last_part_of_a_path_is_enough_for_a_set():
    assert parse_grid(MINIMAL, [("set", "max_ttft_ms=7")]).base["contract.max_ttft_ms"] == 7
    assert parse_grid(MINIMAL, [("set", "prompt_tokens=7")]).base["class.chat.prompt_tokens"] == 7
    assert parse_grid(MINIMAL, [("set", "arrival_rps=7")]).base["class.chat.arrival_millirps"] == 7_000


TWO = MINIMAL + MINIMAL[MINIMAL.index("[[class]]") :].replace('"chat"', '"code"')


@pytest.mark.parametrize("kind", ["set", "axis"])
def test_a_last_part_that_several_classes_have_is_not_guessed(kind):
    (fault,) = faults_of(TWO, (kind, "prompt_tokens=7"))
    assert "may be class.chat.prompt_tokens or class.code.prompt_tokens; write one of them in full" in fault


def test_a_last_part_that_one_axis_has_means_that_axis():
    text = TWO + '[axes]\n"class.code.prompt_tokens" = [1, 2]\n'
    grid = parse_grid(text, [("axis", "prompt_tokens=[3, 4]")])
    assert [axis.name for axis in grid.axes[3:-1]] == ["class.code.prompt_tokens"]
    assert grid.axis("prompt_tokens").values == (3, 4)
