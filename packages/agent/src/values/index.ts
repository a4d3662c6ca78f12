/**
 * Small utilities that several implementations need: delays between attempts, JSON of any value, errors of services.
 *
 * @module
 */

export { assertNever } from './assert-never.ts';
export { type BackoffPolicy, backoff } from './backoff.ts';
export { defined } from './defined.ts';
export { type CauseSummary, isErrorKind, reachedBudget, serviceCode } from './errors.ts';
export { maxResultBytes, plainJson } from './json-text.ts';
export { isoTime, timeOf } from './runtime.ts';
