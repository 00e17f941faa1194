"""All machines by name."""

from tests.stateful.machine_array import ArrayMachine
from tests.stateful.machine_dataset import DatasetMachine
from tests.stateful.machine_hierarchy import HierarchyMachine
from tests.stateful.machine_references import ReferencesMachine
from tests.stateful.machine_store import StoreMachine

MACHINES = {
    "store": StoreMachine,
    "array": ArrayMachine,
    "hierarchy": HierarchyMachine,
    "dataset": DatasetMachine,
    "references": ReferencesMachine,
}
