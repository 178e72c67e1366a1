"""Files of strangers: one sentence each, nothing hangs, nothing becomes a float."""

import json
import os

import pytest

from sweep.errors import InputFault, RefusedSize
from sweep.hardware import read_model_config
from sweep.hardware.document import MAX_CONFIG_BYTES, weight_bytes_of_index

TEXTS = {
    "empty": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "truncated": ('{"num_hidden_layers": 32,', "is not JSON"),
    "not JSON": ("layers: 32", "is not JSON"),
    "a list": ("[1, 2]", "holds a list of 2"),
    "a number": ("7", "holds 7"),
    "null": ("null", "holds null, a model's config.json is wanted"),
    "a mark and nothing": ("\N{BYTE ORDER MARK}", "is empty"),
    "NaN": ('{"num_hidden_layers": NaN}', "num_hidden_layers: got NaN"),
    "minus infinity": ('{"num_hidden_layers": -Infinity}', "num_hidden_layers: got -Infinity"),
    "a key twice": ('{"hidden_size": 1, "hidden_size": 2}', 'the key "hidden_size" twice'),
    "a key twice inside": ('{"a": {"b": 1, "b": 2}}', 'the key "b" twice'),
    "nested": ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deep"),
    "huge integer": ('{"num_hidden_layers": ' + "9" * 5_000 + "}", "4 300 digits"),
    "a large integer": ('{"num_hidden_layers": ' + "9" * 4_000 + "}", "an integer of"),
    "a float": ('{"num_hidden_layers": 32.0}', "without a point"),
    "a huge exponent": ('{"num_hidden_layers": 1e999999999}', "without a point"),
    "nothing of use": ("{}", "num_hidden_layers: missing"),
    "a toml file": ("[model]\nlayers = 32\n", "is not JSON"),
}


def sentence_of(path, read=read_model_config):
    with pytest.raises(InputFault) as caught:
        read(path)
    assert caught.value.exit_code == 3
    assert len(caught.value.faults) == 1
    (sentence,) = caught.value.faults
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


@pytest.mark.parametrize("name", TEXTS)
def test_a_wrong_text_is_one_sentence(tmp_path, name):
    text, why = TEXTS[name]
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")

    assert why in sentence_of(path)


def test_what_is_no_readable_file_is_one_sentence(tmp_path):
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xff"}')
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")

    assert "not UTF-8" in sentence_of(tmp_path / "latin.json")
    assert "no such file" in sentence_of(tmp_path / "missing.json")
    assert "is a folder, a device or a pipe" in sentence_of(tmp_path / "folder.json")
    assert "is a folder, a device or a pipe" in sentence_of(tmp_path / "pipe.json")  # and does not wait for it
    assert "cannot be read" in sentence_of("a\0b")


def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b" " * (MAX_CONFIG_BYTES + 1))

    with pytest.raises(RefusedSize):
        read_model_config(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0)

    assert "cannot be read" in sentence_of(path)


def test_an_infinite_number_where_nothing_is_read_is_harmless(tmp_path):
    path = tmp_path / "config.json"  # as published configs of Mamba models have it
    text = '{"num_hidden_layers": 2, "n_head": 4, "n_embd": 64, "time_step_limit": [0.0, Infinity]}'
    path.write_text(text, encoding="utf-8")

    assert len(read_model_config(path).layers) == 2


def test_a_byte_order_mark_is_harmless(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("\N{BYTE ORDER MARK}" + json.dumps({"num_hidden_layers": 2, "n_head": 4, "n_embd": 64}), "utf-8")

    assert len(read_model_config(path).layers) == 2


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"num_hidden_layers": "\\u001b[31m\\n", "num_key_value_heads_\\u001b": 1}', encoding="utf-8")

    with pytest.raises(InputFault) as caught:
        read_model_config(path)
    assert all(fault.isprintable() for fault in caught.value.faults)
    assert len(caught.value.faults) == 2


INDEXES = [
    ('{"metadata": {"total_size": 16060522496}, "weight_map": {}}', None),
    ('{"metadata": {}}', "got nothing"),
    ('{"metadata": {"total_size": 1.5}}', "got 1.5"),
    ('{"metadata": {"total_size": -1}}', "got -1"),
    ('{"metadata": {"total_size": true}}', "got true"),
    ('{"metadata": 7}', "got nothing"),
    ("{}", "got nothing"),
]


@pytest.mark.parametrize(("text", "why"), INDEXES)
def test_the_weights_of_an_index(tmp_path, text, why):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(text, encoding="utf-8")

    if why is None:
        assert weight_bytes_of_index(path) == 16_060_522_496
    else:
        assert why in sentence_of(path, weight_bytes_of_index)
