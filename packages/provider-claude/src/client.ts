/** The used part of the vendor's client: address and authentication. A file of its own lets the build omit the rest. */
export { BaseAnthropic } from '@anthropic-ai/sdk';
