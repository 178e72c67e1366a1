"""Small traces of every format, made for these tests, with what a hand finds in them."""

import json
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"

AZURE_2023 = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,400,10
2023-11-16 18:17:04.0319600,300,20
2023-11-16 18:17:04.9799599,200,30
2023-11-16 18:17:04.9799600,100,40
2023-11-16 18:17:13.9799600,50,0
2023-11-16 18:18:03.9799600,10,5
"""
"""Six rows, one of them failed. Seconds from 18:17:03.97996 on: 0, 0, 0 (1 ns·100 before the next), 1, 60."""

AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.009930+00:00,2162,5
2024-05-10 00:00:01+00:00,2399,6
2024-05-10 02:00:02.5+02:00,76,15
"""
"""Three requests over 2.49007 s: fractions come and go, and the last offset is another one."""

BURSTGPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,0,1087,Conversation log
118,GPT-4,417,276,693,API log
"""
"""Two requests 113 s apart and a failed one."""

BURSTGPT_SESSIONS = """Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
5.25,a,1.5,ChatGPT,472,18,490,"Conversation, log"
45.000,b,2,ChatGPT,1087,12,1099,"say ""log"" twice"
"""
"""The newer columns; quoted fields with commas and quotes in them."""

MOONCAKE_ROWS = [
    {"timestamp": 0, "input_length": 1000, "output_length": 5, "hash_ids": [1, 2]},  # 512 + 488: no hit
    {"timestamp": 500, "input_length": 1100, "output_length": 6, "hash_ids": [1, 3, 4]},  # 1 hit: 512 tokens
    {"timestamp": 999, "input_length": 1000, "output_length": 7, "hash_ids": [1, 2]},  # 2 hits, one partial: 1000
    {"timestamp": 1000, "input_length": 1500, "output_length": 8, "hash_ids": [9, 3, 4]},  # a miss first: none
    {"timestamp": 3000, "input_length": 700, "output_length": 0, "hash_ids": [1, 7]},  # failed: neither hit nor kept
    {"timestamp": 9000, "input_length": 513, "output_length": 9, "hash_ids": [7, 8]},  # so 7 is no hit
]
"""Five requests and a failed one: 12 blocks of the five, of which 3 are hits with 1512 tokens, in 2 requests."""

MOONCAKE = "".join(json.dumps(row) + "\n" for row in MOONCAKE_ROWS)

PLAIN = """id,sent,in,out
a,0,20,3
b,1500,5,0
c,2500.5,7,1
d,1e3,9,2
"""
"""In ms: three requests over 2.5005 s, not in order, and a failed one."""

PLAIN_OPTIONS = {"columns": {"time": "sent", "prompt": "in", "output": "out"}, "unit": "ms"}
