"""What can go wrong when the module is loaded. Each message says what was wrong and what to do."""


class HabanaModuleError(RuntimeError):
    """The HPU cannot be given to TensorFlow."""


class TensorFlowError(HabanaModuleError):
    """TensorFlow is missing, or of a version that this build is not for."""


class PluginNotFoundError(HabanaModuleError):
    """The plugin was not built or is not installed."""


class PluginLoadError(HabanaModuleError):
    """The plugin's file is there but cannot be loaded."""


class AlreadyInitializedError(HabanaModuleError):
    """TensorFlow fixed its list of devices before the module was loaded, or its workers before HPUStrategy was made."""


class BackendError(HabanaModuleError):
    """HPU_BACKEND names no backend of this build, or a setting of the backend is wrong."""


class SettingError(HabanaModuleError):
    """An environment variable is wrong, and HPU_STRICT_FLAGS asks for an error or nothing sensible can be done."""


class DeviceError(RuntimeError):
    """The device cannot be acquired, or work queued on it failed. `code` is the status code (absl, gRPC)."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class JobError(RuntimeError):
    """The processes that a launcher started do not find each other."""
