/**
 * Sessions in Your Own.
 *
 * @module
 */

export { type YourOwnStoreOptions, yourOwnStore } from './your-own-store.ts';
