export { type YourOwnStoreOptions, yourOwnStore } from './your-own-store.ts';
