#include "xla/service/hlo_parser.h"
