#include "tsl/util/env_var.h"
