"""What an agent keeps between runs: records in mem0, found again by what they mean.

`block.py` is the schema, `records.py` what a run leaves behind, `vectors.py` the embedded index,
`storage.py` the folder and who holds it, `mem0_records.py` mem0 itself, `memory.py` what agents
use, and `recall.py` the tool that models call.
"""
