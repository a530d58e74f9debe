#include "xla/service/rng_expander.h"
