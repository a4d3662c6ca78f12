/**
 * Your Own as a channel of the assistant.
 *
 * @module
 */

export { type YourOwnOptions, yourOwnChannel } from './your-own-channel.ts';
