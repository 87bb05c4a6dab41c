#include "has.inc"
int check_has_in_c(void);
int check_has_in_c(void) { return check_has(); }
