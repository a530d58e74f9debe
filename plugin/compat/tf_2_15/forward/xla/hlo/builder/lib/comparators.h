#include "xla/client/lib/comparators.h"
