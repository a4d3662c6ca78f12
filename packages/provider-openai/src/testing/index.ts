/**
 * The inverses of the wires: play Responses and Chat Completions in tests.
 *
 * @module
 */

export { chatTesting } from './chat/testing.ts';
export { responsesTesting } from './responses/testing.ts';
