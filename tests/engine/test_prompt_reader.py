"""Reading prompts: rows as they always were, and wishes from whole words."""

import pytest
import torch
from tokenizers import Tokenizer

from engine.bundled import MODEL_FOLDER, TOKENIZER
from engine.models.text import PhraseHead, PromptEncoder, TextConfig, word_key
from engine.phrases import Act
from engine.prompt_reader import PromptReader

WORDS = {"snow": 0, "forest": 1, "dusk": 2, "fog": 3, "the": 4}
SIZES = (7, 4, 4)
NAMED = {"snow": (0, 3), "forest": (0, 1), "dusk": (1, 2), "fog": (2, 2)}


class OneWordHead(PhraseHead):
    """Says of the words seven (snow), eight (forest), ... what they name, without any training."""

    def forward(self, rows, mask):
        groups = []
        for group, size in enumerate(SIZES):
            logits = torch.zeros(len(rows), size + 1)
            logits[:, -1] = 4.0
            for word, (of, place) in NAMED.items():
                if of == group:
                    logits[:, place] += 9 * rows[:, :, WORDS[word]].sum(1)
            groups.append(logits)
        return groups


class ToldEncoder(OneWordHead, PromptEncoder):
    pass


@pytest.fixture(scope="module")
def reader():
    encoder = ToldEncoder(TextConfig(32000, 8, SIZES, known_words=len(WORDS), known_size=len(WORDS)))
    encoder.get_buffer("words").copy_(torch.randn(32000, 8, generator=torch.Generator().manual_seed(1)))
    keys = torch.tensor([word_key(word) for word in WORDS])
    order = keys.argsort()
    encoder.get_buffer("keys").copy_(keys[order])
    encoder.get_buffer("meanings").copy_(torch.eye(len(WORDS))[order])
    return PromptReader(Tokenizer.from_file(str(MODEL_FOLDER / TOKENIZER)), encoder)


def named(weights):
    return {i: round(w, 2) for i, w in enumerate(weights) if w > 0}


def test_the_rows_of_a_sentence_are_those_of_its_tokens(reader):
    text = "No fog over the Snowy forest, please"
    ids = reader.tokenizer.encode(text.lower(), add_special_tokens=False).ids
    rows = reader.read(text).rows
    assert rows.shape == (1, 16, 8)
    assert torch.equal(rows[0, : len(ids)], reader.encoder.get_buffer("words")[ids])
    assert not rows[0, len(ids) :].any()


def test_chinese_has_the_rows_of_its_english(reader):
    chinese, english = reader.read("去掉雾"), reader.read("remove fog")
    assert torch.equal(chinese.rows, english.rows)
    assert chinese.wish == english.wish


def test_a_phrase_that_names_two_worlds_is_a_mixture(reader):
    (clause,) = reader.read("snow forest dusk").wish
    assert named(clause.weights) == {1: 0.5, 3: 0.5, 9: 1.0}


def test_each_phrase_has_its_own_act(reader):
    first, second = reader.read("no fog, more snow").wish
    assert (first.act, named(first.weights)) == (Act.REMOVE, {13: 1.0})
    assert (second.act, named(second.weights)) == (Act.MORE, {3: 1.0})


@pytest.mark.parametrize("prompt", ["", "?!", "asdf", "the", "more", "no thanks", "你好", "一二三", "x" * 4000])
def test_words_about_nothing_are_not_understood(reader, prompt):
    assert not reader.read(prompt).understood


def test_darker_is_understood_without_any_world(reader):
    assert [clause.act for clause in reader.read("darker").wish] == [Act.DARKER]


def test_words_that_are_not_in_the_table_are_passed_over(reader):
    assert reader.encoder.known_ids(["snow", "zzz", "fog"]) == [
        reader.encoder.known_ids([word])[0] for word in ("snow", "fog")
    ]
    assert reader.encoder.known_ids([]) == []
