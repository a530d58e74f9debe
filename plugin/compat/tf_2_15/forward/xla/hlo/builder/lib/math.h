#include "xla/client/lib/math.h"
