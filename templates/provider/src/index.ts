/**
 * Your Own as an agent.
 *
 * @module
 */

export { createYourOwn, type YourOwnConfig } from './create-your-own.ts';
