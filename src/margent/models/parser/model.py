"""What a parser learned, as one value: its reading and writing, and the search by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.formats.columns import Columns
from margent.models.beam import Beam
from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.parser.answers import FoundArcs, found_arcs
from margent.models.parser.kinds import KINDS, weights_of_kind
from margent.models.parser.setting import EXACT_SEARCHES, SYSTEMS, ParserSetting
from margent.models.parser.tagging import OwnTags
from margent.models.parser.weights import ParserWeights, Parses
from margent.models.stored_parameters import restored_value, stored_value
from margent.storage import ModelFile


@dataclass(frozen=True, eq=False, kw_only=True)
class ParserModel(FittedModel):
    """atoms : what is seen of words
    labels : the labels of arcs; where `lifted`, some say where an arc was lifted from (pseudo-projective trees)
    setting : how it was trained to search
    own : tags and lemmas that the model finds itself; None: they are given
    """

    kind: ClassVar[str] = "parser"

    atoms: TokenAtoms
    labels: tuple[str, ...]
    weights: ParserWeights
    setting: ParserSetting
    lifted: bool = False
    own: OwnTags | None = None

    # Search

    def tagged(self, columns: Columns, threads: int) -> Columns:
        """The sentences with own tags and lemmas, if the model has any."""
        return columns if self.own is None else self.own.tagged(columns, threads)

    def encode(self, columns: Columns, threads: int) -> EncodedTokens:
        """Sentences as the weights see them."""
        return self.atoms.encode(self.tagged(columns, threads))

    def searched(self, setting: ParserSetting) -> ParserWeights:
        """The weights, ready to be searched as `setting` says."""
        if setting == self.setting:
            return self.weights
        ready: tuple[ParserSetting, ParserWeights] | None = vars(self).get("_ready")
        if ready is None or ready[0] != setting:
            ready = setting, self.weights.searched(setting)
            vars(self)["_ready"] = ready
        return ready[1]

    def found(self, parses: Parses, tokens: EncodedTokens) -> FoundArcs:
        """The arcs of the best trees, by name."""
        return found_arcs(parses.heads, parses.labels, self.labels, tokens.sequence_ptr, lifted=self.lifted)

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        atom_header, atom_arrays = self.atoms.stored()
        weight_header, weight_arrays = self.weights.stored(half=compact)
        tagger_headers, own_arrays = ({}, {}) if self.own is None else self.own.stored(compact=compact)
        header = {
            **atom_header,
            **weight_header,
            **self.stored_training(),
            "weights": self.weights.kind,
            "labels": list(self.labels),
            "lifted": self.lifted,
            "setting": stored_setting(self.setting),
            "taggers": tagger_headers,
            "half": compact,
        }
        return header, {**atom_arrays, **weight_arrays, **own_arrays}

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> ParserModel:
        if function is not None:
            raise ValueError("a parser is not trained with a function; leave out `function`")
        labels = tuple(file.texts("labels"))
        if not labels or len(set(labels)) != len(labels):
            raise file.error("its labels should be different from each other, and at least one")
        setting = restored_setting(file)
        atoms = TokenAtoms.restored(file)
        kind = weights_of_kind(file.value("weights", str, choices=KINDS))
        return cls(
            **restored_training(file),
            atoms=atoms,
            labels=labels,
            weights=kind.restored(file, setting, len(labels), atoms),
            setting=setting,
            lifted=file.value("lifted", bool),
            own=OwnTags.restored(file),
        )


def stored_setting(setting: ParserSetting) -> dict[str, Any]:
    """For JSON."""
    templates = setting.templates
    return {
        "search": stored_value(setting.search),
        "system": setting.system,
        "templates": list(templates) if isinstance(templates, tuple) else templates,
        "order": setting.order,
        "label_cost": float(setting.label_cost),
        "single_root": setting.single_root,
        "exploration": float(setting.exploration),
    }


def restored_setting(file: ModelFile) -> ParserSetting:
    part = replace(file, header=file.value("setting", dict))
    given = part.header.get("templates")
    templates = tuple(part.texts("templates")) if isinstance(given, list) else given
    if not isinstance(templates, (str, tuple, type(None))):
        raise file.error(f"its templates should be text, not {templates!r}")
    try:
        search = restored_value(part.header.get("search"))
    except (TypeError, ValueError, KeyError) as error:
        raise file.error(f"its search is wrong: {error}") from None
    if search not in EXACT_SEARCHES and not isinstance(search, Beam):
        raise file.error(f"its search should be one of {', '.join(EXACT_SEARCHES)} or a beam, not {search!r}")
    return ParserSetting(
        search,
        part.value("system", str, choices=SYSTEMS),
        templates,
        part.value("order", int, minimum=1, maximum=2),
        part.value("label_cost", float, minimum=0, maximum=1),
        part.value("single_root", bool),
        part.value("exploration", float, minimum=0, maximum=1),
    )
