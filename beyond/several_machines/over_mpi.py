"""One step of a head in shards, over MPI: mpiexec -n 2 python over_mpi.py. A process that dies ends the job."""

import time
from typing import Any

import example
import numpy as np
from mpi4py import MPI

from lmhead import HeadGrads
from lmhead.sharded import Shard, backward, forward, loss, together


def step(comm: Any, h: np.ndarray, shard: Shard, targets: np.ndarray) -> tuple[Any, HeadGrads]:
    """The loss and its gradients, h's summed over all shards; every process calls it with its own shard."""
    mine = forward(h, shard, targets)
    messages = np.empty((comm.size, *mine.shape))
    comm.Allgather(mine, messages)  # three numbers for each position
    message = together(messages)
    pushed = backward(h, shard, targets, message)
    comm.Allreduce(MPI.IN_PLACE, pushed.h, op=MPI.SUM)  # d_model numbers for each position
    return loss(message, targets), pushed


if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    (h, targets), shard, seconds = example.positions(), example.shard(comm.rank, comm.size), []
    for _ in range(3):
        comm.Barrier()
        began = time.perf_counter()
        value, pushed = step(comm, h, shard, targets)
        seconds.append(time.perf_counter() - began)
    dWs = comm.gather(pushed.W_U)
    if comm.rank == 0:
        print(f"{comm.size} processes: {min(seconds):.2f} s;", example.compared(value, pushed.h, dWs))
