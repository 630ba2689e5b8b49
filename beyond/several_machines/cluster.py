"""The workers: some on this machine, or those of a cluster that is there."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

import dask
from distributed import Client, LocalCluster

SETTINGS = Path(__file__).parent / "dask.yaml"
HOW = """
a cluster that is there:
  on one machine         dask scheduler
  on each of several     dask worker tcp://ADDRESS:8786 --nthreads 1 --memory-limit 0 --nworkers N
  then here              python {program} ... --scheduler tcp://ADDRESS:8786

  On every machine the same environment (requirements.txt beside this file) and DASK_CONFIG=dask.yaml, the file beside
  this one: it says why. The ports are open to whoever reaches them, and run what they are sent: keep them in a network
  of your own, or see the TLS settings of dask.distributed. Clusters of Kubernetes, Slurm or SSH print such an address.
"""


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """A parser that knows where workers are to be found."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.epilog = HOW.format(program=parser.prog)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=2, metavar="N", help="start N workers on this machine (2)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="use those of this scheduler")
    return parser


@contextlib.contextmanager
def connected(given: argparse.Namespace) -> Iterator[Client]:
    """A client of the workers that the arguments name; those of this machine end with it."""
    if given.scheduler:
        with Client(given.scheduler) as client:
            client.wait_for_workers(1)
            yield client
    else:
        with local(given.workers) as client:
            yield client


@contextlib.contextmanager
def local(workers: int) -> Iterator[Client]:
    """Workers on this machine, one thread each, under nannies that start a dead one again."""
    dask.config.update(dask.config.config, dask.config.collect([str(SETTINGS)], env={}))
    settings = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0", "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, **settings) as here, Client(here) as client:
        yield client
