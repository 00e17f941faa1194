"""`python -m fuzz.guided TARGET …`: one target in Python under atheris, which is led by coverage as libFuzzer is.

What follows the target's name is for libFuzzer, such as `-max_total_time=60` and folders of inputs. Needs
`pip install atheris`, of which there are wheels for Linux.
"""

from __future__ import annotations

import random
import sys
import warnings

import atheris

from fuzz.mutating import mutated
from fuzz.target import Target

with atheris.instrument_imports(include=["omnizarr"]):
    from fuzz.targets import TARGETS


def main() -> None:
    """Run a target until something is found, or as long as libFuzzer is told."""
    target = next(target for target in TARGETS if target.name == sys.argv[1])
    warnings.simplefilter("ignore")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.run, custom_mutator=_mutator(target))
    atheris.Fuzz()


def _mutator(target: Target):  # noqa: ANN202 - of a form that atheris has no name for
    seeds = target.seeds()

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        # Half are changed by who knows the form, half by who knows what was compared with what.
        if rng.random() < 0.5:
            return mutated(rng, data if len(data) > 1 else rng.choice(seeds), rng.choice(seeds))[:most]
        return atheris.Mutate(data, most)

    return mutate


if __name__ == "__main__":
    main()
