"""Every error that zlbench raises on purpose.

    ZlbenchError                    exit code 1
    ├── ConfigError                 a configuration value that is not allowed
    │   └── UnknownBackendError
    ├── PreflightError              exit code 3; names the failed check
    │   └── DeviceError             a device that is not there, not usable, or cannot be enumerated
    ├── DeviceBusyError             another process holds the device
    ├── FolderBusyError             another Snakemake runs a campaign in the folder
    ├── MachineError                a full disk, a folder that cannot be written: not the operator's failure
    ├── CaliberMismatch             exit code 4; the sides are not comparable
    ├── IdentityError               an identity that is missing, corrupt or of another schema
    ├── PinsError                   pins that are missing, corrupt or of another backend
    ├── ArchiveError                an IR archive that is missing, corrupt or empty
    └── ReadError                   a result file that cannot be read

Messages are one line: the value, where it stands, what is allowed.
"""


class ZlbenchError(Exception):
    exit_code = 1


class ConfigError(ZlbenchError):
    pass


class UnknownBackendError(ConfigError):
    pass


class PreflightError(ZlbenchError):
    exit_code = 3

    def __init__(self, check: str, message: str) -> None:
        super().__init__(message)
        self.check = check


class DeviceError(PreflightError):
    def __init__(self, message: str) -> None:
        super().__init__("device", message)


class DeviceBusyError(ZlbenchError):
    pass


class FolderBusyError(ZlbenchError):
    pass


class MachineError(ZlbenchError):
    pass


class CaliberMismatch(ZlbenchError):
    exit_code = 4


class IdentityError(ZlbenchError):
    pass


class PinsError(ZlbenchError):
    pass


class ArchiveError(ZlbenchError):
    pass


class ReadError(ZlbenchError):
    pass
