/**
 * The one part of the vendor's client that is used: what knows how a request is addressed and signed. A file of its
 * own, so that the build takes this and leaves the rest, three quarters of it.
 */
export { BaseAnthropic } from '@anthropic-ai/sdk';
