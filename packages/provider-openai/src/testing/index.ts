/**
 * Mock wires of Responses and Chat Completions, for tests.
 *
 * @module
 */

export { chatTesting } from './chat/testing.ts';
export { responsesTesting } from './responses/testing.ts';
