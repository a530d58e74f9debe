"""Exceptions of this package."""


class HabanaModuleError(RuntimeError):
    """Base class: the HPU cannot be set up in this process."""


class TensorFlowError(HabanaModuleError):
    """TensorFlow is missing, or this build does not support its version."""


class PluginNotFoundError(HabanaModuleError):
    """The plugin was not built or is not installed."""


class PluginLoadError(HabanaModuleError):
    """The plugin's file exists, but cannot be loaded or is older than the Python package."""


class AlreadyInitializedError(HabanaModuleError):
    """TensorFlow was initialised too early.

    Either it fixed its device list before the module was loaded, or its workers before HPUStrategy was created.
    """


class BackendError(HabanaModuleError):
    """HPU_BACKEND names a backend that this build lacks, or a setting of the backend is wrong."""


class SettingError(HabanaModuleError):
    """An environment variable is wrong. Raised if HPU_STRICT_FLAGS is set or no default can replace the value."""


class DeviceError(RuntimeError):
    """An operation of the plugin, the device or a device server failed. `code` is the status code (absl, gRPC)."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class JobError(RuntimeError):
    """Horovod cannot form the job that the launcher started: processes are missing, or sizes or ranks differ."""
