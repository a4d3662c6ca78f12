/** A file of its own: importing it when it is needed loads the store and nothing else of `@cobbler/agent/node`. */
export { sqliteStore } from '@cobbler/agent/node';
