"""Tiny checkpoints of each kind that `quipu model import` takes, and what llama.cpp's own converter makes of them:
tests/reference/import/KIND/ with the checkpoint's files and expected.gguf (F32).

The converter is that of the pinned llama.cpp: $LLAMA_CPP names its folder; else it is unpacked from set-up's cache.
"""
import glob
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import sentencepiece
import torch
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, BertModel, RobertaConfig,
                          RobertaForSequenceClassification, XLMRobertaConfig, XLMRobertaModel)

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "import")
SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
TEXT = ["the graph walks and the walker grasps", "retrieval of passages by graph", "naive words are walking", "a b c d e f g h i j k l",
        "m n o p q r s t u v w x y z", "graphs walk , words walk . the passages are retrieved"] * 4

# The converter knows real vocabularies by a hash; for ours it is told what kind they are.
DRIVER = """
import logging, runpy, sys
tool, pre = sys.argv[1], sys.argv[2]
sys.path[:0] = [tool, tool + "/gguf-py"]
from conversion.base import TextModel
TextModel.get_vocab_base_pre = lambda self, tokenizer: pre
sys.argv = ["convert"] + sys.argv[3:]
logging.disable(logging.WARNING)
runpy.run_path(tool + "/convert_hf_to_gguf.py", run_name="__main__")
"""


def put(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False))


def save(folder, model, dtype=torch.float32):
    torch.manual_seed(11)
    state = {}
    for name, value in model.state_dict().items():
        if not name.endswith(("position_ids", "token_type_ids")) and ".decoder." not in name:  # which is tied
            state[name] = (torch.randn(value.shape) * .3).to(dtype).contiguous()
    save_file(state, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    put(folder, "config.json", {k: v for k, v in config.items() if v is not None})


def sentence_transformer(folder, mode):
    os.makedirs(os.path.join(folder, "1_Pooling"))
    put(folder, "modules.json", [{"idx": i, "name": str(i), "path": p, "type": "sentence_transformers.models." + t}
                                 for i, (p, t) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])])
    put(os.path.join(folder, "1_Pooling"), "config.json", {"pooling_mode_cls_token": mode == "cls", "pooling_mode_mean_tokens": mode == "mean"})
    put(folder, "sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": False})


def sparse_encoder(folder):
    os.makedirs(os.path.join(folder, "1_SpladePooling"))
    put(folder, "modules.json", [{"idx": i, "name": str(i), "path": p, "type": "sentence_transformers.sparse_encoder.models." + t}
                                 for i, (p, t) in enumerate([("", "MLMTransformer"), ("1_SpladePooling", "SpladePooling")])])
    put(os.path.join(folder, "1_SpladePooling"), "config.json", {"pooling_strategy": "max", "activation_function": "relu",
                                                                 "word_embedding_dimension": 65})


def wordpiece(folder):
    vocabulary = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list("abcdefghijklmnopqrstuvwxyz.,é") + \
                 ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"] + ["the", "graph", "##ing", "walk"]
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocabulary)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                                                     [("[CLS]", 3), ("[SEP]", 4)])
    t.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    t.save(os.path.join(folder, "tokenizer.json"))
    put(folder, "vocab.txt", "\n".join(vocabulary) + "\n")
    put(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 24,
                                          "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"})
    return len(vocabulary)


def byte_pairs(folder):
    t = ByteLevelBPETokenizer()
    t.train_from_iterator(TEXT, vocab_size=275, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False)
    t._tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    t.save(os.path.join(folder, "tokenizer.json"))
    put(folder, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>",
                                          "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>", "model_max_length": 22})
    return t.get_vocab_size()


def sentence_pieces(folder, as_json):
    rules = os.path.join(tempfile.mkdtemp(), "rules.tsv")
    put(os.path.dirname(rules), "rules.tsv", "41\t61\n42\t62\nC5\tE5\n")  # A to a, B to b, Å to å: a small charsmap
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(TEXT), model_writer=out, vocab_size=44, model_type="unigram",
                                             normalization_rule_tsv=rules, minloglevel=2)
    with open(os.path.join(folder, "sentencepiece.bpe.model"), "wb") as f:
        f.write(out.getvalue())
    p = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
    put(folder, "tokenizer_config.json", dict(names, tokenizer_class="XLMRobertaTokenizer", model_max_length=22, clean_up_tokenization_spaces=True))
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + \
             [(p.id_to_piece(i), p.get_score(i)) for i in range(3, p.vocab_size())] + [("<mask>", 0.0)]
    if as_json:
        from sentencepiece import sentencepiece_model_pb2
        proto = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
        t = Tokenizer(models.Unigram(pieces, unk_id=3))
        t.normalizer = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
        t.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", 0), ("</s>", 2)])
        t.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
        t.save(os.path.join(folder, "tokenizer.json"))
        os.remove(os.path.join(folder, "sentencepiece.bpe.model"))
    return len(pieces)


def converter():
    if os.environ.get("LLAMA_CPP"):
        return os.environ["LLAMA_CPP"]
    cache = os.environ.get("QUIPU_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "quipu")
    archive = glob.glob(os.path.join(cache, "fetched", "llama_cpp_python-*.tar.gz"))[0]
    folder = tempfile.mkdtemp()
    with tarfile.open(archive) as t:
        t.extractall(folder)
    return glob.glob(os.path.join(folder, "*", "vendor", "llama.cpp"))[0]


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    tool = converter()
    for kind in ["bert", "bert-reranker", "splade", "roberta-reranker", "xlmr", "xlmr-json"]:
        folder = os.path.join(HERE, kind)
        os.makedirs(folder)
        if kind == "bert":
            save(folder, BertModel(BertConfig(vocab_size=wordpiece(folder), max_position_embeddings=24, **SIZES)), torch.float16)
            sentence_transformer(folder, "mean")
        elif kind == "bert-reranker":
            save(folder, BertForSequenceClassification(BertConfig(vocab_size=wordpiece(folder), max_position_embeddings=24, num_labels=1, **SIZES)))
        elif kind == "splade":  # the converter drops its head, so there is no file of its to compare with
            save(folder, BertForMaskedLM(BertConfig(vocab_size=wordpiece(folder), max_position_embeddings=24, **SIZES)))
            sparse_encoder(folder)
            continue
        elif kind == "roberta-reranker":
            save(folder, RobertaForSequenceClassification(RobertaConfig(vocab_size=byte_pairs(folder), max_position_embeddings=24, type_vocab_size=1,
                                                                        num_labels=1, layer_norm_eps=1e-5, **SIZES)))
        else:
            save(folder, XLMRobertaModel(XLMRobertaConfig(vocab_size=sentence_pieces(folder, kind == "xlmr-json"), max_position_embeddings=24,
                                                          type_vocab_size=1, layer_norm_eps=1e-5, **SIZES)), torch.bfloat16)
            sentence_transformer(folder, "cls")
        subprocess.run([sys.executable, "-c", DRIVER, tool, "roberta-bpe" if "roberta" in kind else "jina-v2-en", folder, "--outtype",
                        "f32", "--outfile", os.path.join(folder, "expected.gguf")], check=True)
        print(kind)


if __name__ == "__main__":
    main()
