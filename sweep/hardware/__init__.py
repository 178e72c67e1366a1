"""The hardware room: GPUs, model configs, and the exact arithmetic of a replica's memory."""

from sweep.hardware.amounts import Amount, amount_of, exactly
from sweep.hardware.cache import Cache, StageCache
from sweep.hardware.config import ModelConfig, parse_model_config, read_model_config
from sweep.hardware.gpus import GPUS, Gpu, gpu_of
from sweep.hardware.kv import (
    MemoryBudget,
    blocks_needed,
    capacity_model,
    gpu_memory_budget,
    kv_cache_bytes_per_request,
)
from sweep.hardware.layers import CacheLayer, State, uniform_layers
from sweep.hardware.ledger import StageLedger, StageMemory
from sweep.hardware.replica import Concurrency, MemoryLedger, memory_ledger
from sweep.hardware.share import ENGINES, share_of
from sweep.hardware.stages import stage_counts, staged
from sweep.hardware.widths import Width, width_of

__all__ = [
    "ENGINES",
    "GPUS",
    "Amount",
    "Cache",
    "CacheLayer",
    "Concurrency",
    "Gpu",
    "MemoryBudget",
    "MemoryLedger",
    "ModelConfig",
    "StageCache",
    "StageLedger",
    "StageMemory",
    "State",
    "Width",
    "amount_of",
    "blocks_needed",
    "capacity_model",
    "exactly",
    "gpu_memory_budget",
    "gpu_of",
    "kv_cache_bytes_per_request",
    "memory_ledger",
    "parse_model_config",
    "read_model_config",
    "share_of",
    "stage_counts",
    "staged",
    "uniform_layers",
    "width_of",
]
