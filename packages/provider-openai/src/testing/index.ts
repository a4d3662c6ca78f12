export { chatTesting } from './chat/testing.ts';
export { responsesTesting } from './responses/testing.ts';
