"""Language models: trained as KenLM does, and read from what it writes."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

from margent import storage
from margent.datasets import make_translations
from margent.errors import CorpusError, ModelFileError
from margent.models.translator.language_model import LanguageModel

TEXT = """the old man saw a house .
the man saw the old dog in the park .
a dog saw the house
the man found a letter .
who saw the letter ?
the dog of the man saw a bird ."""
SENTENCES = [line.split() for line in TEXT.splitlines()]
# What `lmplz -o 3 --discount_fallback` of KenLM 0.3.0 makes of this text.
ARPA = Path(__file__).parents[3] / "data" / "sentences.arpa"
OTHERS = ["the old dog saw who ?", "a park", "the the the", "new words saw the house .", "house the saw ."]


def test_the_trained_model_is_that_of_lmplz():
    trained, read = LanguageModel.trained(SENTENCES, order=3), LanguageModel.read_arpa(ARPA)
    assert trained.order == read.order == 3 and set(trained.words.words) == set(read.words.words)
    for sentence in (*SENTENCES, *(text.split() for text in OTHERS), []):
        assert trained.log_probability(sentence) == pytest.approx(read.log_probability(sentence), abs=1e-4)


@pytest.mark.skipif(not importlib.util.find_spec("kenlm"), reason="kenlm is not installed")
def test_an_arpa_file_scores_as_kenlm_says():
    import kenlm

    theirs, own = kenlm.Model(str(ARPA)), LanguageModel.read_arpa(ARPA)
    for text in (*TEXT.splitlines(), *OTHERS):
        wanted = theirs.score(text) * math.log(10)
        assert own.log_probability(text.split()) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_probabilities_add_up_to_one(order):
    _, targets, _ = make_translations(60, seed=3)
    model = LanguageModel.trained(targets, order)
    n = len(model.words)
    for history in ([n + 1], [n + 1, *model.numbers(targets[0][:3]).tolist()], model.numbers(["the", "x"]).tolist()):
        total = sum(math.exp(model.grams.log_probability(history[1 - order :], word)) for word in range(n + 1))
        if order > 1:
            assert total == pytest.approx(1, abs=1e-6)
        assert math.isfinite(model.log_probability(["unheard", "of"]))
    assert model.perplexity(targets) < model.perplexity([[*target, "unheard"] for target in targets])


def test_a_model_comes_back_from_a_file(tmp_path):
    model = LanguageModel.trained(SENTENCES, 4)
    storage.write(tmp_path / "model", {}, model.stored())
    again = LanguageModel.restored(storage.read(tmp_path / "model", mmap=True))
    assert again.log_probability(SENTENCES[1]) == pytest.approx(model.log_probability(SENTENCES[1]), abs=1e-4)
    arrays = model.stored()
    arrays["language.suffix"] = arrays["language.suffix"] + 1
    storage.write(tmp_path / "model", {}, arrays)
    with pytest.raises(ModelFileError, match="its language model is wrong"):
        LanguageModel.restored(storage.read(tmp_path / "model"))


def test_grams_that_pruning_left_out_are_backed_off_to():
    text = ARPA.read_text()
    one, two, three = (int(text.split(f"ngram {k}=")[1].split()[0]) for k in (1, 2, 3))
    lines = text.splitlines()
    victim = next(line for line in lines if line.split("\t")[1:2] == ["saw the"])
    pruned = text.replace(victim + "\n", "").replace(f"ngram 2={two}", f"ngram 2={two - 1}")
    model, whole = LanguageModel.read_arpa(pruned.encode()), LanguageModel.read_arpa(ARPA)
    assert model.n_grams == whole.n_grams == one + two + three
    saw, the = model.numbers(["saw", "the"]).tolist()
    read = {line.split("\t")[1]: line.split("\t") for line in lines if "\t" in line}
    wanted = (float(read["saw"][2]) + float(read["the"][0])) * math.log(10)
    assert model.grams.log_probability([saw], the) == pytest.approx(wanted, abs=1e-5)


def test_wrong_models_are_refused():
    with pytest.raises(CorpusError, match="the word '</s>' has another meaning"):
        LanguageModel.trained([["a", "</s>"]])
    with pytest.raises(ValueError, match="order should be an integer of at least 1"):
        LanguageModel.trained([["a"]], 0)
    with pytest.raises(CorpusError, match="has a probability of </s>, got none"):
        LanguageModel.read_arpa(b"\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta\n\n\\end\\\n")
    model = LanguageModel.read_arpa(b"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\ta\n-1\t</s>\n\n\\end\\\n")
    assert model.log_probability(["b"]) == pytest.approx(-101 * math.log(10))
