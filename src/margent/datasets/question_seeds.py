"""Lexicons written by hand for the public corpora of questions: what common words of English mean in their databases.

They are made of general knowledge of the language and of the names of predicates. What training questions say counts
more; a seed matters where a word is rare or was never seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from margent.meaning.built_in import built_in_name
from margent.meaning.domain import Domain, Seed
from margent.meaning.notation import parse_meaning

GEOQUERY = """
highest | tallest = (lambda $0 e (argmax $0 elevation:i))
lowest = (lambda $0 e (argmin $0 elevation:i))
longest = (lambda $0 e (argmax $0 len:i))
shortest = (lambda $0 e (argmin $0 len:i))
largest | biggest | greatest = (lambda $0 e (argmax $0 size:i))
smallest | littlest = (lambda $0 e (argmin $0 size:i))
most | greatest | highest | largest | maximum = (lambda $0 e (lambda $1 e (argmax $1 $0)))
least | fewest | lowest | smallest | minimum = (lambda $0 e (lambda $1 e (argmin $1 $0)))
most populous | most populated = (lambda $0 e (argmax $0 population:i))
least populous | least populated = (lambda $0 e (argmin $0 population:i))
how many | number | count = count
total | combined | sum | altogether = (lambda $0 e (lambda $1 e (sum $1 $0)))
no | not | without | excluding | except | exclude = (lambda $0 e (lambda $1 e (not ($0 $1))))
border | borders | bordering | bordered = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
neighbor | neighbors | neighboring = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
neighbour | neighbours | neighbouring = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
surround | surrounds | surrounding | surrounded = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
adjacent | adjoin | adjoins | adjoining | touch | touches | touching = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
next | beside | near = (lambda $0 e (lambda $1 e (next_to:t $1 $0)))
in | within | inside | through | of | traverse | traverses | located = (lambda $0 e (lambda $1 e (loc:t $1 $0)))
cross | crosses | pass | passes | flow | flows | run | runs = (lambda $0 e (lambda $1 e (loc:t $1 $0)))
has | have | having | contain | contains | containing | where | with = loc:t
washed | watered | traversed | crossed = loc:t
named | called = (lambda $0 e (lambda $1 e (named:t $1 $0)))
people | inhabitants | residents | citizens | persons | habitants | populated = population:i
high | tall | height | altitude | elevated = elevation:i
long | length = len:i
big | large | size = size:i
square | surface = area:i
dense | density = density:i
major | main | big | important | large = major:t
capital | capitals = capital:c
capital | capitals = capital:t
capital = (lambda $0 e (lambda $1 e (capital:t $1 $0)))
peak | peaks | mountain | mountains | mount | mounts = mountain:t
point | points | spot | spots | place | places | elevation | elevations = place:t
city | cities = city:t
town | towns = town:t
state | states = state:t
river | rivers = river:t
lake | lakes = lake:t
"""

JOBS = """
job | jobs | position | positions | opening | openings | work = job
not | dont | don't | doesnt | doesn't | no | without | isnt | isn't = (lambda $0 e (lambda $1 e (not ($0 $1))))
degree | degrees = req_deg
experience | experienced = req_exp
"""

_WORDS = {"geoquery": GEOQUERY, "jobs": JOBS}


def seeds_of(corpus: str, domain: Domain) -> tuple[Seed, ...]:
    """The seeds of a corpus whose names a domain has types for."""
    return tuple(seed for seed in _seeds(_WORDS[corpus]) if _is_known(seed, domain))


def _seeds(text: str) -> Iterable[Seed]:
    for line in text.strip().split("\n"):
        phrases, _, meaning = line.partition(" = ")
        for words in phrases.split(" | "):
            yield Seed(tuple(words.split()), parse_meaning(meaning))


def _is_known(seed: Seed, domain: Domain) -> bool:
    return all(built_in_name(name) is not None or name in domain.types for name in seed.meaning.constants())
