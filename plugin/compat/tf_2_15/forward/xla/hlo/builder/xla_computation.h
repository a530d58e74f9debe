#include "xla/client/xla_computation.h"
