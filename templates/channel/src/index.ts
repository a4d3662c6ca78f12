export { type YourOwnOptions, yourOwnChannel } from './your-own-channel.ts';
