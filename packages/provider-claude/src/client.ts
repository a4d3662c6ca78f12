/**
 * The only part of the vendor's client that is used: it knows the address and the authentication of requests. It is
 * in a separate file so that the build omits the rest of the client.
 */
export { BaseAnthropic } from '@anthropic-ai/sdk';
