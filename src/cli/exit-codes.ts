/** The exit codes of the command line. */
export const CONVERGED = 0;
/** An error: the integral was not computed, or its result could not be written. */
export const FAILED = 1;
/** There is an estimate, but the tolerance was not reached. */
export const NOT_CONVERGED = 2;
