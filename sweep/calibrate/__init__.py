"""The calibrate room: measured files -> step time, token capacity, KV pool, classes; scores -> quantization."""
