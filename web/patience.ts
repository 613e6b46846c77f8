/**
 * How long a browser test waits for something that must happen before it calls it missing, in milliseconds.
 * A guard against a hang, never part of what a test asserts: a busy machine is slow. The twin of `tests/patience.py`.
 */
export const PATIENCE = 300_000;
