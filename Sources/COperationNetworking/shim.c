#include "COperationNetworking.h"
