#include "tsl/util/determinism.h"
