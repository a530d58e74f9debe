#include "xla/client/lib/matrix.h"
