#include "xla/client/lib/arithmetic.h"
