"""Make tests/package/torch_reference.json: the model's top ten on some prompts, by torch and transformers.

Eight prompts have nothing before them; three more have each of the three starts. For all of them hooks read off the
shares of all writes in the gap between the two likeliest tokens. torch and transformers are an independent
implementation of everything but the file format; `tests/package/test_smollm.py` compares with them. They are large and
not needed otherwise, so give them an environment of their own:

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
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerBase
from transformers.models.llama.modeling_llama import LlamaRMSNorm, LlamaRotaryEmbedding

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
WITH_STARTS = ["The opposite of hot is", "She opened the door and saw a", "Der Hund lief über die"]

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


def in_float64() -> None:
    """Make transformers compute its norms and angles in float64 too, which it does in float32 in any model."""

    def norm(self: LlamaRMSNorm, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)

    def angles(self: LlamaRotaryEmbedding, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        dim = CONFIG.hidden_size // CONFIG.num_attention_heads
        speed = 100_000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angle = position_ids[..., None].double() * speed
        both = torch.cat((angle, angle), dim=-1)
        return both.cos(), both.sin()

    LlamaRMSNorm.forward, LlamaRotaryEmbedding.forward = norm, angles


def ids_with(tokenizer: PreTrainedTokenizerBase, prompt: str, start: str) -> list[int]:
    """The prompt's ids after a start, by what transformers makes of the file: its token's name, its chat template."""
    plain = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    if start == "none":
        return plain
    if start == "text":
        return [tokenizer.convert_tokens_to_ids("<|endoftext|>"), *plain]
    turn = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], tokenize=False)
    return tokenizer(turn.removesuffix("<|im_end|>\n"), add_special_tokens=False)["input_ids"]


def scores(model: LlamaForCausalLM, ids: list[int]) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """The last position's logits, what each part writes there, and the state that the final norm is given."""
    writes, last = [], []

    def keep(module: torch.nn.Module, given: tuple[torch.Tensor, ...], out: torch.Tensor) -> None:
        writes.append((out[0] if isinstance(out, tuple) else out)[0, -1])

    parts = [model.model.embed_tokens]
    for layer in model.model.layers:
        parts += [layer.self_attn, layer.mlp]
    hooks = [part.register_forward_hook(keep) for part in parts]
    hooks.append(model.model.norm.register_forward_pre_hook(lambda _, given: last.append(given[0][0, -1])))
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, -1]
    for hook in hooks:
        hook.remove()
    return logits, writes, last[0]


def entry(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, prompt: str, start: str) -> dict[str, object]:
    ids = ids_with(tokenizer, prompt, start)
    logits, writes, last = scores(model, ids)
    p = torch.softmax(logits, dim=-1)
    top = logits.topk(10).indices.tolist()
    with torch.no_grad():
        norm, head = model.model.norm, model.lm_head.weight
        one, two = (norm.weight * head[i] / torch.sqrt(last.pow(2).mean() + norm.variance_epsilon) for i in top[:2])
        shares = [float(write @ (one - two)) for write in writes]
    return {
        "prompt": prompt,
        "start": start,
        "ids": ids,
        "top": top,
        "logits": [round(float(logits[i]), 6) for i in top],
        "p": [round(float(p[i]), 6) for i in top],
        "shares": [round(share, 9) for share in shares],
    }


if __name__ == "__main__":
    path = fetch_model()
    in_float64()
    model = build(path)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    reference = {kind: entry(model, tokenizer, prompt, "none") for kind, prompt in PROMPTS.items()}
    for prompt in WITH_STARTS:
        for start in ("none", "text", "chat"):
            reference[f"{prompt} ({start})"] = entry(model, tokenizer, prompt, start)
    lines = [f"{json.dumps(kind)}: {json.dumps(entry, ensure_ascii=False)}" for kind, entry in reference.items()]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
