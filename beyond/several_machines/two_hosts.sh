#!/usr/bin/env bash
# Two hosts of our own on one Linux machine, 10.77.0.1 and 10.77.0.2, with a link of 1 Gbit/s between them:
#   bash two_hosts.sh PYTHON SCRIPT ARGUMENTS...   runs SCRIPT on the first, with --scheduler, and a worker on each.
# As root; the namespaces end with this script, and all processes in them.
set -euo pipefail
export python=$1 here
here=$(cd "$(dirname "$0")" && pwd)
exec unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private bash -euo pipefail -c '
shift
mount -t tmpfs tmpfs /run && mkdir -p /run/netns
ip netns add a && ip netns add b
ip link add va netns a type veth peer name vb netns b
for n in a b; do
  ip -n $n link set lo up && ip -n $n link set v$n up
  tc -n $n qdisc add dev v$n root tbf rate 1gbit burst 256kb latency 400ms || echo "no tc: the link is as fast as it is" >&2
done
ip -n a addr add 10.77.0.1/24 dev va && ip -n b addr add 10.77.0.2/24 dev vb
export DASK_CONFIG=$here/dask.yaml OPENBLAS_NUM_THREADS=1
address=tcp://10.77.0.1:8786
ip netns exec a "$python" -m distributed.cli.dask_scheduler --host 10.77.0.1 --port 8786 --no-dashboard 2>/run/scheduler &
ip netns exec a "$python" -m distributed.cli.dask_worker $address --host 10.77.0.1 --nthreads 1 --memory-limit 0 --no-dashboard 2>/run/a &
ip netns exec b "$python" -m distributed.cli.dask_worker $address --host 10.77.0.2 --nthreads 1 --memory-limit 0 --no-dashboard 2>/run/b &
ip netns exec a "$python" -c "import sys, distributed; distributed.Client(sys.argv[1]).wait_for_workers(2)" $address
status=0
ip netns exec a "$python" "$@" --scheduler $address || status=$?
ip -n a -s link show va | awk "/TX:/ { getline; print \"bytes that left the first host:\", \$1 }"
exit $status' two_hosts "$@"
