"""A hub for one course on one machine. Whoever has an account there logs in with its password; teachers are admins.

    sudo LMHEAD_TEACHERS=ada,alan .venv-classroom/bin/jupyterhub -f beyond/classroom/jupyterhub_config.py

It listens on this machine alone: put a web server with a certificate in front of it. LMHEAD_CLASS is where it keeps
its files.
"""

import os
from pathlib import Path
from typing import Any

c = get_config()  # type: ignore[name-defined]  # noqa: F821

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv-classroom" / "bin"
HERE = ROOT / "beyond" / "classroom"
STATE = Path(os.environ.get("LMHEAD_CLASS", "/srv/lmhead"))
TEACHERS = set(os.environ.get("LMHEAD_TEACHERS", "teacher").split(","))

ADDRESS = os.environ.get("LMHEAD_ADDRESS", "http://127.0.0.1:8000")
HOST, _, PORT = ADDRESS.rpartition(":")

c.JupyterHub.bind_url = ADDRESS
c.JupyterHub.hub_port = int(PORT) + 1  # for the servers; and for the proxy:
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{int(PORT) + 2}"
c.JupyterHub.db_url = f"sqlite:///{STATE}/hub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/hub/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/hub/proxy.pid"
c.ConfigurableHTTPProxy.command = [str(ROOT / ".venv-classroom/proxy/node_modules/.bin/configurable-http-proxy")]

# who
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.open_sessions = False
c.PAMAuthenticator.allow_all = True  # every account of this machine; or name them: allowed_users, allowed_groups
c.PAMAuthenticator.admin_users = TEACHERS

# what each gets: a server of their own, under their own account
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(HERE / "server")]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.JupyterHub.concurrent_spawn_limit = 10
c.Spawner.environment = {
    "PATH": f"{BIN}:{HERE}:/usr/local/bin:/usr/bin:/bin",  # nbgrader calls programs by name, teachers call `course`
    "LMHEAD_CACHE": f"{STATE}/cache",  # one model for all, which they can only read; its weights are mapped
    "LMHEAD_EXCHANGE": f"{STATE}/exchange",
    "OPENBLAS_NUM_THREADS": "1",  # else each kernel takes every core
}


def settings_for(spawner: Any) -> None:
    """Students have no menus for grading."""
    folders = [HERE] if spawner.user.name in TEACHERS else [HERE / "student", HERE]
    spawner.environment["JUPYTER_CONFIG_PATH"] = ":".join(map(str, folders))


c.Spawner.pre_spawn_hook = settings_for

# what nobody uses ends: a kernel after 20 minutes, a server after an hour
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1200",
    "--MappingKernelManager.cull_interval=60",
    "--KernelManager.transport_encryption=required",  # else every account can read what a kernel says on its port
    "--ServerApp.terminado_settings={'shell_command': ['bash']}",  # a login shell would forget PATH
]
c.JupyterHub.services = [
    {"name": "idle-culler", "command": [str(BIN / "python"), "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
