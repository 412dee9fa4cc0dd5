"""Who may import whom (docs/design.md), read from the source."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import margent

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "margent"

# Package or module to those it may import besides itself. The feature maps know the model file, so that each can put
# itself into one and come back; the model file knows nothing of them. What is not named here stands above the models:
# it may import everything, and nothing below may import it.
GROUND = {
    "_core",
    "answer",
    "atomic_file",
    "capability",
    "errors",
    "extras",
    "held_signals",
    "lazy_names",
    "parameters",
    "printable",
}
MAY_IMPORT = {
    "answer": set(),
    "atomic_file": set(),
    "capability": set(),
    "errors": {"printable"},
    "extras": {"errors"},
    "held_signals": set(),
    "lazy_names": set(),
    "strict_json": set(),
    "line_file": {"strict_json"},
    "processes": {"errors"},
    "processors": {"_core"},
    "parameters": set(),
    "printable": set(),
    "terminal_bar": {"printable"},
    "audio": {"errors", "extras", "lazy_names"},
    "annotation": {"errors", "lazy_names", "parameters"},
    "meaning": {"errors", "lazy_names"},
    "formats": GROUND | {"annotation", "audio", "meaning"},
    "datasets": GROUND | {"annotation", "audio", "formats", "meaning"},
    "metrics": {"errors", "extras", "lazy_names", "annotation", "printable", "meaning"},
    "storage": {"atomic_file", "errors", "strict_json"},
    "features": GROUND | {"annotation", "formats", "storage"},
    "structures": GROUND | {"annotation", "formats"},
    "learners": GROUND | {"terminal_bar"},
    "models": GROUND
    | {"annotation", "formats", "meaning", "metrics", "storage", "features", "structures", "learners", "processors"},
    # A vertical package: the learner of k-grams with its structure, features and weights of a tagger.
    "spectral": GROUND
    | {"annotation", "formats", "metrics", "storage", "features", "structures", "learners", "models", "processors"},
    "tuning": {
        *("errors", "extras", "processes", "processors", "parameters", "printable", "terminal_bar"),
        *("annotation", "formats", "metrics", "learners", "models"),
    },
}
# Where a name, a parameter or a model file chooses what `spectral` has, besides its own modules.
CHOOSES_SPECTRAL = {
    "features/choice.py",
    "features/kernel_map.py",
    "learners/registry.py",
    "models/tagger/model.py",
    "models/tagger/tagger.py",
}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def modules(tree: ast.AST, path: Path) -> Iterator[str]:
    """The full names of all modules that a file imports anywhere, also inside functions and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            if node.module != "margent":
                yield node.module or ""
                continue
            for alias in node.names:  # from margent import storage; from margent import Tagger; __version__
                value = getattr(margent, alias.name, None)
                home = getattr(value, "__module__", None)  # a module has none
                yield home or ("margent" if alias.name == "__version__" else f"margent.{alias.name}")


def imported_packages(path: Path) -> set[str]:
    names = modules(ast.parse(path.read_text(encoding="utf-8")), path)
    return {name.split(".")[1] for name in names if name.startswith("margent.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_lies_below_it(path: Path) -> None:
    package = package_of(path)
    if package in MAY_IMPORT:
        chooses = {"spectral"} if path.relative_to(SOURCE).as_posix() in CHOOSES_SPECTRAL else set()
        assert imported_packages(path) <= MAY_IMPORT[package] | {package} | chooses


def test_spectral_sees_of_the_models_only_what_a_kind_of_weights_needs() -> None:
    """Not the estimators: those choose it, and it is chosen by nobody else."""
    shared = {f"margent.models.{name}" for name in ("beam", "contribution", "inputs", "labels", "stored_numbers")}
    own = {"constraints", "search", "tagged_data", "weights"}
    for path in (SOURCE / "spectral").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = [
            node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        tree.body = [node for node in tree.body if node not in for_types]
        seen = {name for name in modules(tree, path) if name.startswith("margent.models")}
        assert seen <= shared | {f"margent.models.tagger.{name}" for name in own}, path
    for name in CHOOSES_SPECTRAL:
        assert "spectral" in imported_packages(SOURCE / name), name


def test_learners_see_one_another_only_through_the_protocol() -> None:
    """A learner is one file: it may import the protocol and what all learners share, not another learner."""
    shared = {"base", "capabilities", "protocol", "max_margin", "duality", "training", "progress"}
    shared |= {"slices", "likelihood", "gaussians", "quasi_newton", "stochastic_descent"}
    for path in (SOURCE / "learners").glob("*.py"):
        if path.stem in shared | {"__init__", "registry"}:
            continue
        names = modules(ast.parse(path.read_text(encoding="utf-8")), path)
        siblings = {name.split(".")[2] for name in names if name.startswith("margent.learners.")}
        assert siblings <= shared, path


def test_learners_and_structures_are_matched_by_what_they_declare() -> None:
    """No guess by type or by name: what an oracle can do and a learner needs is declared (`margent.capability`)."""
    by_type = re.compile(r"isinstance\([^)]*\b_core\.\w*Oracle\b")
    by_name = re.compile(r"\b(getattr|hasattr)\((\w+\.)*_?learner(\(\))?, *[\"']")
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert not by_name.search(text), path
        assert package_of(path) != "learners" or not by_type.search(text), path
    assert by_type.search("isinstance(oracle, (_core.SegmentOracle, X))") and by_name.search(
        "hasattr(self.learner, 'rule')"
    )


def test_kinds_of_models_do_not_know_one_another() -> None:
    kinds = {path.name for path in (SOURCE / "models").iterdir() if (path / "__init__.py").exists()}
    assert len(kinds) == 8
    for kind in kinds:
        for path in (SOURCE / "models" / kind).rglob("*.py"):
            names = modules(ast.parse(path.read_text(encoding="utf-8")), path)
            others = {name.split(".")[2] for name in names if name.startswith("margent.models.")}
            # A parser may have taggers of its own.
            allowed = {"tagger"} if kind == "parser" else set()
            assert not others & kinds - {kind} - allowed, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_slow_packages_are_imported_where_they_are_used(path: Path) -> None:
    """`import margent` stays light: scikit-learn, scipy, matplotlib and the like come in when a function needs them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = ast.Module([node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], [])
    assert not {name.split(".")[0] for name in modules(top, path)} & {
        "sklearn",
        "scipy",
        "matplotlib",
        "optuna",
        "rich",
        "soundfile",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_library_neither_prints_nor_pickles(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not {"pickle", "marshal", "shelve"} & set(modules(tree, path))
    if package_of(path) != "cli":
        calls = [
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert not {"print", "eval", "exec"} & set(calls)


def test_the_native_core_knows_nothing_of_python() -> None:
    for path in (ROOT / "core").rglob("*.?pp"):
        text = path.read_text(encoding="utf-8")
        assert "Python.h" not in text and "nanobind" not in text, path


# For programs that run for hours: processes, files of results that outlive them, and what their pictures share.
FOR_EXPERIMENTS = {"line_file", "metrics.drawing", "processes", "strict_json", "tuning.fingerprint"}


def private_names(path: Path) -> list[str]:
    """What a file uses of Margent that is neither in the public face of the library nor in that of a subpackage."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            used = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            used = [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            found += [] if own or node.attr in ("_asdict", "_replace", "_fields") else [ast.unparse(node)]
            continue
        else:
            continue
        found += [f"{module}: {name}" for module, name in used if not is_public(module, name)]
    return found


def is_public(module: str, name: str | None) -> bool:
    package, _, inner = module.partition(".")
    if package != "margent" or inner in FOR_EXPERIMENTS:
        return True
    if not inner:
        return name is None or name in dir(margent) or name in FOR_EXPERIMENTS
    if inner not in dir(margent):
        return False
    home = importlib.import_module(module)
    public = getattr(home, "__all__", [each for each in vars(home) if not each.startswith("_")])
    return name is None or name in public or f"{inner}.{name}" in FOR_EXPERIMENTS


def test_papers_and_rivals_use_the_public_face_alone() -> None:
    files = [path for folder in ("papers", "benchmarks/versus") for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 20
    assert not {str(path.relative_to(ROOT)): names for path in files if (names := private_names(path))}


@pytest.mark.parametrize(
    "line",
    [
        "from margent._core import ChainModel",
        "from margent.models.tagger.training import learn",
        "from margent.models import check_parameters",
        "from margent import _core",
        "import margent.features.kernel_map",
        "tagger._labels",
    ],
)
def test_what_is_not_public_is_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "paper.py").write_text(f"import margent\nfrom margent import Tagger\n{line}\n")
    assert len(private_names(tmp_path / "paper.py")) == 1


def test_slow_twins_import_nothing_of_ours() -> None:
    for path in (ROOT / "tests" / "oracle").glob("*.py"):
        names = modules(ast.parse(path.read_text(encoding="utf-8")), path)
        assert not [name for name in names if name.split(".")[0] == "margent"], path
